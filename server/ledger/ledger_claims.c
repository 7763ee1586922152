// SPDX-License-Identifier: Apache-2.0
// ResourceClaims: what was allocated, and for whom it is reserved.
#include "server/ledger/state.h"

static uint64_t claim_hash(const struct ledger *ledger, const struct name *namespace,
                           const struct name *name) {
    const struct name *key[] = {namespace, name};
    return names_hash(ledger->options.seed, key, 2);
}

struct claim_entry *claim_find(const struct ledger *ledger, const struct name *namespace,
                               const struct name *name) {
    for (struct link *link = index_first(&ledger->claims, claim_hash(ledger, namespace, name)); link != NULL;
         link = index_next(link)) {
        struct claim_entry *claim = LINK_OWNER(link, struct claim_entry, by_name);
        if (claim->namespace == namespace && claim->name == name) return claim;
    }
    return NULL;
}

static struct claim_entry *find_by_text(const struct ledger *ledger, const struct object_meta *metadata) {
    const struct name *namespace = name_find(&ledger->names, metadata->namespace);
    const struct name *name = name_find(&ledger->names, metadata->name);
    return namespace == NULL || name == NULL ? NULL : claim_find(ledger, namespace, name);
}

// Frees what is not linked to anything yet, or no more.
static void claim_free(struct ledger *ledger, struct claim_entry *claim) {
    if (claim == NULL) return;
    // All are taken out first: what looks at pools again must not meet half a claim.
    for (size_t i = 0; i < claim->row_count; i++) row_leave(ledger, claim->rows[i]);
    for (size_t i = 0; i < claim->row_count; i++) row_free(ledger, claim->rows[i]);
    heap_free(&ledger->heap, claim->rows, claim->row_room * sizeof *claim->rows);
    consumers_free(ledger, claim);
    for (size_t i = 0; i < claim->class_count; i++) drop(ledger, claim->classes[i]);
    heap_free(&ledger->heap, claim->classes, claim->class_count * sizeof *claim->classes);
    node_drop(ledger, claim->exact);
    drop(ledger, claim->allocated_at);
    drop(ledger, claim->namespace);
    drop(ledger, claim->name);
    drop(ledger, claim->uid);
    heap_free(&ledger->heap, claim, sizeof *claim);
}

static void claim_unlink(struct ledger *ledger, struct claim_entry *claim) {
    claim_displace(ledger, claim);
    for (size_t i = 0; i < claim->consumer_count; i++)
        index_remove(&ledger->consumers, &claim->consumers[i].by_pod);
    index_remove(&ledger->claims, &claim->by_name);
}

static void claim_remove(struct ledger *ledger, struct claim_entry *claim) {
    claim_unlink(ledger, claim);
    claim_free(ledger, claim);
}

// ---- rows of a new state

static bool copy_consumed(struct ledger *ledger, const struct allocation_result *result, struct row *row) {
    const struct quantity_map *map = &result->consumed_capacity;
    row->consumed_set = map->set;
    if (map->count == 0) return true;
    row->consumed = heap_alloc(&ledger->heap, map->count * sizeof *row->consumed);
    if (row->consumed == NULL) return false;
    row->consumed_count = map->count;
    for (size_t i = 0; i < map->count; i++) {
        row->consumed[i].quantity = quantity_kept(map->items[i].value);
        row->consumed[i].key = take(ledger, map->items[i].key);
        if (row->consumed[i].key == NULL) return false;
    }
    return true;
}

// Of what a result says beside its key. The order of capacities does not count.
static uint64_t content_of(const struct row *row) {
    uint64_t sum = row->admin;
    for (size_t i = 0; i < row->consumed_count; i++) {
        uint64_t digest[2] = {0, 0};
        digest_text(digest, row->consumed[i].key->text);
        digest_quantity(digest, row->consumed[i].quantity);
        sum += digest[0] | 1u;
    }
    return sum;
}

static struct row *row_new(struct ledger *ledger, struct claim_entry *claim,
                           const struct allocation_result *result) {
    struct row *row = heap_alloc(&ledger->heap, sizeof *row);
    if (row == NULL) return NULL;
    row->claim = claim;
    row->admin = result->admin_access.value;
    row->observed_ms = ledger->now_ms;
    row->group = group_take(ledger, result->driver, result->pool);
    row->device = take(ledger, result->device);
    row->share = take(ledger, result->share_id.set ? result->share_id.value : (struct text){NULL, 0});
    if (row->group != NULL && row->device != NULL && row->share != NULL &&
        copy_consumed(ledger, result, row)) {
        row->content = content_of(row);
        return row;
    }
    row_free(ledger, row);
    return NULL;
}

static bool same_key(const struct row *a, const struct row *b) {
    return a->group == b->group && a->device == b->device && a->share == b->share;
}

