// SPDX-License-Identifier: Apache-2.0
// `drawbridge check`: judges manifests without a cluster, by the schema of the chosen Kubernetes version and
// by the rules that need nothing but the object.
#include <stdlib.h>
#include <unistd.h>

#include "server/cli/check_result.h"
#include "server/cli/command.h"
#include "server/cli/options.h"
#include "server/cli/print_json.h"
#include "server/cli/print_junit.h"
#include "server/cli/print_sarif.h"
#include "server/cli/print_text.h"
#include "server/codec/decode.h"
#include "server/codec/documents.h"
#include "server/kube_version.h"
#include "validators/registry/registry.h"

#define OBJECT_MEMORY_BYTES ((size_t)256 * 1024 * 1024) // judging one object may take so much
#define OUTPUT_BUFFER_BYTES ((size_t)64 * 1024)
#define GROUP               "resource.k8s.io"
#define RIGHTS_GROUP        "rbac.authorization.k8s.io"
#define NEAR_KIND_EDITS     4u // a kind that is so close to one of ours is a slip

struct check {
    struct check_run run;
    const struct print_form *form;
    struct arena arena; // one object at a time
    struct arena lines; // of the printer, beside it
};

// The kinds that are judged, and those of the same group that are not.
static const struct text judged_kinds[] = {TEXT_INIT("ResourceSlice"), TEXT_INIT("ResourceClaim"),
                                           TEXT_INIT("ResourceClaimTemplate"), TEXT_INIT("DeviceClass")};
static const struct text other_kinds[] = {TEXT_INIT("DeviceTaintRule"),
                                          TEXT_INIT("ResourcePoolStatusRequest")};

static bool is_among(struct text kind, const struct text *kinds, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (text_equal(kinds[i], kind)) return true;
    return false;
}
#define IS_AMONG(kind, kinds) is_among((kind), (kinds), sizeof(kinds) / sizeof((kinds)[0]))

static const struct text *near_kind(struct text kind) {
    const struct text *best = NULL;
    size_t best_edits = NEAR_KIND_EDITS + 1;
    for (size_t i = 0; i < sizeof judged_kinds / sizeof judged_kinds[0]; i++) {
        size_t edits = text_distance(kind, judged_kinds[i], NEAR_KIND_EDITS);
        if (edits < best_edits) {
            best_edits = edits;
            best = &judged_kinds[i];
        }
    }
    return best;
}

static const char *format(struct arena *arena, const char *before, struct text text, const char *behind) {
    struct text formatted = text_format(arena, "%s%.*s%s", before, TEXT_ARG(text), behind);
    return formatted.ptr == NULL ? "not judged" : formatted.ptr;
}

// --- What the object is ---

// An object of the group whose version or kind no server serves.
static void find_unserved(struct arena *arena, const struct document *document,
                          struct finding_list *findings) {
    struct path version_path = path_field(NULL, TEXT("apiVersion"));
    struct path kind_path = path_field(NULL, TEXT("kind"));
    struct text version = document->api_version;
    bool known_version = text_equal(version, TEXT(GROUP "/v1")) ||
                         text_equal(version, TEXT(GROUP "/v1beta1")) ||
                         text_equal(version, TEXT(GROUP "/v1beta2"));
    if (version.len == 0) {
        finding_hint(finding_add(findings, FINDING_REQUIRED, &version_path, version,
                                 TEXT("must say what the object is")),
                     TEXT("write apiVersion: " GROUP "/v1"));
        return;
    }
    if (!known_version) {
        finding_hint(finding_add(findings, FINDING_NOT_SUPPORTED, &version_path, version,
                                 TEXT("no Kubernetes since 1.36 serves this version")),
                     TEXT("move the object to " GROUP "/v1, whose fields differ"));
        return;
    }
    const struct text *near = near_kind(document->kind);
    struct finding *finding = document->kind.len == 0
                                  ? finding_add(findings, FINDING_REQUIRED, &kind_path, document->kind,
                                                TEXT("must say what the object is"))
                                  : finding_add(findings, FINDING_NOT_SUPPORTED, &kind_path, document->kind,
                                                TEXT("no such kind in " GROUP));
    if (near != NULL) finding_hint(finding, text_format(arena, "did you mean %.*s?", TEXT_ARG(*near)));
}

// Tells why an object is none of ours; NULL when it is to be judged, or to be refused by find_unserved.
static const char *why_skipped(struct arena *arena, const struct document *document) {
    struct text version = document->api_version;
    struct text kind = document->kind;
    if (version.len == 0 && kind.len == 0) return "no apiVersion and kind: not a Kubernetes object";
    if (version.len == 0)
        return IS_AMONG(kind, judged_kinds) ? NULL : "no apiVersion: not a Kubernetes object";
    if (!text_starts_with(version, TEXT(GROUP "/"))) {
        if (kind.len == 0) return "no kind: not a Kubernetes object";
        enum resource_version ignored;
        bool rights = text_starts_with(version, TEXT(RIGHTS_GROUP "/"));
        if (rights && decode_kind(version, kind, &ignored) != KIND_OTHER) return NULL;
        return format(arena, "", kind, " is not judged");
    }
    if (IS_AMONG(kind, other_kinds)) return format(arena, "", kind, " is not judged");
    if (text_ends_with(kind, TEXT("List"))) return "a list without items";
    return NULL;
}

