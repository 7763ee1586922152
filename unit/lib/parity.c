// SPDX-License-Identifier: Apache-2.0
// Comparison with real API servers.
#include "unit/lib/parity.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/codec/decode.h"
#include "unit/lib/corpus.h"

#define ARENA_CAP_BYTES ((size_t)64 << 20)
#define PRINTED_LIMIT   40u

// What a server or what we say is wrong: without repetitions.
struct cause {
    struct text field;
    struct text reason;
};
struct causes {
    struct cause *items;
    size_t count;
};

struct server_verdict {
    bool present;
    bool allowed;
    int64_t code;
    struct causes causes;
    struct text message;
};

struct compared_line {
    struct text id;
    struct text object; // the bytes that were posted
    struct text old;    // of updates: the object as it was stored
    struct text subresource;
    struct server_verdict verdicts[MINOR_NEWEST - MINOR_OLDEST + 1];
};

static bool has_cause(const struct causes *causes, struct cause cause) {
    for (size_t i = 0; i < causes->count; i++)
        if (text_equal(causes->items[i].field, cause.field) &&
            text_equal(causes->items[i].reason, cause.reason))
            return true;
    return false;
}

static void add_cause(struct causes *causes, struct cause cause, struct arena *arena) {
    if (has_cause(causes, cause)) return;
    struct cause *place = LIST_APPEND(arena, causes);
    cr_assert_not_null(place);
    *place = cause;
}

static bool contains(struct text text, const char *part) {
    size_t len = strlen(part);
    for (size_t i = 0; i + len <= text.len; i++)
        if (memcmp(text.ptr + i, part, len) == 0) return true;
    return false;
}

// Refusals that only a CEL compiler can give.
static bool is_cel(struct text message, struct cause cause) {
    if (!text_ends_with(cause.field, TEXT("expression"))) return false;
    if (text_equal(cause.reason, TEXT("FieldValueTooLong"))) return false;
    return contains(message, "compilation failed") || contains(message, "must evaluate to") ||
           contains(message, "exceeds cost limit");
}

static void print_missing(const char *word, const struct causes *wanted, const struct causes *given) {
    for (size_t i = 0; i < wanted->count; i++)
        if (!has_cause(given, wanted->items[i]))
            fprintf(stderr, "    %s: %.*s %.*s\n", word, TEXT_ARG(wanted->items[i].field),
                    TEXT_ARG(wanted->items[i].reason));
}

static bool includes(const struct causes *a, const struct causes *b) {
    for (size_t i = 0; i < b->count; i++)
        if (!has_cause(a, b->items[i])) return false;
    return true;
}

static bool report(const struct compared_line *line, int minor, struct parity_counts *counts) {
    if (counts->differing_count++ >= PRINTED_LIMIT) return false;
    fprintf(stderr, "  %.*s on 1.%d differs\n", TEXT_ARG(line->id), minor);
    return true;
}

static struct causes our_causes(const struct finding_list *findings, struct arena *arena) {
    struct causes causes = {0};
    for (size_t i = 0; i < findings->count; i++)
        add_cause(
            &causes,
            (struct cause){findings->items[i].path, text_of(finding_type_reason(findings->items[i].type))},
            arena);
    return causes;
}

static struct causes without_cel(const struct causes *causes, struct text message, struct arena *arena) {
    struct causes left = {0};
    for (size_t i = 0; i < causes->count; i++)
        if (!is_cel(message, causes->items[i])) add_cause(&left, causes->items[i], arena);
    return left;
}

static void compare_invalid(const struct compared_line *line, int minor, const struct server_verdict *verdict,
                            const struct finding_list *findings, struct parity_counts *counts) {
    struct arena *arena = findings->arena;
    struct causes all_ours = our_causes(findings, arena);
    struct causes ours = without_cel(&all_ours, verdict->message, arena);
    struct causes server = without_cel(&verdict->causes, verdict->message, arena);
    if (includes(&ours, &server) && includes(&server, &ours)) {
        if (server.count == 0) counts->cel_count++;
        return;
    }
    if (!report(line, minor, counts)) return;
    print_missing("only the server says", &server, &ours);
    print_missing("only we say", &ours, &server);
}

