// SPDX-License-Identifier: Apache-2.0
// Lines are cut and put; the reader behind says where they are.
#include "server/operate/policy_text.h"

#include "server/codec/documents.h"

#define READING_BYTES ((size_t)64 * 1024 * 1024)
#define NEW_FILE_HEAD                                                                                        \
    "# The policy of drawbridge for this folder. Written by drawbridge freeze and drawbridge resume,\n"      \
    "# which change freezes and resumes alone; the rest is yours.\n"

// ---- finding

struct found_policy {
    json_t *policy;        // NULL: there is none
    size_t document_count; // of the file
    bool is_json;
    bool in_list;
    struct source_place spec, member, metadata; // of their keys; not exact: not there
};

struct search {
    const char *file;
    const char *member; // "spec.freezes"
    struct found_policy found;
    struct fault *fault;
    bool failed;
};

static bool give_up(struct search *search, enum fault_code code, uint32_t line, const char *what) {
    if (search->failed) return false;
    search->failed = true;
    if (line > 0) return fault_set(search->fault, code, "%.100s:%u: %s", search->file, line, what);
    return fault_set(search->fault, code, "%.100s: %s", search->file, what);
}

static bool is_policy(const struct document *document, const json_t *object) {
    const char *name = json_string_value(json_object_get(json_object_get(object, "metadata"), "name"));
    return text_starts_with(document->api_version, TEXT("drawbridge.dev/")) && name != NULL &&
           strcmp(name, "default") == 0;
}

static void note_places(struct search *search, const struct document *document) {
    struct arena arena;
    struct locator locator;
    struct found_policy *found = &search->found;
    arena_init(&arena, READING_BYTES);
    locator_init(&locator, document->json, &arena);
    found->spec = document_place(document, &locator, TEXT("spec"), true);
    found->metadata = document_place(document, &locator, TEXT("metadata"), true);
    found->member = document_place(document, &locator, text_of(search->member), true);
    arena_release(&arena);
}

static void on_document(void *state, const struct document *document) {
    struct search *search = state;
    search->found.document_count++;
    if (search->failed || !text_equal(document->kind, TEXT("LedgerPolicy"))) return;
    json_error_t error;
    json_t *object = json_loadb(document->json.ptr, document->json.len, JSON_REJECT_DUPLICATES, &error);
    if (object == NULL) {
        (void)give_up(search, FAULT_INPUT, 0, error.text);
    } else if (!is_policy(document, object)) {
        json_decref(object);
    } else if (search->found.policy != NULL) {
        json_decref(object);
        (void)give_up(search, FAULT_INPUT, 0, "the LedgerPolicy default is there twice");
    } else {
        search->found.policy = object;
        search->found.is_json = document->yaml == NULL;
        search->found.in_list = document->in_list;
        note_places(search, document);
    }
}

static void on_error(void *state, const struct document_error *error) {
    (void)give_up(state, FAULT_INPUT, error->line, error->text);
}

static bool find(const char *file, struct text bytes, const char *member, struct found_policy *ret_found,
                 struct fault *fault) {
    struct search search = {.file = file, .member = member, .fault = fault};
    const struct document_visitor visitor = {on_document, on_error, &search};
    const struct document_options options = {.file_bytes = bytes.len + 1};
    documents_visit_text(file, bytes, &options, &visitor);
    if (search.failed) {
        json_decref(search.found.policy);
        return false;
    }
    *ret_found = search.found;
    return true;
}

bool policy_text_find(const char *file, struct text bytes, json_t **ret_policy, struct fault *fault) {
    struct found_policy found;
    if (!find(file, bytes, "spec.freezes", &found, fault)) return false;
    *ret_policy = found.policy;
    return true;
}

// ---- lines

static size_t line_start(struct text text, uint32_t line) {
    size_t at = 0;
    for (uint32_t number = 1; number < line && at < text.len; number++) at = text_find(text, '\n', at) + 1;
    return at < text.len ? at : text.len;
}

static size_t next_line(struct text text, size_t at) {
    size_t end = text_find(text, '\n', at);
    return end < text.len ? end + 1 : text.len;
}

static size_t indent_of(struct text text, size_t line) {
    size_t count = 0;
    while (line + count < text.len && text.ptr[line + count] == ' ') count++;
    return count;
}

static bool is_blank(struct text text, size_t at) {
    while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '\t' || text.ptr[at] == '\r')) at++;
    return at >= text.len || text.ptr[at] == '\n' || text.ptr[at] == '#';
}

static bool is_item(struct text text, size_t at) {
    return at < text.len && text.ptr[at] == '-' &&
           (at + 1 >= text.len || text.ptr[at + 1] == ' ' || text.ptr[at + 1] == '\n' ||
            text.ptr[at + 1] == '\r');
}

