// SPDX-License-Identifier: Apache-2.0
// Pods: what they ask for, which claims they use, and what their status says of them.
#include "server/ledger/pod_limits.h"
#include "server/ledger/pod_requests.h"
#include "server/ledger/state.h"
#include "server/ledger/waiting.h"

#define POD_MEMORY_BYTES ((size_t)16 * 1024 * 1024) // taking one Pod apart may need so much

static uint64_t pod_hash(const struct ledger *ledger, const struct name *namespace, const struct name *name) {
    const struct name *key[] = {namespace, name};
    return names_hash(ledger->options.seed, key, 2);
}

static struct pod_entry *find_by_text(const struct ledger *ledger, const struct object_meta *metadata) {
    const struct name *namespace = name_find(&ledger->names, metadata->namespace);
    const struct name *name = name_find(&ledger->names, metadata->name);
    if (namespace == NULL || name == NULL) return NULL;
    for (struct link *link = index_first(&ledger->pods, pod_hash(ledger, namespace, name)); link != NULL;
         link = index_next(link)) {
        struct pod_entry *pod = LINK_OWNER(link, struct pod_entry, by_name);
        if (pod->namespace == namespace && pod->name == name) return pod;
    }
    return NULL;
}

struct pod_entry *pod_by_uid(const struct ledger *ledger, const struct name *uid) {
    for (struct link *link = index_first(&ledger->pods_by_uid, names_hash(ledger->options.seed, &uid, 1));
         link != NULL; link = index_next(link)) {
        struct pod_entry *pod = LINK_OWNER(link, struct pod_entry, by_uid);
        if (pod->uid == uid) return pod;
    }
    return NULL;
}

static void limits_free(struct ledger *ledger, struct pod_entry *pod) {
    for (size_t i = 0; i < pod->limit_count; i++) {
        drop(ledger, pod->limits[i].resource);
        drop(ledger, pod->limits[i].container);
        heap_free(&ledger->heap, pod->limits[i].uses, pod->claim_count * sizeof *pod->limits[i].uses);
    }
    heap_free(&ledger->heap, pod->limits, pod->limit_count * sizeof *pod->limits);
}

static void pod_free(struct ledger *ledger, struct pod_entry *pod) {
    if (pod == NULL) return;
    limits_free(ledger, pod);
    for (size_t i = 0; i < pod->demand_count; i++) drop(ledger, pod->demands[i].resource);
    heap_free(&ledger->heap, pod->demands, pod->demand_count * sizeof *pod->demands);
    for (size_t i = 0; i < pod->claim_count; i++) drop(ledger, pod->claims[i].claim);
    heap_free(&ledger->heap, pod->claims, pod->claim_count * sizeof *pod->claims);
    for (size_t i = 0; i < pod->reported_count; i++) {
        drop(ledger, pod->reported[i].claim);
        amounts_release(&ledger->names, &pod->reported[i].amounts);
    }
    heap_free(&ledger->heap, pod->reported, pod->reported_count * sizeof *pod->reported);
    node_drop(ledger, pod->node);
    node_drop(ledger, pod->nominated);
    drop(ledger, pod->namespace);
    drop(ledger, pod->name);
    drop(ledger, pod->uid);
    drop(ledger, pod->group);
    heap_free(&ledger->heap, pod, sizeof *pod);
}

static void pod_unlink(struct ledger *ledger, struct pod_entry *pod) {
    waiting_leave(ledger, pod);
    if (pod->node != NULL) {
        if (pod->node_next != NULL) pod->node_next->node_previous = pod->node_previous;
        if (pod->node_previous != NULL)
            pod->node_previous->node_next = pod->node_next;
        else
            pod->node->pods = pod->node_next;
        node_touch(ledger, pod->node);
    }
    index_remove(&ledger->pods, &pod->by_name);
    index_remove(&ledger->pods_by_uid, &pod->by_uid);
    if (pod->group != ledger->empty) index_remove(&ledger->pods_by_group, &pod->by_group);
}

static void place_claims_of(struct ledger *ledger, const struct name *uid) {
    for (struct link *link = index_first(&ledger->consumers, names_hash(ledger->options.seed, &uid, 1));
         link != NULL; link = index_next(link)) {
        struct consumer *consumer = LINK_OWNER(link, struct consumer, by_pod);
        if (consumer->pod_uid == uid) claim_place(ledger, consumer->claim);
    }
}

