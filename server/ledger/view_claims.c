// SPDX-License-Identifier: Apache-2.0
// What rules ask about Pods and their claims.
#include "server/ledger/view_answers.h"

static bool is_reserved_for(const struct claim_entry *claim, const struct name *pod_uid) {
    for (size_t i = 0; i < claim->consumer_count; i++)
        if (claim->consumers[i].pod_uid == pod_uid) return true;
    return false;
}

static bool is_pending_for(const struct ledger *ledger, const struct name *claim_uid,
                           const struct name *pod_uid) {
    for (const struct pending_claim *pending = provisional_of_pod(ledger, pod_uid, NULL); pending != NULL;
         pending = provisional_of_pod(ledger, pod_uid, pending))
        if (pending->uid == claim_uid) return true;
    return false;
}

static void add_driver(struct arena *arena, struct text_list *drivers, const struct name *driver) {
    for (size_t i = 0; i < drivers->count; i++)
        if (text_equal(drivers->items[i], driver->text)) return;
    struct text *text = LIST_APPEND(arena, drivers);
    if (text != NULL) *text = driver->text;
}

static bool claim_is_gated(const struct ledger *ledger, const struct claim_entry *claim) {
    for (size_t i = 0; i < claim->class_count; i++) {
        struct view_class known = {.gated = false};
        if (answer_device_class(ledger, claim->classes[i]->text, &known) == VIEW_KNOWN && known.gated)
            return true;
    }
    return false;
}

static void fill_claim(const struct ledger *ledger, const struct pod_entry *pod,
                       const struct claim_entry *claim, struct arena *arena, struct view_pod_claim *view) {
    view->uid = claim->uid->text;
    view->gated = claim_is_gated(ledger, claim);
    view->allocated = claim->allocated;
    view->written = is_reserved_for(claim, pod->uid) || claim_is_for_group_of(claim, pod) ||
                    is_pending_for(ledger, claim->uid, pod->uid);
    for (size_t i = 0; i < claim->row_count; i++)
        add_driver(arena, &view->drivers, claim->rows[i]->group->driver);
    for (size_t i = 0; claim->row_count == 0 && i < claim->class_count; i++) {
        const struct class_entry *found = class_find(ledger, claim->classes[i]);
        if (found != NULL && found->driver != ledger->empty) add_driver(arena, &view->drivers, found->driver);
    }
}

static enum view_answer fill_pod(const struct ledger *ledger, const struct pod_entry *pod,
                                 struct arena *arena, struct view_pod *ret_pod) {
    struct view_pod view = {.namespace = pod->namespace->text,
                            .name = pod->name->text,
                            .uid = pod->uid->text,
                            .live = pod->live,
                            .claim_count = pod->claim_count};
    const struct node_entry *node = pod->node != NULL ? pod->node : pod->nominated;
    if (node != NULL) view.node = node->name->text;
    view.claims = arena_zalloc(arena, pod->claim_count + 1, sizeof *view.claims);
    if (view.claims == NULL) return VIEW_NOT_FOUND;
    for (size_t i = 0; i < pod->claim_count; i++) {
        view.claims[i].reference_count = pod->claims[i].reference_count;
        if (pod->claims[i].claim == NULL || pod->claims[i].claim == ledger->empty) continue;
        view.claims[i].name = pod->claims[i].claim->text;
        const struct claim_entry *claim = claim_find(ledger, pod->namespace, pod->claims[i].claim);
        if (claim != NULL) fill_claim(ledger, pod, claim, arena, &view.claims[i]);
    }
    *ret_pod = view;
    return VIEW_KNOWN;
}

enum view_answer answer_pod(const void *state, struct text uid, struct arena *arena,
                            struct view_pod *ret_pod) {
    const struct ledger *ledger = state;
    const struct name *name = name_find(&ledger->names, uid);
    const struct pod_entry *pod = name == NULL ? NULL : pod_by_uid(ledger, name);
    if (pod == NULL) return ledger->kinds[KIND_POD].synced ? VIEW_NOT_FOUND : VIEW_NOT_SYNCED;
    return fill_pod(ledger, pod, arena, ret_pod);
}

