// SPDX-License-Identifier: Apache-2.0
// What was let in and is not confirmed.
#include "server/ledger/provisional.h"

#include "server/ledger/state.h"

// A watch that was silent for so long may have confirmed what we do not know of.
#define ALIVE_WINDOW_MS INT64_C(180000)

void provisional_init(struct ledger *ledger) {
    ledger->provisional = (struct provisional){.by_claim = {.heap = &ledger->heap},
                                               .by_pod = {.heap = &ledger->heap},
                                               .by_device = {.heap = &ledger->heap}};
}

static uint64_t device_hash(const struct ledger *ledger, const struct name *driver, const struct name *pool,
                            const struct name *device) {
    const struct name *key[] = {driver, pool, device};
    return names_hash(ledger->options.seed, key, 3);
}

static void free_claim(struct ledger *ledger, struct pending_claim *claim) {
    for (size_t i = 0; i < claim->device_count; i++) {
        drop(ledger, claim->devices[i].driver);
        drop(ledger, claim->devices[i].pool);
        drop(ledger, claim->devices[i].device);
        drop(ledger, claim->devices[i].share);
        amounts_release(&ledger->names, &claim->devices[i].consumed);
    }
    heap_free(&ledger->heap, claim->devices, claim->device_count * sizeof *claim->devices);
    drop(ledger, claim->uid);
    drop(ledger, claim->pod);
    drop(ledger, claim->node);
    heap_free(&ledger->heap, claim, sizeof *claim);
}

static void forget(struct ledger *ledger, struct pending_claim *claim) {
    struct provisional *all = &ledger->provisional;
    *(claim->previous == NULL ? &all->oldest : &claim->previous->next) = claim->next;
    *(claim->next == NULL ? &all->newest : &claim->next->previous) = claim->previous;
    index_remove(&all->by_claim, &claim->by_claim);
    if (claim->pod->text.len > 0) index_remove(&all->by_pod, &claim->by_pod);
    for (size_t i = 0; i < claim->device_count; i++)
        index_remove(&all->by_device, &claim->devices[i].by_device);
    all->device_count -= claim->device_count;
    free_claim(ledger, claim);
}

// The first entry of a claim that is for this Pod (NULL: for any), and whose write an event of this version
// ends.
static struct pending_claim *find(const struct ledger *ledger, const struct name *uid, const struct name *pod,
                                  int64_t below_version) {
    for (struct link *link =
             index_first(&ledger->provisional.by_claim, names_hash(ledger->options.seed, &uid, 1));
         link != NULL; link = index_next(link)) {
        struct pending_claim *claim = LINK_OWNER(link, struct pending_claim, by_claim);
        if (claim->uid == uid && (pod == NULL || claim->pod == pod) && claim->version < below_version)
            return claim;
    }
    return NULL;
}

static bool fill_devices(struct ledger *ledger, const struct resource_claim *source,
                         struct pending_claim *claim) {
    const struct allocation_result_list *results = &source->allocation.results;
    size_t room = 0;
    for (size_t i = 0; i < results->count; i++) room += !results->items[i].admin_access.value;
    if (room == 0) return true;
    if (room > PROVISIONAL_MAX - ledger->provisional.device_count) return false;
    claim->devices = heap_alloc(&ledger->heap, room * sizeof *claim->devices);
    if (claim->devices == NULL) return false;
    claim->device_count = room;
    size_t at = 0;
    for (size_t i = 0; i < results->count; i++) {
        const struct allocation_result *result = &results->items[i];
        if (result->admin_access.value) continue;
        struct pending_device *device = &claim->devices[at++];
        device->claim = claim;
        device->driver = take(ledger, result->driver);
        device->pool = take(ledger, result->pool);
        device->device = take(ledger, result->device);
        device->share = take(ledger, result->share_id.set ? result->share_id.value : (struct text){NULL, 0});
        if (device->driver == NULL || device->pool == NULL || device->device == NULL ||
            device->share == NULL ||
            !amounts_copy(&ledger->names, &result->consumed_capacity, &device->consumed) ||
            !index_reserve(&ledger->provisional.by_device))
            return false;
        // Linked at once, so that room for the next one is asked for when this one is counted.
        index_insert(&ledger->provisional.by_device, &device->by_device,
                     device_hash(ledger, device->driver, device->pool, device->device));
        device->linked = true;
    }
    return true;
}

// Takes out of the index what fill_devices got as far as linking.
static void unlink_devices(struct ledger *ledger, struct pending_claim *claim) {
    for (size_t i = 0; i < claim->device_count; i++)
        if (claim->devices[i].linked)
            index_remove(&ledger->provisional.by_device, &claim->devices[i].by_device);
}