static void pod_remove(struct ledger *ledger, struct pod_entry *pod) {
    pod_unlink(ledger, pod);
    group_leave(ledger, pod, NULL);
    place_claims_of(ledger, pod->uid);
    pod_free(ledger, pod);
}

// ---- a new state

static bool make_demands(struct ledger *ledger, const struct pod *object, struct arena *arena,
                         struct pod_entry *pod) {
    struct pod_demand_list list = pod_demands(object, ledger->minor, arena);
    if (arena->poisoned) return false;
    if (list.count == 0) return true;
    pod->demands = heap_alloc(&ledger->heap, list.count * sizeof *pod->demands);
    if (pod->demands == NULL) return false;
    pod->demand_count = list.count;
    for (size_t i = 0; i < list.count; i++) {
        const struct pod_demand *demand = &list.items[i];
        pod->demands[i] = (struct demand){.resource = take(ledger, demand->resource),
                                          .on_top = quantity_kept(demand->on_top),
                                          .within = quantity_kept(demand->within),
                                          .overhead = quantity_kept(demand->overhead),
                                          .pod_level = demand->pod_level};
        if (pod->demands[i].resource == NULL) return false;
    }
    return true;
}

static bool note_uses(struct ledger *ledger, const struct pod *object, const struct text_list *names,
                      const struct pod_entry *pod, struct own_limit *limit) {
    if (names == NULL) return true;
    limit->uses = heap_alloc(&ledger->heap, pod->claim_count * sizeof *limit->uses);
    if (limit->uses == NULL) return false;
    for (size_t i = 0; i < object->resource_claims.count; i++)
        for (size_t k = 0; k < names->count; k++)
            if (text_equal(object->resource_claims.items[i].name, names->items[k])) limit->uses[i] = true;
    return true;
}

static bool make_limits(struct ledger *ledger, const struct pod *object, struct arena *arena,
                        struct pod_entry *pod) {
    if (ledger->minor < MINOR_37 || pod->claim_count == 0) return true;
    struct pod_limit_list list = pod_limits(object, arena);
    if (arena->poisoned) return false;
    if (list.count == 0) return true;
    pod->limits = heap_alloc(&ledger->heap, list.count * sizeof *pod->limits);
    if (pod->limits == NULL) return false;
    pod->limit_count = list.count;
    for (size_t i = 0; i < list.count; i++) {
        struct own_limit *limit = &pod->limits[i];
        limit->limit = quantity_kept(list.items[i].limit);
        limit->containers = quantity_kept(list.items[i].containers);
        limit->resource = take(ledger, list.items[i].resource);
        limit->container = take(ledger, list.items[i].container);
        if (limit->resource == NULL || limit->container == NULL ||
            !note_uses(ledger, object, list.items[i].claims, pod, limit))
            return false;
    }
    return true;
}

static size_t references_in(const struct container_list *containers, struct text name) {
    size_t count = 0;
    for (size_t i = 0; i < containers->count; i++)
        for (size_t k = 0; k < containers->items[i].resources.claims.count; k++)
            if (text_equal(containers->items[i].resources.claims.items[k], name)) count++;
    return count;
}

// The name of the object behind a Pod's claim; empty while it is not made.
static struct text claim_name_of(const struct pod *object, const struct pod_resource_claim *claim) {
    if (claim->claim_name.set) return claim->claim_name.value;
    for (size_t i = 0; i < object->claim_statuses.count; i++)
        if (text_equal(object->claim_statuses.items[i].name, claim->name))
            return object->claim_statuses.items[i].claim_name.value;
    return (struct text){NULL, 0};
}

static bool make_claims(struct ledger *ledger, const struct pod *object, struct pod_entry *pod) {
    size_t count = object->resource_claims.count + (object->extended_claim_name.set ? 1 : 0);
    if (count == 0) return true;
    pod->claims = heap_alloc(&ledger->heap, count * sizeof *pod->claims);
    if (pod->claims == NULL) return false;
    pod->claim_count = count;
    for (size_t i = 0; i < object->resource_claims.count; i++) {
        const struct pod_resource_claim *claim = &object->resource_claims.items[i];
        pod->claims[i].claim = take(ledger, claim_name_of(object, claim));
        pod->claims[i].reference_count = references_in(&object->init_containers, claim->name) +
                                         references_in(&object->containers, claim->name);
        if (pod->claims[i].claim == NULL) return false;
    }
    if (!object->extended_claim_name.set) return true;
    pod->claims[count - 1].claim = take(ledger, object->extended_claim_name.value);
    return pod->claims[count - 1].claim != NULL;
}

