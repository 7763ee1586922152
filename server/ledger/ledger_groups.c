// SPDX-License-Identifier: Apache-2.0
// PodGroups. A claim may be reserved for one instead of a Pod; Pods do not know their group's UID, so the
// group is matched by its name, as the scheduler does. Consumers of the claim are then those Pods of the
// group that name the claim and have a node, or are nominated for one: the others take nothing yet. Source:
// k8s.io/dynamic-resource-allocation v0.36.3 and v0.37.2 resourceclaim/resourceclaim.go, BindTo,
// IsReservedForPod.
#include "server/ledger/state.h"

uint64_t pod_group_hash(const struct ledger *ledger, const struct name *namespace, const struct name *group) {
    const struct name *key[] = {namespace, group};
    return names_hash(ledger->options.seed, key, 2);
}

bool claim_is_for_group_of(const struct claim_entry *claim, const struct pod_entry *pod) {
    if (pod->group->text.len == 0 || pod->namespace != claim->namespace) return false;
    bool named = false;
    for (size_t i = 0; i < pod->claim_count && !named; i++) named = pod->claims[i].claim == claim->name;
    for (size_t i = 0; i < claim->group_count && named; i++)
        if (claim->groups[i] == pod->group) return true;
    return false;
}

static bool consumes(const struct claim_entry *claim, const struct pod_entry *pod) {
    return (pod->node != NULL || pod->nominated != NULL) && claim_is_for_group_of(claim, pod);
}

static bool is_consumer(const struct claim_entry *claim, const struct name *pod_uid) {
    for (size_t i = 0; i < claim->consumer_count; i++)
        if (claim->consumers[i].pod_uid == pod_uid) return true;
    return false;
}

static void enter(struct ledger *ledger, struct consumer *consumer) {
    index_insert(&ledger->consumers, &consumer->by_pod,
                 names_hash(ledger->options.seed, &consumer->pod_uid, 1));
}

// ---- of a new claim

static struct pod_entry *next_member(const struct ledger *ledger, const struct claim_entry *claim,
                                     const struct name *group, const struct pod_entry *after) {
    struct link *link =
        after != NULL ? index_next(&after->by_group)
                      : index_first(&ledger->pods_by_group, pod_group_hash(ledger, claim->namespace, group));
    for (; link != NULL; link = index_next(link)) {
        struct pod_entry *pod = LINK_OWNER(link, struct pod_entry, by_group);
        if (pod->group == group && consumes(claim, pod)) return pod;
    }
    return NULL;
}

static bool make_groups(struct ledger *ledger, const struct consumer_reference_list *references,
                        struct claim_entry *claim) {
    size_t count = 0;
    for (size_t i = 0; i < references->count; i++) count += consumer_is_group(&references->items[i]);
    if (count == 0) return true;
    claim->groups = heap_alloc(&ledger->heap, count * sizeof *claim->groups);
    if (claim->groups == NULL) return false;
    claim->group_count = count;
    size_t at = 0;
    for (size_t i = 0; i < references->count; i++) {
        if (!consumer_is_group(&references->items[i])) continue;
        claim->groups[at] = take(ledger, references->items[i].name);
        if (claim->groups[at++] == NULL) return false;
    }
    return true;
}

static bool make_room(struct ledger *ledger, size_t room, struct consumer **ret_consumers,
                      struct placement **ret_placements) {
    struct placement *placements = heap_alloc(&ledger->heap, (room + 1) * sizeof *placements);
    struct consumer *consumers =
        room == 0 || placements == NULL ? NULL : heap_alloc(&ledger->heap, room * sizeof *consumers);
    if (placements == NULL || (room > 0 && consumers == NULL)) {
        heap_free(&ledger->heap, placements, (room + 1) * sizeof *placements);
        return false;
    }
    *ret_consumers = consumers;
    *ret_placements = placements;
    return true;
}