static void compare_verdict(const struct compared_line *line, int minor, const struct finding_list *findings,
                            bool decoded, struct parity_counts *counts) {
    const struct server_verdict *verdict = &line->verdicts[minor - MINOR_OLDEST];
    counts->compared_count++;
    if (verdict->code == 422 && decoded) {
        compare_invalid(line, minor, verdict, findings, counts);
        return;
    }
    bool allowed = decoded && findings->count == 0;
    if (allowed == verdict->allowed && verdict->code != 422) return;
    if (!report(line, minor, counts)) return;
    struct causes none = {0};
    struct causes ours = our_causes(findings, findings->arena);
    print_missing("we say", &ours, &none);
    fprintf(stderr, "    the server: %s with code %lld; we: %s\n", verdict->allowed ? "allowed" : "refused",
            (long long)verdict->code,
            !decoded  ? "cannot decode it"
            : allowed ? "allow"
                      : "refuse");
}

// One of the two is NULL.
struct judges {
    parity_judge *create;
    parity_update_judge *update;
};

static void judge_update(const struct compared_line *line, const struct object *object, int minor,
                         parity_update_judge *judge, struct finding_list *findings) {
    struct object *old = arena_zalloc(findings->arena, 1, sizeof *old);
    struct decode_options options = {.mode = JSON_WIRE, .minor = minor};
    struct fault fault = {0};
    cr_assert(decode_object(findings->arena, line->old, &options, old, findings, &fault), "%s", fault.text);
    cr_assert_eq(findings->count, 0);
    judge(object, old, text_equal(line->subresource, TEXT("status")), minor, findings);
}

static void compare_minor(const struct compared_line *line, int minor, unsigned kinds,
                          const struct judges *judges, struct parity_counts *counts) {
    const struct server_verdict *verdict = &line->verdicts[minor - MINOR_OLDEST];
    if (!verdict->present) return;
    struct arena arena;
    arena_init(&arena, ARENA_CAP_BYTES);
    struct finding_list findings;
    finding_list_init(&findings, &arena);
    struct decode_options options = {.mode = JSON_STRICT, .minor = minor};
    struct object *object = arena_zalloc(&arena, 1, sizeof *object);
    struct fault fault = {0};
    bool decoded = decode_object(&arena, line->object, &options, object, &findings, &fault);
    if (decoded && (kinds & PARITY_KIND(object->kind)) == 0) {
        arena_release(&arena);
        return;
    }
    // What does not decode is never validated.
    if (decoded && findings.count == 0) {
        if (judges->create != NULL)
            judges->create(object, minor, &findings);
        else
            judge_update(line, object, minor, judges->update, &findings);
    }
    cr_assert(finding_list_is_sound(&findings));
    if (verdict->code == 500)
        counts->unjudged_count++;
    else
        compare_verdict(line, minor, &findings, decoded, counts);
    arena_release(&arena);
}

static void read_cause(struct json_reader *reader, struct causes *causes) {
    static const struct json_name names[] = {JSON_NAME("field"), JSON_NAME("reason")};
    static const struct json_fields fields = JSON_FIELDS(names);
    struct cause cause = {0};
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &fields, &seen, &field))
        json_text(reader, field == 0 ? &cause.field : &cause.reason);
    add_cause(causes, cause, reader->arena);
}

static void read_verdict(struct json_reader *reader, struct server_verdict *ret_verdict) {
    static const struct json_name names[] = {JSON_NAME("allowed"), JSON_NAME("code"), JSON_NAME("causes"),
                                             JSON_NAME("message")};
    static const struct json_fields fields = JSON_FIELDS(names);
    ret_verdict->present = true;
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &fields, &seen, &field)) switch (field) {
        case 0: json_bool(reader, &ret_verdict->allowed); break;
        case 1: json_int64(reader, &ret_verdict->code); break;
        case 2: {
            struct json_iterator iterator = {0};
            while (json_element(reader, &iterator)) read_cause(reader, &ret_verdict->causes);
            break;
        }
        case 3: json_text(reader, &ret_verdict->message); break;
        }
}

