// SPDX-License-Identifier: Apache-2.0
// The ledger as a whole: life, order of events, lists, clock. Each kind has a file of its own.
#include "server/ledger/state.h"

const struct name *take(struct ledger *ledger, struct text text) {
    return name_take(&ledger->names, text);
}

void drop(struct ledger *ledger, const struct name *name) {
    name_drop(&ledger->names, name);
}

// All tables, in no order.
static void each_index(struct ledger *ledger, void (*run)(struct ledger *ledger, struct index *index)) {
    struct index *all[] = {
        &ledger->slices,      &ledger->pools,       &ledger->groups,       &ledger->groups_by_pool,
        &ledger->rows,        &ledger->claims,      &ledger->consumers,    &ledger->pods,
        &ledger->pods_by_uid, &ledger->nodes,       &ledger->leases,       &ledger->classes,
        &ledger->namespaces,  &ledger->taint_rules, &ledger->templates,    &ledger->memories,
        &ledger->remembered,  &ledger->tombstones,  &ledger->shapes.index, &ledger->pods_by_group};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) run(ledger, all[i]);
}

static void use_heap(struct ledger *ledger, struct index *index) {
    index->heap = &ledger->heap;
}

static void release_index(struct ledger *ledger, struct index *index) {
    (void)ledger;
    index_release(index);
}

static bool make_nowhere(struct ledger *ledger) {
    ledger->empty = take(ledger, (struct text){NULL, 0});
    ledger->nowhere = ledger->empty == NULL ? NULL : heap_alloc(&ledger->heap, sizeof *ledger->nowhere);
    if (ledger->nowhere == NULL) return false;
    ledger->nowhere->name = name_share(ledger->empty);
    ledger->nowhere->uid = name_share(ledger->empty);
    ledger->nowhere->refs = 1;
    return true;
}

struct ledger *ledger_new(const struct ledger_options *options, struct fault *fault) {
    struct heap first = {0};
    struct ledger *ledger = heap_alloc(&first, sizeof *ledger);
    if (ledger == NULL) {
        fault_set(fault, FAULT_MEMORY, "no memory for the ledger");
        return NULL;
    }
    ledger->options = *options;
    ledger->minor = options->minor > MINOR_NEWEST ? MINOR_NEWEST : options->minor;
    ledger->heap.cap_bytes = options->memory_cap_bytes;
    ledger->names.index.heap = &ledger->heap;
    memcpy(ledger->names.seed, options->seed, sizeof ledger->names.seed);
    ledger->shapes.names = &ledger->names;
    each_index(ledger, use_heap);
    provisional_init(ledger);
    if (make_nowhere(ledger)) return ledger;
    ledger_free(ledger);
    fault_set(fault, FAULT_MEMORY, "no memory for the ledger");
    return NULL;
}

static void tombstone_forget_oldest(struct ledger *ledger) {
    struct tombstone *oldest = ledger->oldest_tombstone;
    ledger->oldest_tombstone = oldest->next;
    if (oldest->next == NULL) ledger->newest_tombstone = NULL;
    index_remove(&ledger->tombstones, &oldest->by_uid);
    name_drop(&ledger->names, oldest->uid);
    heap_free(&ledger->heap, oldest, sizeof *oldest);
}

static void rejection_release(struct ledger *ledger, struct rejection *rejection) {
    for (size_t i = 0; i < 5; i++) drop(ledger, rejection->key[i]);
    drop(ledger, rejection->namespace);
    drop(ledger, rejection->claim_name);
    drop(ledger, rejection->other_uid);
}

void ledger_free(struct ledger *ledger) {
    if (ledger == NULL) return;
    ledger->closing = true;
    provisional_release(ledger);
    for (size_t i = 0; i < ledger->mapped.count; i++) drop(ledger, ledger->mapped.names[i]);
    claim_sweep(ledger, UINT64_MAX);
    pod_sweep(ledger, UINT64_MAX);
    slice_sweep(ledger, UINT64_MAX);
    lease_sweep(ledger, UINT64_MAX);
    class_sweep(ledger, UINT64_MAX);
    namespace_sweep(ledger, UINT64_MAX);
    taint_rule_sweep(ledger, UINT64_MAX);
    template_sweep(ledger, UINT64_MAX);
    policy_sweep(ledger, UINT64_MAX);
    memory_sweep(ledger, UINT64_MAX);
    pools_release(ledger);
    nodes_release(ledger);
    for (size_t i = 0; i < ledger->rejection_count; i++) rejection_release(ledger, &ledger->rejections[i]);
    while (ledger->oldest_tombstone != NULL) tombstone_forget_oldest(ledger);
    drop(ledger, ledger->empty);
    each_index(ledger, release_index);
    index_release(&ledger->names.index);
    struct heap first = {.used_bytes = sizeof *ledger, .count = 1};
    heap_free(&first, ledger, sizeof *ledger);
}