// The end of a key's block: what is indented deeper belongs to it, and items of a list at its own depth.
// Blank lines and comments behind the last of it do not.
static size_t block_end(struct text text, size_t line, size_t indent) {
    size_t end = next_line(text, line);
    for (size_t at = end; at < text.len; at = next_line(text, at)) {
        if (is_blank(text, at)) continue;
        size_t depth = indent_of(text, at);
        if (depth < indent || (depth == indent && !is_item(text, at + depth))) break;
        end = next_line(text, at);
    }
    return end;
}

// ---- writing

static void write_value(FILE *out, const json_t *value) {
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    fputs(text == NULL ? "null" : text, out);
    free(text);
}

static void write_entry(FILE *out, size_t indent, json_t *entry) {
    const char *name;
    json_t *value;
    bool first = true;
    json_object_foreach(entry, name, value) {
        fprintf(out, "%*s%s%s: ", (int)indent, "", first ? "- " : "  ", name);
        write_value(out, value);
        fputc('\n', out);
        first = false;
    }
}

static void write_list(FILE *out, size_t indent, const char *name, const json_t *list) {
    size_t index;
    json_t *entry;
    if (json_array_size(list) == 0) {
        fprintf(out, "%*s%s: []\n", (int)indent, "", name);
        return;
    }
    fprintf(out, "%*s%s:\n", (int)indent, "", name);
    json_array_foreach((json_t *)list, index, entry) write_entry(out, indent + 2, entry);
}

// The lines from `from` to `to` are replaced by the list, below a new `spec:` when head is set.
struct splice {
    size_t from, to;
    size_t indent;
    bool head;
};

static bool refuse_form(const char *file, uint32_t line, struct fault *fault) {
    return fault_set(
        fault, FAULT_STATE,
        "%.100s:%u: this form of YAML is not edited in place; write spec of the LedgerPolicy with "
        "each member on a line of its own",
        file, line);
}

static bool starts_line(struct text text, const struct source_place *place) {
    size_t line = line_start(text, place->line);
    return place->column > 0 && indent_of(text, line) == place->column - 1;
}

static bool place_in_spec(const char *file, struct text text, const struct found_policy *found,
                          struct splice *ret_splice, struct fault *fault) {
    size_t line = line_start(text, found->spec.line), indent = found->spec.column - 1;
    const json_t *spec = json_object_get(found->policy, "spec");
    if (!starts_line(text, &found->spec)) return refuse_form(file, found->spec.line, fault);
    if (!json_is_object(spec) || json_object_size(spec) == 0) {
        *ret_splice = (struct splice){line, block_end(text, line, indent), indent + 2, true};
        return true;
    }
    size_t at = text_find(text, ':', line) + 1, first = next_line(text, line);
    while (first < text.len && is_blank(text, first)) first = next_line(text, first);
    if (!is_blank(text, at) || indent_of(text, first) <= indent)
        return refuse_form(file, found->spec.line, fault);
    size_t behind = next_line(text, line);
    *ret_splice = (struct splice){behind, behind, indent_of(text, first), false};
    return true;
}

static bool choose_splice(const char *file, struct text text, const struct found_policy *found,
                          struct splice *ret_splice, struct fault *fault) {
    const struct source_place *member = &found->member;
    if (found->in_list)
        return fault_set(fault, FAULT_STATE,
                         "%.100s: the LedgerPolicy is an item of a List; put it into a file of its own",
                         file);
    if (member->exact) {
        size_t line = line_start(text, member->line), indent = member->column - 1;
        if (!starts_line(text, member)) return refuse_form(file, member->line, fault);
        *ret_splice = (struct splice){line, block_end(text, line, indent), indent, false};
        return true;
    }
    if (found->spec.exact) return place_in_spec(file, text, found, ret_splice, fault);
    if (!found->metadata.exact || !starts_line(text, &found->metadata))
        return refuse_form(file, found->metadata.line, fault);
    size_t indent = found->metadata.column - 1;
    size_t end = block_end(text, line_start(text, found->metadata.line), indent);
    *ret_splice = (struct splice){end, end, indent + 2, true};
    return true;
}

static bool close_text(FILE *out, char **bytes, struct fault *fault) {
    if (fclose(out) == 0 && *bytes != NULL) return true;
    free(*bytes);
    *bytes = NULL;
    return fault_set(fault, FAULT_MEMORY, "no memory for the policy");
}

