// SPDX-License-Identifier: Apache-2.0
// Objects on their way into the ledger and the list.
#include <errno.h>
#include <sys/random.h>
#include <time.h>

#include "server/cli/audit.h"
#include "server/codec/decode.h"
#include "server/feed/kinds.h"
#include "server/kube_version.h"
#include "validators/registry/device_judge.h"

#define WORLD_BYTES  ((size_t)64 << 30) // what a cluster is made of; the system's memory ends it before
#define OBJECT_BYTES ((size_t)256 << 20)

static int64_t wall_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool audit_world_init(struct audit_world *world, int minor, struct fault *fault) {
    struct ledger_options options = {.minor = minor, .judge = registry_device_judge()};
    *world = (struct audit_world){.minor = minor};
    arena_init(&world->arena, WORLD_BYTES);
    if (getrandom(options.seed, sizeof options.seed, 0) != (ssize_t)sizeof options.seed)
        return fault_set(fault, FAULT_IO, "no random numbers: %s", strerror(errno));
    world->ledger = ledger_new(&options, fault);
    if (world->ledger == NULL) return false;
    ledger_advance(world->ledger, wall_ms());
    for (size_t i = 0; i < FEED_KIND_COUNT; i++) {
        ledger_watch_alive(world->ledger, feed_kinds[i].kind, wall_ms());
        ledger_set_synced(world->ledger, feed_kinds[i].kind, true);
    }
    return true;
}

void audit_world_release(struct audit_world *world) {
    ledger_free(world->ledger);
    arena_release(&world->arena);
}

static bool is_judged(enum object_kind kind) {
    return kind == KIND_RESOURCE_SLICE || kind == KIND_RESOURCE_CLAIM ||
           kind == KIND_RESOURCE_CLAIM_TEMPLATE || kind == KIND_DEVICE_CLASS || kind == KIND_ROLE ||
           kind == KIND_CLUSTER_ROLE || kind == KIND_CLUSTER_ROLE_BINDING;
}

static bool tell_ledger(struct audit_world *world, const struct object *object, struct fault *fault) {
    const struct object_meta *meta = object_metadata(object);
    struct ledger_event event = {.type = EVENT_ADDED, .object = object};
    if (feed_kind_of(object->kind) == NULL) return true;
    if (!text_to_int64(meta->resource_version, &event.resource_version))
        return fault_set(fault, FAULT_INPUT, "the object has no resourceVersion");
    return ledger_apply(world->ledger, &event, fault) != LEDGER_FAILED;
}

static bool keep(struct audit_world *world, enum object_kind kind, struct text json, const char *file,
                 struct fault *fault) {
    struct audit_item *item = LIST_APPEND(&world->arena, &world->items);
    if (item != NULL) *item = (struct audit_item){kind, text_copy(&world->arena, json), file};
    return !world->arena.poisoned || fault_set(fault, FAULT_MEMORY, "no memory for the objects");
}

bool audit_world_add(struct audit_world *world, struct text json, const char *file, struct fault *fault) {
    const struct decode_options options = {.mode = JSON_WIRE, .minor = world->minor};
    struct finding_list findings;
    struct arena arena;
    arena_init(&arena, OBJECT_BYTES);
    finding_list_init(&findings, &arena);
    struct object *object = arena_zalloc(&arena, 1, sizeof *object);
    bool fine = object != NULL || fault_set(fault, FAULT_MEMORY, "no memory for an object");
    fine = fine && decode_object(&arena, json, &options, object, &findings, fault);
    if (fine && object->kind != KIND_OTHER) {
        fine = tell_ledger(world, object, fault);
        if (fine && is_judged(object->kind)) fine = keep(world, object->kind, json, file, fault);
    }
    arena_release(&arena);
    return fine;
}

bool audit_is_from_files(const struct options *options) {
    return options_given(options, OPTION_FILENAME) ||
           strncmp(options_text(options, OPTION_POLICY_FEED), "dir:", 4) == 0;
}

bool audit_read(struct audit_world *world, const struct options *options, struct fault *fault) {
    struct text version = text_of(options_text(options, OPTION_KUBERNETES_VERSION));
    const char *feed = options_text(options, OPTION_POLICY_FEED);
    int minor = KUBE_MINOR_DEFAULT;
    if (strcmp(feed, "kube") != 0 && (strncmp(feed, "dir:", 4) != 0 || feed[4] == '\0'))
        return fault_set(fault, FAULT_USAGE, "--feed \"%.64s\": kube or dir:FOLDER", feed);
    if (version.len > 0 && !kube_version_parse(version, &minor, fault)) return false;
    if (!audit_world_init(world, minor, fault)) return false;
    return audit_is_from_files(options) ? audit_read_files(world, options, fault)
                                        : audit_read_cluster(world, options, fault);
}