// --- Judging ---

static bool decoding_failed(const struct finding_list *findings) {
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].type == FINDING_DECODING) return true;
    return false;
}

static void drop_silent(struct finding_list *findings) {
    size_t kept = 0;
    for (size_t i = 0; i < findings->count; i++)
        if (findings->items[i].severity != SEVERITY_OFF) findings->items[kept++] = findings->items[i];
    findings->count = kept;
}

static bool judge_object(struct check *check, const struct document *document, struct check_result *result,
                         struct finding_list *findings, struct fault *fault) {
    struct arena *arena = &check->arena;
    struct decode_options options = {JSON_STRICT, check->run.minor_known};
    struct object *object = arena_zalloc(arena, 1, sizeof *object);
    if (object == NULL) return fault_set(fault, FAULT_MEMORY, "out of memory");
    if (!decode_object(arena, document->json, &options, object, findings, fault)) return false;
    const struct object_meta *metadata = object_metadata(object);
    if (metadata != NULL) result->name = metadata->name;
    // A value of a wrong type was left out, so the checks would only complain that it is missing.
    if (decoding_failed(findings)) return true;
    struct rule_settings settings = {0};
    struct rule_input input = {.object = object,
                               .operation = OPERATION_CREATE,
                               .minor = check->run.minor_known,
                               .settings = &settings,
                               .arena = arena};
    registry_check_schema(&input, findings);
    registry_run_rules(&input, RULES_OFFLINE, NULL, findings);
    return true;
}

static void note_cel(struct check *check, const struct document *document) {
    static const char member[] = "\"cel\"";
    if (check->run.cel_seen || text_equal(document->kind, TEXT("ResourceSlice"))) return;
    check->run.cel_seen = memmem(document->json.ptr, document->json.len, member, sizeof member - 1) != NULL;
}

static bool has_warning(const struct finding_list *findings) {
    for (size_t i = 0; findings != NULL && i < findings->count; i++)
        if (findings->items[i].severity == SEVERITY_WARN) return true;
    return false;
}

static void count_result(struct check_totals *totals, const struct check_result *result) {
    if (result->error != NULL)
        totals->error_count++;
    else if (result->skipped != NULL)
        totals->skipped_count++;
    else if (!result->allowed)
        totals->denied_count++;
    else if (has_warning(result->findings))
        totals->warned_count++;
    else
        totals->clean_count++;
}

static void print_result(struct check *check, struct check_result *result) {
    arena_clear(&check->lines);
    result->arena = &check->lines;
    count_result(&check->run.totals, result);
    check->form->result(&check->run, result);
}

static bool place_findings(struct check *check, const struct document *document, struct check_result *result,
                           struct finding_list *findings) {
    struct locator locator;
    locator_init(&locator, document->json, &check->arena);
    struct source_place place = document_place(document, &locator, (struct text){0}, false);
    result->line = place.line;
    result->column = place.column;
    if (findings->count == 0) return true;
    struct source_place *places = arena_alloc(&check->arena, findings->count * sizeof *places);
    if (places == NULL) return false;
    for (size_t i = 0; i < findings->count; i++)
        places[i] = document_place(document, &locator, findings->items[i].path,
                                   findings->items[i].type == FINDING_STRICT_DECODING);
    result->places = places;
    return true;
}

static void on_document(void *state, const struct document *document) {
    struct check *check = state;
    struct finding_list findings;
    struct fault fault = {0};
    arena_clear(&check->arena);
    finding_list_init(&findings, &check->arena);
    struct check_result result = {.file = document->file,
                                  .document = document->number,
                                  .in_list = document->in_list,
                                  .item = document->item,
                                  .api_version = document->api_version,
                                  .kind = document->kind,
                                  .lines = document->lines};
    enum resource_version version;
    result.skipped = why_skipped(&check->arena, document);
    if (result.skipped != NULL && document->doubled != NULL) {
        // Readers differ in which of the two counts, so it cannot be said that the object is none of ours.
        struct path path = path_field(NULL, text_of(document->doubled));
        finding_add(&findings, FINDING_STRICT_DECODING, &path, (struct text){0}, TEXT("duplicate field"));
        result.skipped = NULL;
    } else if (result.skipped == NULL) {
        if (decode_kind(document->api_version, document->kind, &version) == KIND_OTHER)
            find_unserved(&check->arena, document, &findings);
        else if (!judge_object(check, document, &result, &findings, &fault))
            result.error = fault.text;
        note_cel(check, document);
    }
    if (result.skipped != NULL || result.name.len == 0) {
        struct locator locator;
        locator_init(&locator, document->json, &check->arena);
        struct json_spot spot = locator_find(&locator, TEXT("metadata.name"));
        struct text name = text_slice(document->json, spot.value, spot.value_end);
        if (spot.exact && name.len > 1 && name.ptr[0] == '"') result.name = text_slice(name, 1, name.len - 1);
    }
    drop_silent(&findings);
    finding_list_sort(&findings);
    bool fine = place_findings(check, document, &result, &findings) && finding_list_is_sound(&findings);
    if (!fine && result.error == NULL)
        result.error = "judging the object needs more memory than one object may take";
    result.findings = result.error == NULL ? &findings : NULL;
    result.allowed = result.error == NULL && !finding_list_denies(&findings);
    print_result(check, &result);
}