static struct row *row_of(const struct claim_entry *claim, const struct row *like, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (same_key(claim->rows[i], like)) return claim->rows[i];
    return NULL;
}

static bool make_rows(struct ledger *ledger, const struct resource_claim *object, struct claim_entry *claim) {
    const struct allocation_result_list *results = &object->allocation.results;
    if (results->count == 0) return true;
    claim->rows = heap_alloc(&ledger->heap, results->count * sizeof(struct row *));
    if (claim->rows == NULL) return false;
    claim->row_room = results->count;
    for (size_t i = 0; i < results->count; i++) {
        struct row *row = row_new(ledger, claim, &results->items[i]);
        if (row == NULL) return false;
        claim->rows[claim->row_count++] = row;
    }
    return true;
}

static bool add_class(struct ledger *ledger, const struct exact_request *request, struct claim_entry *claim) {
    if (request == NULL || request->device_class_name.len == 0) return true;
    const struct name *class = take(ledger, request->device_class_name);
    if (class == NULL) return false;
    for (size_t i = 0; i < claim->class_count; i++) {
        if (claim->classes[i] != class) continue;
        drop(ledger, class);
        return true;
    }
    size_t bytes = claim->class_count * sizeof *claim->classes;
    const struct name **grown =
        heap_resize(&ledger->heap, claim->classes, bytes, bytes + sizeof *claim->classes);
    if (grown == NULL) {
        drop(ledger, class);
        return false;
    }
    claim->classes = grown;
    claim->classes[claim->class_count++] = class;
    return true;
}

static bool make_classes(struct ledger *ledger, const struct resource_claim *object,
                         struct claim_entry *claim) {
    for (size_t i = 0; i < object->devices.requests.count; i++) {
        const struct device_request *request = &object->devices.requests.items[i];
        if (!add_class(ledger, request->exactly, claim)) return false;
        for (size_t k = 0; k < request->first_available.count; k++)
            if (!add_class(ledger, &request->first_available.items[k], claim)) return false;
    }
    return true;
}

static struct claim_entry *claim_new(struct ledger *ledger, const struct resource_claim *object) {
    struct claim_entry *claim = heap_alloc(&ledger->heap, sizeof *claim);
    if (claim == NULL) return NULL;
    claim->allocated = object->allocation.set;
    claim->namespace = take(ledger, object->metadata.namespace);
    claim->name = take(ledger, object->metadata.name);
    claim->uid = take(ledger, object->metadata.uid);
    claim->allocated_at = take(ledger, object->allocation.allocation_timestamp);
    bool fine = claim->namespace != NULL && claim->name != NULL && claim->uid != NULL &&
                claim->allocated_at != NULL && consumers_make(ledger, object, claim);
    struct text exact = selector_exact_node(object->allocation.node_selector);
    if (fine && claim->allocated && exact.len > 0) {
        claim->exact = node_take(ledger, exact);
        fine = claim->exact != NULL;
    }
    if (fine && claim->allocated) fine = make_rows(ledger, object, claim);
    if (fine)
        fine = make_classes(ledger, object, claim) && index_reserve(&ledger->claims) &&
               index_reserve(&ledger->consumers) && index_reserve(&ledger->rows);
    if (fine) return claim;
    claim_free(ledger, claim);
    return NULL;
}

// ---- commit: nothing below can fail

// Another claim that holds the device of an exclusive row, on the same node; NULL when there is none.
static const struct row *other_holder(const struct ledger *ledger, const struct row *row) {
    if (row->admin || row->share->text.len > 0) return NULL;
    const struct node_entry *home = claim_home(row->claim);
    for (struct link *link = index_first(&ledger->rows, row_hash(ledger, row->group, row->device));
         link != NULL; link = index_next(link)) {
        const struct row *other = LINK_OWNER(link, struct row, by_device);
        if (other->group != row->group || other->device != row->device || other->claim == row->claim)
            continue;
        if (other->admin || other->share->text.len > 0) continue;
        const struct node_entry *there = claim_home(other->claim);
        if (home == there || home == NULL || there == NULL) return other;
    }
    return NULL;
}

static void enter_row(struct ledger *ledger, struct row *row) {
    index_insert(&ledger->rows, &row->by_device, row_hash(ledger, row->group, row->device));
    row->indexed = true;
    row_list_add(&row->group->open, row);
    row_resolve(ledger, row);
    const struct row *other = other_holder(ledger, row);
    if (other != NULL) reject(ledger, "claim-duplicate", row, row->content, other->claim->uid);
}

// The same allocation as before: it is never changed once it is set, so an allocation is another one only
// when the claim was deallocated in between, which its time shows.
static bool same_allocation(const struct claim_entry *a, const struct claim_entry *b) {
    return a->uid == b->uid && a->allocated && b->allocated && a->allocated_at == b->allocated_at;
}