bool ledger_let_in(struct ledger *ledger, const struct resource_claim *source, int64_t old_version,
                   struct text pod_uid, struct text node) {
    struct provisional *all = &ledger->provisional;
    provisional_expire(ledger);
    // What was deleted must not come back by a late review of it.
    if (source->metadata.uid.len == 0 || ledger_is_gone(ledger, source->metadata.uid)) return true;
    struct pending_claim *claim = heap_alloc(&ledger->heap, sizeof *claim);
    if (claim == NULL) return false;
    claim->uid = take(ledger, source->metadata.uid);
    claim->pod = take(ledger, pod_uid);
    claim->node = take(ledger, node);
    bool ready = claim->uid != NULL && claim->pod != NULL && claim->node != NULL &&
                 index_reserve(&all->by_claim) && index_reserve(&all->by_pod);
    // A reservation names what was allocated a moment before it as well.
    if (!ready || !fill_devices(ledger, source, claim)) {
        unlink_devices(ledger, claim);
        free_claim(ledger, claim);
        return false;
    }
    // The scheduler tries again: what it wrote before for this Pod, or when it was for none, is replaced.
    struct pending_claim *known = find(ledger, claim->uid, claim->pod, INT64_MAX);
    if (known == NULL) known = find(ledger, claim->uid, ledger->empty, INT64_MAX);
    if (known != NULL) forget(ledger, known);
    claim->version = old_version;
    claim->since_ms = ledger->now_ms;
    claim->previous = all->newest;
    *(all->newest == NULL ? &all->oldest : &all->newest->next) = claim;
    all->newest = claim;
    all->device_count += claim->device_count;
    index_insert(&all->by_claim, &claim->by_claim, names_hash(ledger->options.seed, &claim->uid, 1));
    if (claim->pod->text.len > 0)
        index_insert(&all->by_pod, &claim->by_pod, names_hash(ledger->options.seed, &claim->pod, 1));
    return true;
}

void provisional_seen(struct ledger *ledger, struct text uid, int64_t resource_version, bool deleted) {
    const struct name *name = name_find(&ledger->names, uid);
    struct pending_claim *claim;
    if (name == NULL || ledger->provisional.oldest == NULL) return;
    int64_t below = deleted ? INT64_MAX : resource_version;
    while ((claim = find(ledger, name, NULL, below)) != NULL) forget(ledger, claim);
}

void provisional_expire(struct ledger *ledger) {
    const struct kind_state *claims = &ledger->kinds[KIND_RESOURCE_CLAIM];
    if (!claims->synced || ledger->now_ms - claims->alive_ms > ALIVE_WINDOW_MS) return;
    while (ledger->provisional.oldest != NULL &&
           ledger->now_ms - ledger->provisional.oldest->since_ms >= PROVISIONAL_LIFE_MS)
        forget(ledger, ledger->provisional.oldest);
}

void provisional_release(struct ledger *ledger) {
    struct provisional *all = &ledger->provisional;
    while (all->oldest != NULL) forget(ledger, all->oldest);
    index_release(&all->by_claim);
    index_release(&all->by_pod);
    index_release(&all->by_device);
}

// An entry that is too old but still there does not count, unless the watch is not alive.
static bool counts(const struct ledger *ledger, const struct pending_claim *claim) {
    const struct kind_state *claims = &ledger->kinds[KIND_RESOURCE_CLAIM];
    return ledger->now_ms - claim->since_ms < PROVISIONAL_LIFE_MS || !claims->synced ||
           ledger->now_ms - claims->alive_ms > ALIVE_WINDOW_MS;
}

const struct pending_device *provisional_of_device(const struct ledger *ledger, const struct name *driver,
                                                   const struct name *pool, const struct name *device,
                                                   const struct pending_device *after) {
    struct link *link =
        after == NULL ? index_first(&ledger->provisional.by_device, device_hash(ledger, driver, pool, device))
                      : index_next(&after->by_device);
    for (; link != NULL; link = index_next(link)) {
        const struct pending_device *entry = LINK_OWNER(link, struct pending_device, by_device);
        if (entry->driver == driver && entry->pool == pool && entry->device == device &&
            counts(ledger, entry->claim))
            return entry;
    }
    return NULL;
}

const struct pending_claim *provisional_of_pod(const struct ledger *ledger, const struct name *pod,
                                               const struct pending_claim *after) {
    struct link *link =
        after == NULL ? index_first(&ledger->provisional.by_pod, names_hash(ledger->options.seed, &pod, 1))
                      : index_next(&after->by_pod);
    for (; link != NULL; link = index_next(link)) {
        const struct pending_claim *entry = LINK_OWNER(link, struct pending_claim, by_pod);
        if (entry->pod == pod && counts(ledger, entry)) return entry;
    }
    return NULL;
}

const struct pending_claim *provisional_of_claim(const struct ledger *ledger, const struct name *uid,
                                                 const struct pending_claim *after) {
    struct link *link =
        after == NULL ? index_first(&ledger->provisional.by_claim, names_hash(ledger->options.seed, &uid, 1))
                      : index_next(&after->by_claim);
    for (; link != NULL; link = index_next(link)) {
        const struct pending_claim *entry = LINK_OWNER(link, struct pending_claim, by_claim);
        if (entry->uid == uid && counts(ledger, entry)) return entry;
    }
    return NULL;
}