static void on_error(void *state, const struct document_error *error) {
    struct check *check = state;
    struct check_result result = {.file = error->file,
                                  .document = error->document,
                                  .line = error->line,
                                  .column = error->column,
                                  .lines = error->lines,
                                  .error = error->text};
    print_result(check, &result);
}

// --- The command ---

const char *check_note(const struct check_run *run, unsigned index, char buffer[CHECK_NOTE_BYTES]) {
    if (run->minor > run->minor_known && index-- == 0) {
        snprintf(buffer, CHECK_NOTE_BYTES,
                 "Kubernetes 1.%d is newer than any that is known; the rules of 1.%d were used", run->minor,
                 run->minor_known);
        return buffer;
    }
    if (run->cel_seen && index == 0) return "CEL expressions were checked for their length only";
    return NULL;
}

struct text check_cut_value(struct text value) {
    if (value.len <= CHECK_VALUE_BYTES) return value;
    size_t end = CHECK_VALUE_BYTES;
    while (end > 0 && ((unsigned char)value.ptr[end] & 0xc0) == 0x80) end--;
    // Bytes that are no UTF-8 at all need no such care.
    return text_slice(value, 0, end == 0 ? CHECK_VALUE_BYTES : end);
}

static bool wants_colour(void) {
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    if (no_colour != NULL && no_colour[0] != '\0') return false;
    return isatty(STDOUT_FILENO) && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

static bool set_up(struct check *check, const struct options *options, struct fault *fault) {
    static const struct print_form *const forms[] = {&print_form_text, &print_form_json, &print_form_junit,
                                                     &print_form_sarif};
    struct text version = text_of(options_text(options, OPTION_KUBERNETES_VERSION));
    check->run.minor = KUBE_MINOR_DEFAULT;
    if (version.len > 0 && !kube_version_parse(version, &check->run.minor, fault)) return false;
    check->run.minor_known = check->run.minor > MINOR_NEWEST ? MINOR_NEWEST : check->run.minor;
    check->run.out = stdout;
    check->run.colour = wants_colour();
    check->form = forms[options_choice(options, OPTION_CHECK_OUTPUT)];
    size_t count;
    options_list(options, OPTION_FILENAME, &count);
    if (count + options->word_count == 0)
        return fault_set(fault, FAULT_USAGE, "no file to check; name one with -f FILE, -f FOLDER or -f -");
    arena_init(&check->arena, OBJECT_MEMORY_BYTES);
    arena_init(&check->lines, OBJECT_MEMORY_BYTES);
    return true;
}

static void visit_all(struct check *check, const struct options *options) {
    struct document_visitor visitor = {on_document, on_error, check};
    struct document_options how = {options_switch(options, OPTION_RECURSIVE),
                                   (size_t)options_int(options, OPTION_MAX_FILE_BYTES)};
    size_t count;
    const char *const *names = options_list(options, OPTION_FILENAME, &count);
    if (check->form->begin != NULL) check->form->begin(&check->run);
    for (size_t i = 0; i < count; i++) documents_visit(names[i], &how, &visitor);
    for (size_t i = 0; i < options->word_count; i++) documents_visit(options->words[i], &how, &visitor);
    check->form->end(&check->run);
}

static int exit_code_of(const struct check_totals *totals, const struct options *options) {
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "drawbridge check: the result cannot be written\n");
        return EXIT_UNREADABLE;
    }
    if (totals->error_count > 0) return EXIT_UNREADABLE;
    if (totals->denied_count > 0) return EXIT_FINDINGS;
    return totals->warned_count > 0 ? (int)options_int(options, OPTION_WARN_EXIT_CODE) : EXIT_CLEAN;
}

int cmd_check(int argc, char **argv) {
    struct options options;
    int code;
    if (!options_start(&options, "check", argc, argv, &code)) return code;
    struct check *check = calloc(1, sizeof *check);
    struct fault fault = {0};
    if (check == NULL) {
        fprintf(stderr, "drawbridge check: out of memory\n");
        code = EXIT_UNREADABLE;
    } else if (!set_up(check, &options, &fault)) {
        fprintf(stderr, "drawbridge check: %s\n", fault.text);
        code = EXIT_USAGE;
    } else {
        static char buffer[OUTPUT_BUFFER_BYTES];
        setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
        visit_all(check, &options);
        code = exit_code_of(&check->run.totals, &options);
        arena_release(&check->arena);
        arena_release(&check->lines);
    }
    free(check);
    options_release(&options);
    return code;
}