static struct quantity overhead_sum(const struct overhead_resource *overhead, size_t container_count) {
    struct quantity none = quantity_from_int64(0, QUANTITY_DECIMAL_SI);
    struct quantity sum = overhead->per_pod.set ? overhead->per_pod : none;
    if (!overhead->per_container.set || container_count == 0) return sum;
    struct quantity count = quantity_from_int64((int64_t)container_count, QUANTITY_DECIMAL_SI);
    struct quantity product = quantity_multiply(overhead->per_container, count);
    return overhead->per_pod.set ? quantity_add(sum, product) : product;
}

static void add_reported(struct quantity_map *sums, struct text resource, struct quantity quantity,
                         struct arena *arena) {
    for (size_t i = 0; i < sums->count; i++) {
        if (!text_equal(sums->items[i].key, resource)) continue;
        sums->items[i].value = quantity_add(sums->items[i].value, quantity);
        return;
    }
    struct quantity_entry *entry = LIST_APPEND(arena, sums);
    if (entry == NULL) return;
    quantity.set = true;
    *entry = (struct quantity_entry){resource, quantity};
}

// What the scheduler of the minor reads of an entry.
static struct quantity_map reported_sums(const struct ledger *ledger,
                                         const struct node_allocatable_claim_status *status,
                                         struct arena *arena) {
    struct quantity_map sums = {.set = true};
    bool old_form = ledger->minor < 37;
    const struct quantity_map *fixed = old_form ? &status->resources : &status->mapping;
    for (size_t i = 0; i < fixed->count; i++)
        if (fixed->items[i].value.set) add_reported(&sums, fixed->items[i].key, fixed->items[i].value, arena);
    for (size_t i = 0; i < status->overhead.count && !old_form; i++) {
        const struct overhead_resource *overhead = &status->overhead.items[i];
        add_reported(&sums, overhead->name, overhead_sum(overhead, status->containers.count), arena);
    }
    return sums;
}

static bool make_reported(struct ledger *ledger, const struct pod *object, struct arena *arena,
                          struct pod_entry *pod) {
    const struct node_allocatable_claim_status_list *statuses = &object->allocatable_statuses;
    if (statuses->count == 0) return true;
    pod->reported = heap_alloc(&ledger->heap, statuses->count * sizeof *pod->reported);
    if (pod->reported == NULL) return false;
    pod->reported_count = statuses->count;
    for (size_t i = 0; i < statuses->count; i++) {
        struct quantity_map sums = reported_sums(ledger, &statuses->items[i], arena);
        pod->reported[i].claim = take(ledger, statuses->items[i].claim_name);
        if (arena->poisoned || pod->reported[i].claim == NULL ||
            !amounts_copy(&ledger->names, &sums, &pod->reported[i].amounts))
            return false;
    }
    return true;
}

static bool make_nodes(struct ledger *ledger, const struct pod *object, struct pod_entry *pod) {
    if (object->node_name.len > 0) {
        pod->node = node_take(ledger, object->node_name);
        if (pod->node == NULL) return false;
    }
    if (object->nominated_node_name.len > 0) {
        pod->nominated = node_take(ledger, object->nominated_node_name);
        if (pod->nominated == NULL) return false;
    }
    return true;
}

static struct pod_entry *pod_new(struct ledger *ledger, const struct pod *object) {
    struct pod_entry *pod = heap_alloc(&ledger->heap, sizeof *pod);
    if (pod == NULL) return NULL;
    struct arena arena;
    arena_init(&arena, POD_MEMORY_BYTES);
    pod->live = !text_equal(object->phase, TEXT("Succeeded")) && !text_equal(object->phase, TEXT("Failed"));
    pod->gated = waiting_has_gate(object);
    pod->namespace = take(ledger, object->metadata.namespace);
    pod->name = take(ledger, object->metadata.name);
    pod->uid = take(ledger, object->metadata.uid);
    pod->group = take(ledger, object->scheduling_group);
    bool fine = pod->namespace != NULL && pod->name != NULL && pod->uid != NULL && pod->group != NULL &&
                make_nodes(ledger, object, pod) && make_claims(ledger, object, pod) &&
                make_limits(ledger, object, &arena, pod) && make_demands(ledger, object, &arena, pod) &&
                make_reported(ledger, object, &arena, pod) && index_reserve(&ledger->pods) &&
                index_reserve(&ledger->pods_by_uid) &&
                (pod->group == ledger->empty || index_reserve(&ledger->pods_by_group));
    arena_release(&arena);
    if (fine) return pod;
    pod_free(ledger, pod);
    return NULL;
}