static const struct tombstone *tombstone_find(const struct ledger *ledger, struct text uid) {
    const struct name *name = name_find(&ledger->names, uid);
    if (name == NULL) return NULL;
    for (struct link *link = index_first(&ledger->tombstones, names_hash(ledger->options.seed, &name, 1));
         link != NULL; link = index_next(link)) {
        const struct tombstone *tombstone = LINK_OWNER(link, struct tombstone, by_uid);
        if (tombstone->uid == name) return tombstone;
    }
    return NULL;
}

bool ledger_is_gone(const struct ledger *ledger, struct text uid) {
    return tombstone_find(ledger, uid) != NULL;
}

enum ledger_outcome order_of(const struct ledger *ledger, const struct name *known_uid, int64_t known_version,
                             const struct ledger_event *event) {
    struct text uid = object_metadata(event->object)->uid;
    if (known_uid != NULL && text_equal(known_uid->text, uid)) {
        if (event->resource_version < known_version) return LEDGER_OLDER;
        // A deletion carries the version of the deletion, or that of the last change; both end the object.
        if (event->type != EVENT_DELETED && event->resource_version == known_version) return LEDGER_REPEATED;
        return LEDGER_APPLIED;
    }
    const struct tombstone *gone = uid.len == 0 ? NULL : tombstone_find(ledger, uid);
    // In a folder of manifests an object may come back as itself; its version then is higher than that of its
    // end.
    if (gone != NULL && (event->type == EVENT_DELETED || event->resource_version <= gone->resource_version))
        return event->type == EVENT_DELETED ? LEDGER_REPEATED : LEDGER_OLDER;
    if (known_uid == NULL) return LEDGER_APPLIED;
    // Another object of the same name: the newer one is the one that lives.
    if (event->type == EVENT_DELETED || event->resource_version < known_version) return LEDGER_OLDER;
    return LEDGER_APPLIED;
}

bool tombstone_add(struct ledger *ledger, const struct name *uid, int64_t resource_version) {
    if (uid->text.len == 0) return true;
    if (ledger->tombstones.count >= TOMBSTONES_MAX) tombstone_forget_oldest(ledger);
    if (!index_reserve(&ledger->tombstones)) return false;
    struct tombstone *tombstone = heap_alloc(&ledger->heap, sizeof *tombstone);
    if (tombstone == NULL) return false;
    tombstone->uid = name_share(uid);
    tombstone->resource_version = resource_version;
    if (ledger->newest_tombstone == NULL)
        ledger->oldest_tombstone = tombstone;
    else
        ledger->newest_tombstone->next = tombstone;
    ledger->newest_tombstone = tombstone;
    index_insert(&ledger->tombstones, &tombstone->by_uid, names_hash(ledger->options.seed, &uid, 1));
    return true;
}

enum ledger_outcome gone_unseen(struct ledger *ledger, const struct ledger_event *event) {
    const struct name *uid = take(ledger, object_metadata(event->object)->uid);
    if (uid == NULL) return LEDGER_FAILED;
    bool noted = tombstone_add(ledger, uid, event->resource_version);
    drop(ledger, uid);
    return noted ? LEDGER_REPEATED : LEDGER_FAILED;
}

void swept(struct ledger *ledger, const struct name *uid, int64_t resource_version) {
    // Without memory for it an older event may bring the object back until the next list.
    if (!ledger->closing && !tombstone_add(ledger, uid, resource_version)) return;
}

void reject(struct ledger *ledger, const char *rule, const struct row *row, uint64_t content,
            const struct name *other_uid) {
    const struct name *key[5] = {row->claim->uid, row->group->driver, row->group->pool, row->device,
                                 row->share};
    ledger->counts.rejections++;
    for (size_t i = 0; i < ledger->rejection_count; i++) {
        struct rejection *known = &ledger->rejections[i];
        if (known->rule != rule || known->content != content || known->other_uid != other_uid) continue;
        if (memcmp(known->key, key, sizeof key) != 0) continue;
        known->count++;
        return;
    }
    if (ledger->rejection_count == REJECTIONS_MAX) { // the oldest is forgotten; the count stays
        rejection_release(ledger, &ledger->rejections[0]);
        memmove(ledger->rejections, ledger->rejections + 1, (REJECTIONS_MAX - 1) * sizeof(struct rejection));
        ledger->rejection_count--;
    }
    struct rejection *rejection = &ledger->rejections[ledger->rejection_count++];
    *rejection = (struct rejection){.rule = rule,
                                    .namespace = name_share(row->claim->namespace),
                                    .claim_name = name_share(row->claim->name),
                                    .other_uid = name_share(other_uid),
                                    .content = content,
                                    .at_ms = ledger->now_ms,
                                    .count = 1};
    for (size_t i = 0; i < 5; i++) rejection->key[i] = name_share(key[i]);
}

// ---- events

// Leases of other things than nodes are of no interest.
static enum ledger_outcome node_lease_apply(struct ledger *ledger, const struct ledger_event *event) {
    if (!text_equal(event->object->lease.metadata.namespace, TEXT("kube-node-lease"))) return LEDGER_IGNORED;
    return lease_apply(ledger, event);
}

