// SPDX-License-Identifier: Apache-2.0
// Store and journal of a test.
#include "unit/lib/ledger_rig.h"

#include <criterion/criterion.h>

#include "server/codec/decode.h"
#include "validators/registry/device_judge.h"

#define ARENA_BYTES ((size_t)256 << 20)

void ledger_rig_open(struct ledger_rig *rig, int minor, int64_t file_bytes) {
    const struct ledger_options ledger = {.minor = minor, .seed = {1, 2}, .judge = registry_device_judge()};
    const struct journal_options options = {.folder = rig->folder.path, .file_bytes = file_bytes};
    struct fault fault;
    rig->minor = minor;
    rig->store = store_new(&ledger, &fault);
    cr_assert_not_null(rig->store);
    cr_assert(journal_new(&options, &rig->journal, &fault), "%s", fault.text);
    journal_attach(rig->journal, rig->store);
    arena_init(&rig->arena, ARENA_BYTES);
}

void ledger_rig_close(struct ledger_rig *rig) {
    journal_detach(rig->store);
    journal_free(rig->journal);
    store_free(rig->store);
    arena_release(&rig->arena);
}

void ledger_rig_tell(struct ledger_rig *rig, enum event_type type, struct text json) {
    const struct decode_options options = {JSON_WIRE, rig->minor};
    struct finding_list findings;
    struct fault fault;
    arena_clear(&rig->arena);
    finding_list_init(&findings, &rig->arena);
    struct object *object = arena_zalloc(&rig->arena, 1, sizeof *object);
    cr_assert_not_null(object);
    cr_assert(decode_object(&rig->arena, json, &options, object, &findings, &fault), "%s", fault.text);
    const struct object_meta *meta = object_metadata(object);
    struct ledger_event event = {.type = type, .object = object};
    if (meta == NULL) return;
    if (!text_to_int64(meta->resource_version, &event.resource_version)) event.resource_version = 0;
    cr_assert_neq(store_apply(rig->store, &event, json, &fault), LEDGER_FAILED, "%s", fault.text);
}

enum object_kind ledger_rig_kind(const char *api_version, const char *kind) {
    enum resource_version ignored;
    return decode_kind(text_of(api_version), text_of(kind), &ignored);
}