static bool names_claim(const struct pod_entry *pod, struct text claim) {
    for (size_t i = 0; i < pod->claim_count; i++)
        if (pod->claims[i].claim != NULL && text_equal(pod->claims[i].claim->text, claim)) return true;
    return false;
}

enum view_answer answer_group_pod(const void *state, struct text namespace, struct text group,
                                  struct text claim, struct arena *arena, struct view_pod *ret_pod) {
    const struct ledger *ledger = state;
    const struct name *space = name_find(&ledger->names, namespace);
    const struct name *name = name_find(&ledger->names, group);
    const struct pod_entry *chosen = NULL;
    bool agree = true;
    if (space == NULL || name == NULL || name == ledger->empty) return VIEW_NOT_FOUND;
    for (struct link *link = index_first(&ledger->pods_by_group, pod_group_hash(ledger, space, name));
         link != NULL; link = index_next(link)) {
        const struct pod_entry *pod = LINK_OWNER(link, struct pod_entry, by_group);
        if (pod->group != name || pod->namespace != space || !pod->live || pod->node != NULL ||
            !names_claim(pod, claim))
            continue;
        if (chosen != NULL && chosen->nominated != NULL && pod->nominated != NULL &&
            pod->nominated != chosen->nominated)
            agree = false;
        if (chosen == NULL || (chosen->nominated == NULL && pod->nominated != NULL)) chosen = pod;
    }
    if (chosen == NULL) return VIEW_NOT_FOUND;
    struct view_pod pod;
    if (fill_pod(ledger, chosen, arena, &pod) != VIEW_KNOWN) return VIEW_NOT_FOUND;
    if (!agree) pod.node = (struct text){NULL, 0};
    *ret_pod = pod;
    return VIEW_KNOWN;
}

// A claim that other Pods of the group consume was not written for this one.
static bool is_used_by_others(const struct ledger *ledger, const struct claim_entry *claim,
                              const struct name *pod_uid) {
    for (size_t i = 0; i < claim->consumer_count; i++) {
        const struct pod_entry *pod = pod_by_uid(ledger, claim->consumers[i].pod_uid);
        if (pod != NULL && pod->live && pod->uid != pod_uid) return true;
    }
    return false;
}

// Whether a claim of the Pod was let in a moment ago for something that is no Pod: its PodGroup.
static bool is_pending_for_group(const struct ledger *ledger, const struct pod_entry *pod,
                                 struct text without_claim) {
    for (size_t i = 0; i < pod->claim_count && pod->group != ledger->empty; i++) {
        const struct name *name = pod->claims[i].claim;
        const struct claim_entry *claim = name == NULL ? NULL : claim_find(ledger, pod->namespace, name);
        if (claim == NULL || text_equal(claim->uid->text, without_claim)) continue;
        for (const struct pending_claim *pending = provisional_of_claim(ledger, claim->uid, NULL);
             pending != NULL; pending = provisional_of_claim(ledger, claim->uid, pending))
            if (pending->pod != ledger->empty && pod_by_uid(ledger, pending->pod) == NULL) return true;
    }
    return false;
}

enum view_answer answer_pod_has_claim(const void *state, struct text pod_uid, struct text without_claim,
                                      bool *ret_has) {
    const struct ledger *ledger = state;
    const struct name *uid = pod_uid.len == 0 ? NULL : name_find(&ledger->names, pod_uid);
    if (uid == NULL) return VIEW_NOT_FOUND;
    *ret_has = false;
    for (struct link *link = index_first(&ledger->consumers, names_hash(ledger->options.seed, &uid, 1));
         link != NULL; link = index_next(link)) {
        const struct consumer *consumer = LINK_OWNER(link, struct consumer, by_pod);
        if (consumer->pod_uid != uid || text_equal(consumer->claim->uid->text, without_claim)) continue;
        if (!consumer->by_group || !is_used_by_others(ledger, consumer->claim, uid)) *ret_has = true;
    }
    const struct pod_entry *pod = pod_by_uid(ledger, uid);
    if (pod != NULL && is_pending_for_group(ledger, pod, without_claim)) *ret_has = true;
    for (const struct pending_claim *pending = provisional_of_pod(ledger, uid, NULL); pending != NULL;
         pending = provisional_of_pod(ledger, uid, pending))
        if (!text_equal(pending->uid->text, without_claim)) *ret_has = true;
    return VIEW_KNOWN;
}