static bool put_list(const char *file, struct text text, const char *name, const json_t *list,
                     char **ret_bytes, size_t *ret_len, struct fault *fault) {
    char member[32];
    struct found_policy found;
    struct splice splice = {.from = 0};
    snprintf(member, sizeof member, "spec.%s", name);
    if (!find(file, text, member, &found, fault)) return false;
    bool fine = choose_splice(file, text, &found, &splice, fault);
    json_decref(found.policy);
    if (!fine) return false;
    FILE *out = open_memstream(ret_bytes, ret_len);
    if (out == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for the policy");
    fwrite(text.ptr, 1, splice.from, out);
    if (splice.from > 0 && text.ptr[splice.from - 1] != '\n') fputc('\n', out);
    if (splice.head) fprintf(out, "%*sspec:\n", (int)splice.indent - 2, "");
    write_list(out, splice.indent, name, list);
    fwrite(text.ptr + splice.to, 1, text.len - splice.to, out);
    return close_text(out, ret_bytes, fault);
}

static bool dump_object(json_t *object, char **ret_bytes, size_t *ret_len, struct fault *fault) {
    FILE *out = open_memstream(ret_bytes, ret_len);
    if (out == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for the policy");
    bool fine = json_dumpf(object, out, JSON_INDENT(2)) == 0 && fputc('\n', out) != EOF;
    if (!close_text(out, ret_bytes, fault)) return false;
    if (fine) return true;
    free(*ret_bytes);
    return fault_set(fault, FAULT_MEMORY, "no memory for the policy");
}

// ---- editing

// The policy as it shall be. Owner: the caller.
static json_t *wanted_policy(const json_t *policy, const struct policy_edit *edit) {
    json_t *wanted = json_deep_copy(policy);
    json_t *spec = json_object_get(wanted, "spec");
    if (wanted != NULL && !json_is_object(spec)) {
        spec = json_object();
        if (json_object_set_new(wanted, "spec", spec) != 0) spec = NULL;
    }
    if (spec != NULL && json_object_set(spec, "freezes", edit->freezes) == 0 &&
        json_object_set(spec, "resumes", edit->resumes) == 0)
        return wanted;
    json_decref(wanted);
    return NULL;
}

static bool edit_yaml(const char *file, struct text bytes, const struct policy_edit *edit, char **ret_bytes,
                      size_t *ret_len, struct fault *fault) {
    char *half;
    size_t half_len;
    if (!put_list(file, bytes, "resumes", edit->resumes, &half, &half_len, fault)) return false;
    bool fine =
        put_list(file, (struct text){half, half_len}, "freezes", edit->freezes, ret_bytes, ret_len, fault);
    free(half);
    return fine;
}

static bool is_as_wanted(const char *file, struct text bytes, const json_t *wanted, size_t document_count,
                         uint32_t line, struct fault *fault) {
    struct found_policy again;
    struct fault ignored;
    if (!find(file, bytes, "spec.freezes", &again, &ignored)) return refuse_form(file, line, fault);
    bool same = again.document_count == document_count && json_equal(again.policy, wanted) == 1;
    json_decref(again.policy);
    return same || refuse_form(file, line, fault);
}

bool policy_text_edit(const char *file, struct text bytes, const struct policy_edit *edit, char **ret_bytes,
                      size_t *ret_len, struct fault *fault) {
    struct found_policy found;
    char *edited = NULL;
    size_t edited_len = 0;
    if (!find(file, bytes, "spec.freezes", &found, fault)) return false;
    if (found.policy == NULL) return fault_set(fault, FAULT_STATE, "%.100s: no LedgerPolicy in it", file);
    json_t *wanted = wanted_policy(found.policy, edit);
    bool fine = wanted != NULL || fault_set(fault, FAULT_MEMORY, "no memory for the policy");
    if (fine && found.is_json && (found.in_list || found.document_count > 1))
        fine = fault_set(fault, FAULT_STATE,
                         "%.100s: the LedgerPolicy is not alone; put it into a file of its own", file);
    else if (fine && found.is_json)
        fine = dump_object(wanted, &edited, &edited_len, fault);
    else if (fine)
        fine = edit_yaml(file, bytes, edit, &edited, &edited_len, fault);
    fine = fine && is_as_wanted(file, (struct text){edited, edited_len}, wanted, found.document_count,
                                found.spec.line, fault);
    json_decref(wanted);
    json_decref(found.policy);
    if (!fine) {
        free(edited);
        return false;
    }
    *ret_bytes = edited;
    *ret_len = edited_len;
    return true;
}

bool policy_text_new(const struct policy_edit *edit, char **ret_bytes, size_t *ret_len, struct fault *fault) {
    FILE *out = open_memstream(ret_bytes, ret_len);
    if (out == NULL) return fault_set(fault, FAULT_MEMORY, "no memory for the policy");
    fputs(NEW_FILE_HEAD
          "apiVersion: drawbridge.dev/v1alpha1\nkind: LedgerPolicy\nmetadata:\n  name: default\n"
          "spec:\n",
          out);
    write_list(out, 2, "freezes", edit->freezes);
    write_list(out, 2, "resumes", edit->resumes);
    return close_text(out, ret_bytes, fault);
}