struct kind_row {
    enum object_kind kind;
    enum ledger_outcome (*apply)(struct ledger *ledger, const struct ledger_event *event);
    void (*sweep)(struct ledger *ledger, uint64_t list_round);
};
static const struct kind_row followed[] = {
    {KIND_RESOURCE_SLICE, slice_apply, slice_sweep},
    {KIND_RESOURCE_CLAIM, claim_apply, claim_sweep},
    {KIND_DEVICE_CLASS, class_apply, class_sweep},
    {KIND_NODE, node_apply, node_sweep},
    {KIND_POD, pod_apply, pod_sweep},
    {KIND_NAMESPACE, namespace_apply, namespace_sweep},
    {KIND_LEASE, node_lease_apply, lease_sweep},
    {KIND_DEVICE_TAINT_RULE, taint_rule_apply, taint_rule_sweep},
    {KIND_RESOURCE_CLAIM_TEMPLATE, template_apply, template_sweep},
    {KIND_LEDGER_POLICY, policy_apply, policy_sweep},
    {KIND_NODE_LEDGER, memory_apply, memory_sweep},
};

static const struct kind_row *row_of_kind(enum object_kind kind) {
    for (size_t i = 0; i < sizeof followed / sizeof followed[0]; i++)
        if (followed[i].kind == kind) return &followed[i];
    return NULL;
}

// A slice that nobody has judged yet is judged here.
static enum ledger_outcome apply_judged(struct ledger *ledger, const struct kind_row *row,
                                        const struct ledger_event *event) {
    struct ledger_event judged;
    struct arena arena;
    arena_init(&arena, LEDGER_JUDGE_BYTES);
    bool fine = ledger_judge(ledger->options.judge, ledger->options.minor, event, &arena, &judged);
    enum ledger_outcome outcome = fine ? row->apply(ledger, &judged) : LEDGER_FAILED;
    arena_release(&arena);
    return outcome;
}

enum ledger_outcome ledger_apply(struct ledger *ledger, const struct ledger_event *event,
                                 struct fault *fault) {
    if (event->type == EVENT_BOOKMARK) return LEDGER_APPLIED;
    const struct kind_row *row = row_of_kind(event->object->kind);
    enum ledger_outcome outcome = row == NULL ? LEDGER_IGNORED : apply_judged(ledger, row, event);
    // What is deleted is so whenever that is heard: its UID never comes back.
    bool deleted = event->type == EVENT_DELETED && outcome != LEDGER_FAILED;
    if ((outcome == LEDGER_APPLIED || deleted) && event->object->kind == KIND_RESOURCE_CLAIM)
        provisional_seen(ledger, event->object->claim.metadata.uid, event->resource_version, deleted);
    switch (outcome) {
    case LEDGER_APPLIED: ledger->counts.applied++; break;
    case LEDGER_REPEATED: ledger->counts.repeated++; break;
    case LEDGER_OLDER: ledger->counts.older++; break;
    case LEDGER_IGNORED: ledger->counts.ignored++; break;
    case LEDGER_FAILED: fault_set(fault, FAULT_MEMORY, "no memory for an object of the cluster"); break;
    }
    return outcome;
}

void ledger_list_begin(struct ledger *ledger, enum object_kind kind) {
    ledger->kinds[kind].listing = true;
    ledger->kinds[kind].list_round++;
}

void ledger_list_end(struct ledger *ledger, enum object_kind kind) {
    struct kind_state *state = &ledger->kinds[kind];
    const struct kind_row *row = row_of_kind(kind);
    if (!state->listing) return;
    state->listing = false;
    if (row != NULL) row->sweep(ledger, state->list_round);
    ledger_set_synced(ledger, kind, true);
}

void ledger_list_cancel(struct ledger *ledger, enum object_kind kind) {
    ledger->kinds[kind].listing = false;
}

void ledger_advance(struct ledger *ledger, int64_t now_ms) {
    if (now_ms > ledger->now_ms) ledger->now_ms = now_ms;
}

void ledger_set_synced(struct ledger *ledger, enum object_kind kind, bool synced) {
    ledger->kinds[kind].synced = synced;
    if (synced && (kind == KIND_RESOURCE_SLICE || kind == KIND_RESOURCE_CLAIM || kind == KIND_POD ||
                   kind == KIND_NODE_LEDGER))
        pools_listed(ledger);
}

bool ledger_is_synced(const struct ledger *ledger, enum object_kind kind) {
    return ledger->kinds[kind].synced;
}

void ledger_watch_alive(struct ledger *ledger, enum object_kind kind, int64_t now_ms) {
    if (now_ms > ledger->kinds[kind].alive_ms) ledger->kinds[kind].alive_ms = now_ms;
}

int ledger_minor(const struct ledger *ledger) {
    return ledger->options.minor;
}

const struct heap *ledger_heap(const struct ledger *ledger) {
    return &ledger->heap;
}

void ledger_fail_after(struct ledger *ledger, size_t allocations) {
    ledger->heap.fail_after = allocations;
}

struct ledger_counts ledger_counts(const struct ledger *ledger) {
    return ledger->counts;
}
