// SPDX-License-Identifier: Apache-2.0
// Devices that a rule about mappings makes unusable. The fixtures of all rules are stored, and each device
// must stand in the ledger as the registry judges it in a review.
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/codec/decode.h"
#include "server/ledger/store.h"
#include "unit/lib/corpus.h"
#include "unit/lib/fixture.h"
#include "validators/registry/device_judge.h"
#include "validators/registry/registry.h"

#define ARENA_BYTES (64u << 20)

struct question {
    const struct resource_slice *slice;
    size_t device;
    struct arena *arena;
    struct device_standing standing;
    enum view_answer answer;
};

static void ask(struct ledger *ledger, void *context) {
    struct question *question = context;
    struct view view = ledger_view(ledger);
    const struct resource_slice *slice = question->slice;
    struct device_key key = {slice->driver, slice->pool.name, slice->devices.items[question->device].name};
    question->answer =
        VIEW_ASK(&view, device, &key, slice->node_name.value, question->arena, &question->standing);
}

static struct store *new_store(int minor) {
    const struct ledger_options options = {.minor = minor, .seed = {1, 2}, .judge = registry_device_judge()};
    struct fault fault;
    struct store *store = store_new(&options, &fault);
    cr_assert_not_null(store);
    store_set_synced(store, KIND_RESOURCE_SLICE, true);
    return store;
}

// Which device a finding is about: "spec.devices[N]…".
static bool is_about(const struct finding *finding, size_t device) {
    char path[64];
    snprintf(path, sizeof path, "spec.devices[%zu]", device);
    return text_starts_with(finding->path, text_of(path));
}

// The first rule that denies a device in a review of the slice alone; NULL when none does, or when the device
// takes nothing of its node.
static const char *denied_by(const struct finding_list *findings, const struct resource_slice *slice,
                             size_t device, int minor) {
    const struct device *judged = &slice->devices.items[device];
    if ((minor < MINOR_37 ? judged->mappings_v136 : judged->resources_v137).count == 0) return NULL;
    const char *first = NULL;
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        if (finding->severity != SEVERITY_DENY || !is_about(finding, device)) continue;
        if (first == NULL || strcmp(finding->rule, first) < 0) first = finding->rule;
    }
    return first;
}

static size_t compare(struct arena *arena, struct object *object, int minor, const char *label) {
    struct finding_list findings;
    struct fault fault;
    size_t unusable = 0;
    struct rule_input input = {
        .object = object, .operation = OPERATION_CREATE, .minor = minor, .arena = arena};
    finding_list_init(&findings, arena);
    registry_run_rules(&input, RULES_OFFLINE, NULL, &findings);
    struct store *store = new_store(minor);
    const struct ledger_event event = {.type = EVENT_ADDED, .object = object, .resource_version = 7};
    cr_assert_eq(store_apply(store, &event, (struct text){NULL, 0}, &fault), LEDGER_APPLIED);
    for (size_t i = 0; i < object->slice.devices.count; i++) {
        struct question question = {.slice = &object->slice, .device = i, .arena = arena};
        const char *want = denied_by(&findings, &object->slice, i, minor);
        store_with_ledger(store, ask, &question);
        cr_assert_eq(question.answer, VIEW_KNOWN, "%s", label);
        const char *have = question.standing.fault;
        cr_expect(have == want || (have != NULL && want != NULL && strcmp(have, want) == 0),
                  "%s, device %zu: %s, not %s", label, i, have == NULL ? "usable" : have,
                  want == NULL ? "usable" : want);
        unusable += want != NULL;
    }
    store_free(store);
    return unusable;
}

static size_t run_fixture(const char *folder, const char *name) {
    char path[512];
    struct fixture fixture;
    struct fault fault = {0};
    struct arena arena;
    size_t unusable = 0;
    snprintf(path, sizeof path, "unit/testdata/rules/%s/%s", folder, name);
    struct text json = test_file_read(test_source_path(path));
    cr_assert_not_null(json.ptr, "%s", path);
    arena_init(&arena, ARENA_BYTES);
    cr_assert(fixture_read(&arena, json, &fixture, &fault), "%s: %s", path, fault.text);
    for (int minor = MINOR_36; minor <= MINOR_37; minor++) {
        if (minor == MINOR_36 ? !fixture.for_minor_36 : !fixture.for_minor_37) continue;
        const struct decode_options options = {JSON_WIRE, minor};
        struct finding_list findings;
        finding_list_init(&findings, &arena);
        struct object *object = arena_zalloc(&arena, 1, sizeof *object);
        cr_assert(decode_object(&arena, fixture.object, &options, object, &findings, &fault), "%s", path);
        if (object->kind == KIND_RESOURCE_SLICE) unusable += compare(&arena, object, minor, path);
    }
    arena_release(&arena);
    test_file_free(json);
    return unusable;
}

static size_t run_folder(const char *name) {
    char path[512];
    size_t unusable = 0;
    snprintf(path, sizeof path, "unit/testdata/rules/%s", name);
    DIR *folder = opendir(test_source_path(path));
    cr_assert_not_null(folder, "%s", path);
    struct dirent *entry;
    while ((entry = readdir(folder)) != NULL)
        if (text_ends_with(text_of(entry->d_name), TEXT(".json")))
            unusable += run_fixture(name, entry->d_name);
    closedir(folder);
    return unusable;
}