// Puts the row that is already there in the place of the one that says the same again.
static void keep_row(struct ledger *ledger, struct claim_entry *claim, size_t at, struct claim_entry *known,
                     struct row *old) {
    struct row *offered = claim->rows[at];
    if (offered->content == old->content)
        ledger->counts.row_repeats++;
    else
        reject(ledger, "claim-duplicate", offered, offered->content, ledger->empty);
    for (size_t i = 0; i < known->row_count; i++) {
        if (known->rows[i] != old) continue;
        known->rows[i] = known->rows[--known->row_count];
        break;
    }
    claim->rows[at] = old;
    old->claim = claim;
    row_free(ledger, offered);
}

// Takes over the rows that are there already, and drops those that name a device twice.
static void keep_rows(struct ledger *ledger, struct claim_entry *claim, struct claim_entry *known) {
    size_t kept = 0;
    for (size_t i = 0; i < claim->row_count; i++) {
        struct row *row = claim->rows[i];
        if (row_of(claim, row, kept) != NULL) {
            reject(ledger, "claim-duplicate", row, row->content, ledger->empty);
            row_free(ledger, row);
            continue;
        }
        claim->rows[kept] = row;
        struct row *old = row_of(known, row, known->row_count);
        if (old != NULL) keep_row(ledger, claim, kept, known, old);
        kept++;
    }
    claim->row_count = kept;
}

static void commit_claim(struct ledger *ledger, struct claim_entry *claim, struct claim_entry *known,
                         int64_t resource_version) {
    if (known != NULL) {
        claim->held_ms = known->uid == claim->uid ? known->held_ms : 0;
        claim_unlink(ledger, known);
    }
    claim->resource_version = resource_version;
    claim->event_ms = ledger->now_ms;
    claim->list_round = ledger->kinds[KIND_RESOURCE_CLAIM].list_round;
    index_insert(&ledger->claims, &claim->by_name, claim_hash(ledger, claim->namespace, claim->name));
    for (size_t i = 0; i < claim->consumer_count; i++) {
        struct consumer *consumer = &claim->consumers[i];
        index_insert(&ledger->consumers, &consumer->by_pod,
                     names_hash(ledger->options.seed, &consumer->pod_uid, 1));
    }
    struct claim_entry nothing = {0};
    bool first_sight = known == NULL || known->uid != claim->uid;
    bool same = known != NULL && same_allocation(known, claim);
    keep_rows(ledger, claim, same ? known : &nothing);
    claim_free(ledger, known);
    for (size_t i = 0; i < claim->row_count; i++) {
        if (claim->rows[i]->list != NULL) continue;
        claim->rows[i]->first_sight = first_sight;
        enter_row(ledger, claim->rows[i]);
    }
    claim_place(ledger, claim);
}

enum ledger_outcome claim_apply(struct ledger *ledger, const struct ledger_event *event) {
    const struct resource_claim *object = &event->object->claim;
    struct claim_entry *known = find_by_text(ledger, &object->metadata);
    enum ledger_outcome outcome = order_of(ledger, known == NULL ? NULL : known->uid,
                                           known == NULL ? 0 : known->resource_version, event);
    if (seen_in_list(outcome, event) && known != NULL)
        known->list_round = ledger->kinds[KIND_RESOURCE_CLAIM].list_round;
    if (outcome != LEDGER_APPLIED) return outcome;
    if (event->type == EVENT_DELETED) {
        if (known == NULL) return gone_unseen(ledger, event);
        if (!tombstone_add(ledger, known->uid, event->resource_version)) return LEDGER_FAILED;
        claim_remove(ledger, known);
        return LEDGER_APPLIED;
    }
    struct claim_entry *fresh = claim_new(ledger, object);
    if (fresh == NULL) return LEDGER_FAILED;
    if (known != NULL && known->uid != fresh->uid &&
        !tombstone_add(ledger, known->uid, known->resource_version)) {
        claim_free(ledger, fresh);
        return LEDGER_FAILED;
    }
    commit_claim(ledger, fresh, known, event->resource_version);
    return LEDGER_APPLIED;
}

void claim_sweep(struct ledger *ledger, uint64_t list_round) {
    size_t bucket = 0;
    struct link *link = index_each(&ledger->claims, &bucket, NULL);
    while (link != NULL) {
        struct claim_entry *claim = LINK_OWNER(link, struct claim_entry, by_name);
        link = index_each(&ledger->claims, &bucket, link);
        if (claim->list_round == list_round) continue;
        swept(ledger, claim->uid, claim->resource_version);
        claim_remove(ledger, claim);
    }
}