// ---- commit

// A Pod that had a node when it was made was placed by nobody. Seen later, a Pod with a node and without the
// condition that a scheduler's binding leaves is taken for one.
static bool is_preset(const struct ledger *ledger, const struct pod *object, const struct pod_entry *known,
                      const struct ledger_event *event) {
    if (known != NULL) return known->preset;
    if (object->node_name.len == 0) return false;
    const struct kind_state *state = &ledger->kinds[KIND_POD];
    bool just_made = event->type == EVENT_ADDED && state->synced && !state->listing;
    return just_made || !object->scheduled;
}

static void commit_pod(struct ledger *ledger, struct pod_entry *pod, struct pod_entry *known,
                       int64_t resource_version) {
    if (known != NULL) {
        pod_unlink(ledger, known);
        if (known->uid != pod->uid) place_claims_of(ledger, known->uid);
    }
    pod->resource_version = resource_version;
    pod->event_ms = ledger->now_ms;
    pod->list_round = ledger->kinds[KIND_POD].list_round;
    index_insert(&ledger->pods, &pod->by_name, pod_hash(ledger, pod->namespace, pod->name));
    index_insert(&ledger->pods_by_uid, &pod->by_uid, names_hash(ledger->options.seed, &pod->uid, 1));
    if (pod->group != ledger->empty)
        index_insert(&ledger->pods_by_group, &pod->by_group,
                     pod_group_hash(ledger, pod->namespace, pod->group));
    if (known != NULL) group_leave(ledger, known, pod);
    if (pod->node != NULL) {
        pod->node_next = pod->node->pods;
        if (pod->node_next != NULL) pod->node_next->node_previous = pod;
        pod->node->pods = pod;
        node_touch(ledger, pod->node);
    }
    waiting_enter(ledger, pod);
    place_claims_of(ledger, pod->uid);
    pod_free(ledger, known);
}

enum ledger_outcome pod_apply(struct ledger *ledger, const struct ledger_event *event) {
    const struct pod *object = &event->object->pod;
    struct pod_entry *known = find_by_text(ledger, &object->metadata);
    enum ledger_outcome outcome = order_of(ledger, known == NULL ? NULL : known->uid,
                                           known == NULL ? 0 : known->resource_version, event);
    if (seen_in_list(outcome, event) && known != NULL) known->list_round = ledger->kinds[KIND_POD].list_round;
    if (outcome != LEDGER_APPLIED) return outcome;
    if (event->type == EVENT_DELETED) {
        if (known == NULL) return gone_unseen(ledger, event);
        if (!tombstone_add(ledger, known->uid, event->resource_version)) return LEDGER_FAILED;
        pod_remove(ledger, known);
        return LEDGER_APPLIED;
    }
    struct pod_entry *fresh = pod_new(ledger, object);
    if (fresh == NULL) return LEDGER_FAILED;
    bool replaced = known != NULL && known->uid != fresh->uid;
    if (!group_join(ledger, fresh) ||
        (replaced && !tombstone_add(ledger, known->uid, known->resource_version))) {
        group_leave(ledger, fresh, known); // what it got as far as joining
        pod_free(ledger, fresh);
        return LEDGER_FAILED;
    }
    fresh->preset = is_preset(ledger, object, replaced ? NULL : known, event);
    commit_pod(ledger, fresh, known, event->resource_version);
    return LEDGER_APPLIED;
}

void pod_sweep(struct ledger *ledger, uint64_t list_round) {
    size_t bucket = 0;
    struct link *link = index_each(&ledger->pods, &bucket, NULL);
    while (link != NULL) {
        struct pod_entry *pod = LINK_OWNER(link, struct pod_entry, by_name);
        link = index_each(&ledger->pods, &bucket, link);
        if (pod->list_round == list_round) continue;
        swept(ledger, pod->uid, pod->resource_version);
        pod_remove(ledger, pod);
    }
}
