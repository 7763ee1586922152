// SPDX-License-Identifier: Apache-2.0
// Every fixture of every offline rule goes through the decoder and the registry and must give just the
// findings that it names. Missing and left-over fixtures fail.
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/codec/decode.h"
#include "unit/lib/corpus.h"
#include "unit/lib/fixture.h"
#include "validators/registry/message.h"
#include "validators/registry/registry.h"

#define ARENA_BYTES (16u << 20)
#define NAMES_MAX   256u

#define NAME_BYTES 128u

struct names {
    char items[NAMES_MAX][NAME_BYTES];
    size_t count;
};

static int name_order(const void *a, const void *b) {
    return strcmp((const char *)a, (const char *)b);
}

static void list_folder(const char *relative, struct names *ret_names) {
    DIR *folder = opendir(test_source_path(relative));
    cr_assert_not_null(folder, "no folder %s", relative);
    struct dirent *entry;
    ret_names->count = 0;
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.') continue;
        cr_assert(ret_names->count < NAMES_MAX);
        char *name = ret_names->items[ret_names->count++];
        cr_assert_lt((size_t)snprintf(name, NAME_BYTES, "%s", entry->d_name), NAME_BYTES);
    }
    closedir(folder);
    qsort(ret_names->items, ret_names->count, sizeof ret_names->items[0], name_order);
}

// A rule that is off by default is switched on in its own fixtures.
static enum severity switch_on(const void *state, const struct rule *rule) {
    const char *id = (const char *)state;
    return rule->action == SEVERITY_OFF && strcmp(rule->id, id) == 0 ? SEVERITY_WARN : rule->action;
}

static void judge(struct arena *arena, const struct fixture *fixture, int minor, const char *rule_id,
                  const char *name, struct finding_list *findings) {
    struct decode_options options = {.mode = JSON_STRICT, .minor = minor};
    struct object object;
    struct fault fault = {0};
    finding_list_init(findings, arena);
    cr_assert(decode_object(arena, fixture->object, &options, &object, findings, &fault), "%s/%s: %s",
              rule_id, name, fault.text);
    struct rule_input input = {
        .object = &object, .operation = OPERATION_CREATE, .minor = minor, .arena = arena};
    struct rule_actions actions = {.action = switch_on, .state = rule_id};
    registry_check_schema(&input, findings);
    registry_run_rules(&input, RULES_OFFLINE, &actions, findings);
    cr_assert(finding_list_is_sound(findings));
    finding_list_sort(findings);
}

static bool is_wanted(const struct fixture *fixture, const struct finding *finding) {
    for (size_t i = 0; i < fixture->want.count; i++) {
        const struct wanted_finding *wanted = &fixture->want.items[i];
        if (text_equal(wanted->rule, text_of(finding->rule)) && text_equal(wanted->field, finding->path) &&
            text_equal(wanted->reason, text_of(finding_type_reason(finding->type))))
            return true;
    }
    return false;
}

// Compares what was found with what is wanted; returns how many findings are this rule's.
static size_t compare(struct arena *arena, const struct fixture *fixture, const struct finding_list *findings,
                      const char *rule_id, const char *label) {
    size_t own_count = 0;
    size_t rule_count = 0;
    size_t schema_count = 0;
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        if (strcmp(finding->rule, SCHEMA_RULE_ID) == 0) {
            schema_count++;
            cr_expect(fixture->upstream_rejects, "%s: upstream accepts, but %s", label,
                      message_line(arena, finding, 1024).ptr);
            continue;
        }
        rule_count++;
        own_count += strcmp(finding->rule, rule_id) == 0;
        cr_expect(is_wanted(fixture, finding), "%s: not wanted: %s", label,
                  message_line(arena, finding, 1024).ptr);
    }
    cr_expect(rule_count == fixture->want.count, "%s: %zu findings, %zu wanted", label, rule_count,
              fixture->want.count);
    cr_expect(!fixture->upstream_rejects || schema_count > 0, "%s: upstream rejects, but schema is silent",
              label);
    return own_count;
}

// The messages beside a fixture, when there are some: one line for each finding of a rule.
static bool compare_messages(struct arena *arena, const char *fixture_path,
                             const struct finding_list *findings, const char *label) {
    char path[512];
    snprintf(path, sizeof path, "%.*s.want", (int)(strlen(fixture_path) - strlen(".json")), fixture_path);
    struct text want = test_file_read(test_source_path(path));
    struct text got = {"", 0};
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->items[i].rule, SCHEMA_RULE_ID) != 0)
            got = text_format(arena, "%.*s%.*s\n", TEXT_ARG(got),
                              TEXT_ARG(message_line(arena, &findings->items[i], MESSAGE_LINE_LIMIT_BYTES)));
    if (want.ptr == NULL) return false;
    cr_expect(text_equal(got, want), "%s: messages differ\nwant:\n%.*s\ngot:\n%.*s", label, TEXT_ARG(want),
              TEXT_ARG(got));
    test_file_free(want);
    return true;
}