bool consumers_make(struct ledger *ledger, const struct resource_claim *object, struct claim_entry *claim) {
    const struct consumer_reference_list *references = &object->reserved_for;
    size_t room = references->count;
    if (!make_groups(ledger, references, claim)) return false;
    for (size_t i = 0; i < claim->group_count; i++)
        for (const struct pod_entry *pod = next_member(ledger, claim, claim->groups[i], NULL); pod != NULL;
             pod = next_member(ledger, claim, claim->groups[i], pod))
            room++;
    if (!make_room(ledger, room, &claim->consumers, &claim->placements)) return false;
    claim->consumer_room = room;
    for (size_t i = 0; i < references->count; i++) {
        const struct name *uid = take(ledger, references->items[i].uid);
        if (uid == NULL) return false;
        claim->consumers[claim->consumer_count++] = (struct consumer){.claim = claim, .pod_uid = uid};
    }
    for (size_t i = 0; i < claim->group_count; i++)
        for (const struct pod_entry *pod = next_member(ledger, claim, claim->groups[i], NULL); pod != NULL;
             pod = next_member(ledger, claim, claim->groups[i], pod))
            if (!is_consumer(claim, pod->uid))
                claim->consumers[claim->consumer_count++] =
                    (struct consumer){.claim = claim, .pod_uid = name_share(pod->uid), .by_group = true};
    return true;
}

void consumers_free(struct ledger *ledger, struct claim_entry *claim) {
    for (size_t i = 0; i < claim->consumer_count; i++) drop(ledger, claim->consumers[i].pod_uid);
    heap_free(&ledger->heap, claim->consumers, claim->consumer_room * sizeof *claim->consumers);
    heap_free(&ledger->heap, claim->placements, (claim->consumer_room + 1) * sizeof *claim->placements);
    for (size_t i = 0; i < claim->group_count; i++) drop(ledger, claim->groups[i]);
    heap_free(&ledger->heap, claim->groups, claim->group_count * sizeof *claim->groups);
}

// ---- of Pods that come and go

static bool grow(struct ledger *ledger, struct claim_entry *claim) {
    size_t room = 2 * claim->consumer_room + 1;
    struct consumer *consumers;
    struct placement *placements;
    if (!make_room(ledger, room, &consumers, &placements)) return false;
    claim_displace(ledger, claim);
    for (size_t i = 0; i < claim->consumer_count; i++) {
        index_remove(&ledger->consumers, &claim->consumers[i].by_pod);
        consumers[i] = claim->consumers[i];
        enter(ledger, &consumers[i]);
    }
    heap_free(&ledger->heap, claim->consumers, claim->consumer_room * sizeof *claim->consumers);
    heap_free(&ledger->heap, claim->placements, (claim->consumer_room + 1) * sizeof *claim->placements);
    claim->consumers = consumers;
    claim->placements = placements;
    claim->consumer_room = room;
    claim_place(ledger, claim);
    return true;
}

bool group_join(struct ledger *ledger, const struct pod_entry *pod) {
    for (size_t i = 0; i < pod->claim_count && pod->group != ledger->empty; i++) {
        const struct name *name = pod->claims[i].claim;
        struct claim_entry *claim = name == NULL ? NULL : claim_find(ledger, pod->namespace, name);
        if (claim == NULL || !consumes(claim, pod) || is_consumer(claim, pod->uid)) continue;
        if (!index_reserve(&ledger->consumers)) return false;
        if (claim->consumer_count == claim->consumer_room && !grow(ledger, claim)) return false;
        struct consumer *consumer = &claim->consumers[claim->consumer_count++];
        *consumer = (struct consumer){.claim = claim, .pod_uid = name_share(pod->uid), .by_group = true};
        enter(ledger, consumer);
    }
    return true;
}

static void remove_consumer(struct ledger *ledger, struct claim_entry *claim, size_t at) {
    claim_displace(ledger, claim);
    index_remove(&ledger->consumers, &claim->consumers[at].by_pod);
    drop(ledger, claim->consumers[at].pod_uid);
    size_t last = --claim->consumer_count;
    if (at != last) {
        index_remove(&ledger->consumers, &claim->consumers[last].by_pod);
        claim->consumers[at] = claim->consumers[last];
        enter(ledger, &claim->consumers[at]);
    }
    claim_place(ledger, claim);
}

void group_leave(struct ledger *ledger, const struct pod_entry *known, const struct pod_entry *now) {
    for (size_t i = 0; i < known->claim_count && known->group != ledger->empty; i++) {
        const struct name *name = known->claims[i].claim;
        struct claim_entry *claim = name == NULL ? NULL : claim_find(ledger, known->namespace, name);
        if (claim == NULL || (now != NULL && now->uid == known->uid && consumes(claim, now))) continue;
        for (size_t k = claim->consumer_count; k-- > 0;)
            if (claim->consumers[k].by_group && claim->consumers[k].pod_uid == known->uid)
                remove_consumer(ledger, claim, k);
    }
}