Test(device_faults, a_stored_device_stands_as_a_review_of_it_would_end) {
    static const char *const denying[] = {"hugepage-size",          "mapping-both-versions",
                                          "mapping-key-spelling",   "mapping-needs-sharing",
                                          "numa-attribute",         "resource-name",
                                          "unit-bytes-fraction",    "unit-cpu-binary",
                                          "unit-hugepage-multiple", "unit-range"};
    static const char *const others[] = {"numa-missing",    "unit-cpu-precision",    "unit-dimension",
                                         "unit-suspicious", "mapping-wrong-version", "unit-negative"};
    for (size_t i = 0; i < sizeof denying / sizeof denying[0]; i++)
        cr_expect_gt(run_folder(denying[i]), 0u, "%s makes no device unusable", denying[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) run_folder(others[i]);
}

// ---- many devices

static struct object *slice_of(struct arena *arena, size_t count, size_t faulty) {
    struct object *object = arena_zalloc(arena, 1, sizeof *object);
    object->kind = KIND_RESOURCE_SLICE;
    struct resource_slice *slice = &object->slice;
    slice->metadata.name = slice->metadata.uid = TEXT("slice");
    slice->driver = TEXT("gpu.example.com");
    slice->pool = (struct resource_pool){TEXT("node-1"), 1, 1};
    slice->node_name = (struct opt_text){TEXT("node-1"), true};
    slice->devices.set = true;
    for (size_t i = 0; i < count; i++) {
        struct device *device = LIST_APPEND(arena, &slice->devices);
        struct node_allocatable *entry = LIST_APPEND(arena, &device->mappings_v136);
        device->name = text_format(arena, "d%zu", i);
        device->mappings_v136.set = true;
        // The faulty ones are the last ones, and break one more rule each than the list of findings keeps.
        *entry = (struct node_allocatable){.key = i + faulty >= count ? TEXT("Memory") : TEXT("memory"),
                                           .mapping_set = true,
                                           .allocation_multiplier =
                                               quantity_from_int64(1 << 20, QUANTITY_BINARY_SI)};
    }
    return object;
}

Test(device_faults, each_device_of_a_full_slice_is_told_apart) {
    struct arena arena;
    struct fault fault;
    arena_init(&arena, ARENA_BYTES);
    struct object *object = slice_of(&arena, 128, 3);
    struct store *store = new_store(MINOR_36);
    const struct ledger_event event = {.type = EVENT_ADDED, .object = object, .resource_version = 7};
    cr_assert_eq(store_apply(store, &event, (struct text){NULL, 0}, &fault), LEDGER_APPLIED);
    for (size_t i = 0; i < 128; i++) {
        struct question question = {.slice = &object->slice, .device = i, .arena = &arena};
        store_with_ledger(store, ask, &question);
        cr_expect_eq(question.standing.fault != NULL, i >= 125, "device %zu", i);
    }
    store_free(store);
    arena_release(&arena);
}

static void read_heap(struct ledger *ledger, void *context) {
    *(struct heap *)context = *ledger_heap(ledger);
}

static size_t bytes_with(size_t faulty) {
    struct arena arena;
    struct fault fault;
    struct heap heap;
    arena_init(&arena, ARENA_BYTES);
    struct store *store = new_store(MINOR_36);
    const struct ledger_event event = {
        .type = EVENT_ADDED, .object = slice_of(&arena, 128, faulty), .resource_version = 7};
    cr_assert_eq(store_apply(store, &event, (struct text){NULL, 0}, &fault), LEDGER_APPLIED);
    store_with_ledger(store, read_heap, &heap);
    store_free(store);
    arena_release(&arena);
    return heap.used_bytes;
}

Test(device_faults, a_slice_without_faults_pays_nothing) {
    cr_expect_geq(bytes_with(1), bytes_with(0) + 128 * sizeof(uint64_t));
    cr_expect_lt(bytes_with(1), bytes_with(0) + 128 * sizeof(uint64_t) + 1024);
}

// ---- memory

Test(device_faults, what_cannot_be_judged_is_not_applied) {
    const struct device_judge *judge = registry_device_judge();
    struct arena arena, small;
    arena_init(&arena, ARENA_BYTES);
    struct ledger_event judged,
        event = {.type = EVENT_ADDED, .object = slice_of(&arena, 128, 100), .resource_version = 7};
    bool fine = false;
    size_t failures = 0;
    for (size_t at = 1; !fine; at++) {
        arena_init(&small, ARENA_BYTES);
        small.fail_after = at;
        fine = ledger_judge(judge, MINOR_36, &event, &small, &judged);
        failures += !fine;
        arena_release(&small);
    }
    cr_expect_gt(failures, 0u);
    arena_release(&arena);
}

Test(device_faults, an_event_that_was_judged_is_not_judged_again) {
    struct arena arena;
    struct fault fault;
    arena_init(&arena, ARENA_BYTES);
    struct object *object = slice_of(&arena, 2, 1);
    struct store *store = new_store(MINOR_36);
    const struct ledger_event event = {
        .type = EVENT_ADDED, .object = object, .resource_version = 7, .judged = true};
    cr_assert_eq(store_apply(store, &event, (struct text){NULL, 0}, &fault), LEDGER_APPLIED);
    struct question question = {.slice = &object->slice, .device = 1, .arena = &arena};
    store_with_ledger(store, ask, &question);
    cr_expect_null(question.standing.fault);
    store_free(store);
    arena_release(&arena);
}
