// SPDX-License-Identifier: Apache-2.0
// ResourceClaimTemplates: which device classes their claims will ask for.
#include "server/ledger/state.h"

static uint64_t template_hash(const struct ledger *ledger, const struct name *namespace,
                              const struct name *name) {
    const struct name *key[] = {namespace, name};
    return names_hash(ledger->options.seed, key, 2);
}

struct template_entry *template_find(const struct ledger *ledger, const struct name *namespace,
                                     const struct name *name) {
    for (struct link *link = index_first(&ledger->templates, template_hash(ledger, namespace, name));
         link != NULL; link = index_next(link)) {
        struct template_entry *found = LINK_OWNER(link, struct template_entry, by_name);
        if (found->namespace == namespace && found->name == name) return found;
    }
    return NULL;
}

static void template_free(struct ledger *ledger, struct template_entry *entry) {
    for (size_t i = 0; i < entry->class_count; i++) drop(ledger, entry->classes[i]);
    heap_free(&ledger->heap, entry->classes, entry->class_count * sizeof *entry->classes);
    drop(ledger, entry->namespace);
    drop(ledger, entry->name);
    drop(ledger, entry->uid);
    heap_free(&ledger->heap, entry, sizeof *entry);
}

static void template_remove(struct ledger *ledger, struct template_entry *entry) {
    index_remove(&ledger->templates, &entry->by_name);
    template_free(ledger, entry);
}

static size_t count_requests(const struct device_claim *devices) {
    size_t count = 0;
    for (size_t i = 0; i < devices->requests.count; i++) {
        const struct device_request *request = &devices->requests.items[i];
        count += (request->exactly != NULL) + request->first_available.count;
    }
    return count;
}

static bool make_classes(struct ledger *ledger, const struct device_claim *devices,
                         struct template_entry *entry) {
    size_t count = count_requests(devices);
    if (count == 0) return true;
    entry->classes = heap_alloc(&ledger->heap, count * sizeof *entry->classes);
    if (entry->classes == NULL) return false;
    entry->class_count = count;
    size_t at = 0;
    for (size_t i = 0; i < devices->requests.count; i++) {
        const struct device_request *request = &devices->requests.items[i];
        if (request->exactly != NULL)
            entry->classes[at++] = take(ledger, request->exactly->device_class_name);
        for (size_t k = 0; k < request->first_available.count; k++)
            entry->classes[at++] = take(ledger, request->first_available.items[k].device_class_name);
    }
    for (size_t i = 0; i < count; i++)
        if (entry->classes[i] == NULL) return false;
    return true;
}

enum ledger_outcome template_apply(struct ledger *ledger, const struct ledger_event *event) {
    const struct resource_claim_template *object = &event->object->claim_template;
    const struct name *namespace = name_find(&ledger->names, object->metadata.namespace);
    const struct name *name = name_find(&ledger->names, object->metadata.name);
    struct template_entry *known =
        namespace == NULL || name == NULL ? NULL : template_find(ledger, namespace, name);
    enum ledger_outcome outcome = order_of(ledger, known == NULL ? NULL : known->uid,
                                           known == NULL ? 0 : known->resource_version, event);
    uint64_t round = ledger->kinds[KIND_RESOURCE_CLAIM_TEMPLATE].list_round;
    if (seen_in_list(outcome, event) && known != NULL) known->list_round = round;
    if (outcome != LEDGER_APPLIED) return outcome;
    if (event->type == EVENT_DELETED) {
        if (known == NULL) return LEDGER_REPEATED;
        if (!tombstone_add(ledger, known->uid, event->resource_version)) return LEDGER_FAILED;
        template_remove(ledger, known);
        return LEDGER_APPLIED;
    }
    struct template_entry *fresh = heap_alloc(&ledger->heap, sizeof *fresh);
    if (fresh == NULL) return LEDGER_FAILED;
    fresh->namespace = take(ledger, object->metadata.namespace);
    fresh->name = take(ledger, object->metadata.name);
    fresh->uid = take(ledger, object->metadata.uid);
    bool fine = fresh->namespace != NULL && fresh->name != NULL && fresh->uid != NULL &&
                make_classes(ledger, &object->devices, fresh) && index_reserve(&ledger->templates);
    if (fine && known != NULL && known->uid != fresh->uid)
        fine = tombstone_add(ledger, known->uid, known->resource_version);
    if (!fine) {
        template_free(ledger, fresh);
        return LEDGER_FAILED;
    }
    if (known != NULL) template_remove(ledger, known);
    fresh->resource_version = event->resource_version;
    fresh->list_round = round;
    index_insert(&ledger->templates, &fresh->by_name, template_hash(ledger, fresh->namespace, fresh->name));
    return LEDGER_APPLIED;
}

void template_sweep(struct ledger *ledger, uint64_t list_round) {
    size_t bucket = 0;
    struct link *link = index_each(&ledger->templates, &bucket, NULL);
    while (link != NULL) {
        struct template_entry *entry = LINK_OWNER(link, struct template_entry, by_name);
        link = index_each(&ledger->templates, &bucket, link);
        if (entry->list_round != list_round) template_remove(ledger, entry);
    }
}