enum view_answer answer_consumers(const void *state, const struct object_meta *metadata,
                                  struct text without_pod, struct arena *arena,
                                  struct view_consumer_list *ret_consumers) {
    const struct ledger *ledger = state;
    const struct name *namespace = name_find(&ledger->names, metadata->namespace);
    const struct name *name = name_find(&ledger->names, metadata->name);
    const struct claim_entry *claim =
        namespace == NULL || name == NULL ? NULL : claim_find(ledger, namespace, name);
    struct view_consumer_list list = {NULL, 0};
    if (claim == NULL || !text_equal(claim->uid->text, metadata->uid)) return VIEW_NOT_FOUND;
    for (size_t i = 0; i < claim->consumer_count; i++) {
        const struct pod_entry *pod = pod_by_uid(ledger, claim->consumers[i].pod_uid);
        if (pod == NULL || !pod->live || text_equal(pod->uid->text, without_pod)) continue;
        struct view_consumer *consumer = LIST_APPEND(arena, &list);
        if (consumer == NULL) return VIEW_NOT_FOUND;
        const struct node_entry *node = consumer_node(claim, pod);
        *consumer = (struct view_consumer){.pod_uid = pod->uid->text};
        if (node != NULL) consumer->node = node->name->text;
    }
    *ret_consumers = list;
    return VIEW_KNOWN;
}

static void fill_classes(const struct ledger *ledger, const struct name *const *classes, size_t count,
                         struct arena *arena, struct view_pod_claim *view) {
    for (size_t i = 0; i < count; i++) {
        struct view_class known = {.gated = false};
        if (answer_device_class(ledger, classes[i]->text, &known) != VIEW_KNOWN || !known.gated) continue;
        view->gated = true;
        const struct name *driver = name_find(&ledger->names, known.driver);
        if (driver != NULL && driver != ledger->empty) add_driver(arena, &view->drivers, driver);
    }
}

// A claim that is used on several nodes serves one Pod on each of them in 1.36.
static bool is_for_one(const struct ledger *ledger, const struct claim_entry *claim) {
    if (ledger->minor < MINOR_37 && claim->exact == NULL) return false;
    for (size_t i = 0; i < claim->row_count; i++) {
        const struct shape *shape = claim->rows[i]->shape;
        for (size_t k = 0; shape != NULL && k < shape->mapping_count; k++)
            if (shape->mappings[k].mapped) return true;
    }
    return false;
}

enum view_answer answer_named_claim(const void *state, struct text namespace, struct text name,
                                    bool is_template, struct arena *arena, struct view_pod_claim *ret_claim) {
    const struct ledger *ledger = state;
    const struct name *space = name_find(&ledger->names, namespace);
    const struct name *known = name_find(&ledger->names, name);
    bool named = space != NULL && known != NULL;
    struct view_pod_claim view = {.name = name};
    if (is_template) {
        const struct template_entry *template = named ? template_find(ledger, space, known) : NULL;
        if (template == NULL)
            return ledger->kinds[KIND_RESOURCE_CLAIM_TEMPLATE].synced ? VIEW_NOT_FOUND : VIEW_NOT_SYNCED;
        fill_classes(ledger, template->classes, template->class_count, arena, &view);
        *ret_claim = view;
        return VIEW_KNOWN;
    }
    const struct claim_entry *claim = named ? claim_find(ledger, space, known) : NULL;
    if (claim == NULL) return ledger->kinds[KIND_RESOURCE_CLAIM].synced ? VIEW_NOT_FOUND : VIEW_NOT_SYNCED;
    view.uid = claim->uid->text;
    view.allocated = claim->allocated;
    view.for_one = is_for_one(ledger, claim);
    fill_classes(ledger, claim->classes, claim->class_count, arena, &view);
    *ret_claim = view;
    return VIEW_KNOWN;
}