struct coverage {
    bool pass[2]; // by minor, 36 first
    bool fail[2];
    bool messages;
};

static void run_fixture(const char *rule_id, const char *name, struct coverage *coverage) {
    char path[512];
    snprintf(path, sizeof path, "unit/testdata/rules/%s/%s", rule_id, name);
    struct text json = test_file_read(test_source_path(path));
    cr_assert_not_null(json.ptr, "%s", path);
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    struct fixture fixture;
    struct fault fault = {0};
    cr_assert(fixture_read(&arena, json, &fixture, &fault), "%s: %s", path, fault.text);
    bool fails = strncmp(name, "fail-", 5) == 0;
    cr_expect(fails || strncmp(name, "pass-", 5) == 0, "%s: a fixture is called pass-… or fail-…", path);
    for (int minor = 36; minor <= 37; minor++) {
        char label[600];
        struct finding_list findings;
        if (minor == 36 ? !fixture.for_minor_36 : !fixture.for_minor_37) continue;
        snprintf(label, sizeof label, "%s/%s on 1.%d", rule_id, name, minor);
        judge(&arena, &fixture, minor, rule_id, name, &findings);
        size_t own_count = compare(&arena, &fixture, &findings, rule_id, label);
        cr_expect(fails == (own_count > 0), "%s: the rule found %zu", label, own_count);
        coverage->pass[minor - 36] |= !fails;
        coverage->fail[minor - 36] |= fails;
        coverage->messages |= compare_messages(&arena, path, &findings, label);
    }
    arena_release(&arena);
    test_file_free(json);
}

static bool is_active(const struct rule *rule, int minor) {
    bool active = false;
    for (size_t i = 0; i < RULE_REVISIONS_MAX && rule->revisions[i].since_minor != 0; i++)
        if (rule->revisions[i].since_minor <= minor) active = rule->revisions[i].run != NULL;
    return active;
}

Test(fixtures, every_offline_rule_has_fixtures_that_hold) {
    size_t count;
    const struct rule *rules = registry_rules(&count);
    for (size_t i = 0; i < count; i++) {
        if (rules[i].needs_view) continue;
        char folder[256];
        static struct names names;
        struct coverage coverage = {0};
        snprintf(folder, sizeof folder, "unit/testdata/rules/%s", rules[i].id);
        list_folder(folder, &names);
        for (size_t j = 0; j < names.count; j++)
            if (text_ends_with(text_of(names.items[j]), TEXT(".json")))
                run_fixture(rules[i].id, names.items[j], &coverage);
        for (int minor = 36; minor <= 37; minor++) {
            if (!is_active(&rules[i], minor)) continue;
            cr_expect(coverage.pass[minor - 36], "%s has no pass case for 1.%d", rules[i].id, minor);
            cr_expect(coverage.fail[minor - 36], "%s has no fail case for 1.%d", rules[i].id, minor);
        }
        cr_expect(coverage.messages, "%s has no .want file with its messages", rules[i].id);
    }
}

Test(fixtures, nothing_is_left_over) {
    static struct names folders;
    list_folder("unit/testdata/rules", &folders);
    for (size_t i = 0; i < folders.count; i++) {
        char folder[256];
        static struct names files;
        const struct rule *rule = registry_find(text_of(folders.items[i]));
        cr_expect(rule != NULL, "unit/testdata/rules/%s: no such rule", folders.items[i]);
        snprintf(folder, sizeof folder, "unit/testdata/rules/%s", folders.items[i]);
        list_folder(folder, &files);
        for (size_t j = 0; j < files.count; j++) {
            char path[512];
            struct text name = text_of(files.items[j]);
            if (text_ends_with(name, TEXT(".json"))) continue;
            cr_expect(text_ends_with(name, TEXT(".want")), "%s/%s belongs to nothing", folder,
                      files.items[j]);
            if (name.len < 5) continue;
            snprintf(path, sizeof path, "%s/%.*s.json", folder, (int)(name.len - 5), name.ptr);
            struct text fixture = test_file_read(test_source_path(path));
            cr_expect(fixture.ptr != NULL, "%s/%s has no fixture", folder, files.items[j]);
            test_file_free(fixture);
        }
    }
}