static bool read_line(struct text text, struct arena *arena, struct compared_line *ret_line) {
    static const struct json_name names[] = {JSON_NAME("id"), JSON_NAME("object"), JSON_NAME("verdict"),
                                             JSON_NAME("oldObject"), JSON_NAME("subresource")};
    static const struct json_fields fields = JSON_FIELDS(names);
    static const struct json_name minor_names[] = {JSON_NAME("1.36"), JSON_NAME("1.37")};
    static const struct json_fields minors = JSON_FIELDS(minor_names);
    struct finding_list findings;
    finding_list_init(&findings, arena);
    struct json_reader reader;
    json_init(&reader, text, arena, &findings, JSON_WIRE);
    uint64_t seen = JSON_BEGIN;
    uint64_t minors_seen = JSON_BEGIN;
    unsigned field, minor;
    while (json_field(&reader, &fields, &seen, &field)) switch (field) {
        case 0: json_text(&reader, &ret_line->id); break;
        case 1: json_raw(&reader, &ret_line->object); break;
        case 2:
            while (json_field(&reader, &minors, &minors_seen, &minor))
                read_verdict(&reader, &ret_line->verdicts[minor]);
            break;
        case 3: json_raw(&reader, &ret_line->old); break;
        case 4: json_text(&reader, &ret_line->subresource); break;
        }
    struct fault fault = {0};
    return json_finish(&reader, &fault);
}

static void compare_lines(struct text file, unsigned kinds, const struct judges *judges,
                          struct parity_counts *counts) {
    size_t at = 0;
    struct text text;
    while (test_next_line(file, &at, &text)) {
        if (text.len == 0) continue;
        struct arena arena;
        arena_init(&arena, ARENA_CAP_BYTES);
        struct compared_line line = {0};
        cr_assert(read_line(text, &arena, &line), "not a line of a corpus: %.*s",
                  (int)(text.len > 200 ? 200 : text.len), text.ptr);
        bool update = line.old.len > 0;
        for (int minor = MINOR_OLDEST; minor <= MINOR_NEWEST && update == (judges->update != NULL); minor++)
            compare_minor(&line, minor, kinds, judges, counts);
        arena_release(&arena);
    }
}

void parity_compare(struct text file, unsigned kinds, parity_judge *judge, struct parity_counts *counts) {
    struct judges judges = {.create = judge};
    compare_lines(file, kinds, &judges, counts);
}

void parity_compare_updates(struct text file, unsigned kinds, parity_update_judge *judge,
                            struct parity_counts *counts) {
    struct judges judges = {.update = judge};
    compare_lines(file, kinds, &judges, counts);
}

static size_t compare_named(const char *name, struct text file, unsigned kinds, const struct judges *judges) {
    struct parity_counts counts = {0};
    compare_lines(file, kinds, judges, &counts);
    if (counts.compared_count == 0) return 0;
    fprintf(stderr, "%s: %zu verdicts compared, %zu differ, %zu for CEL alone, %zu without a verdict\n", name,
            counts.compared_count, counts.differing_count, counts.cel_count, counts.unjudged_count);
    cr_expect_eq(counts.differing_count, 0, "%s: %zu verdicts differ", name, counts.differing_count);
    return counts.compared_count;
}

static size_t compare_folder(const char *folder, unsigned kinds, const struct judges *judges) {
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    cr_assert_geq(count, 0, "cannot read %s", folder);
    size_t compared_count = 0;
    for (int i = 0; i < count; i++) {
        if (text_ends_with(text_of(entries[i]->d_name), TEXT(".jsonl"))) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
            struct text file = test_file_read(path);
            compared_count += compare_named(entries[i]->d_name, file, kinds, judges);
            test_file_free(file);
        }
        free(entries[i]);
    }
    free(entries);
    return compared_count;
}

void parity_expect(unsigned kinds, parity_judge *judge) {
    struct judges judges = {.create = judge};
    struct text file = test_corpus_read("schema.jsonl");
    size_t compared_count = compare_named("schema.jsonl", file, kinds, &judges);
    test_file_free(file);
    const char *folder = getenv("DRAWBRIDGE_ORACLE");
    if (folder != NULL) compared_count += compare_folder(folder, kinds, &judges);
    cr_assert_gt(compared_count, 0, "no object of these kinds in the corpus");
}

static void expect_file(const char *relative, unsigned kinds, const struct judges *judges) {
    struct text file = test_file_read(test_source_path(relative));
    cr_assert_not_null(file.ptr, "cannot read %s", relative);
    cr_expect_gt(compare_named(relative, file, kinds, judges), 0, "nothing to compare in %s", relative);
    test_file_free(file);
}

void parity_expect_file(const char *relative, unsigned kinds, parity_judge *judge) {
    struct judges judges = {.create = judge};
    expect_file(relative, kinds, &judges);
}

void parity_expect_updates(const char *relative, unsigned kinds, parity_update_judge *judge) {
    struct judges judges = {.update = judge};
    expect_file(relative, kinds, &judges);
    const char *folder = getenv("DRAWBRIDGE_ORACLE");
    if (folder != NULL) compare_folder(folder, kinds, &judges);
}
