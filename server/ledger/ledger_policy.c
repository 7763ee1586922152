// SPDX-License-Identifier: Apache-2.0
// The LedgerPolicy: a deep copy of the object, and what the ledger itself reads of it.
#include "server/ledger/clock.h"
#include "server/ledger/state.h"

#define POLICY_MEMORY_BYTES ((size_t)16 * 1024 * 1024)
#define POLICY_NAME         "default"

static const struct policy_windows default_windows = {
    .transport_ms = 25000,
    .watch_ms = 150000,
    .grace_ms = 30000,
    .lease_ms = 40000,
    .incomplete_ms = 10000,
    .settle_ms = 10000,
};

const struct policy_windows *policy_windows(const struct ledger *ledger) {
    return ledger->policy == NULL ? &default_windows : &ledger->policy->policy.windows;
}

static void copy_text(struct arena *arena, struct text *text) {
    *text = text_copy(arena, *text);
}

#define COPY_LIST(arena, list)                                                                               \
    ((list)->items = copy_items((arena), (list)->items, (list)->count, sizeof *(list)->items))

static void *copy_items(struct arena *arena, const void *items, size_t count, size_t bytes) {
    void *copy = arena_zalloc(arena, count + 1, bytes);
    if (copy != NULL && count > 0) memcpy(copy, items, count * bytes);
    return copy;
}

static void copy_texts(struct arena *arena, struct text_list *list) {
    if (COPY_LIST(arena, list) == NULL) return;
    for (size_t i = 0; i < list->count; i++) copy_text(arena, &list->items[i]);
}

static void copy_label_selector(struct arena *arena, struct label_selector *selector) {
    if (COPY_LIST(arena, &selector->match_labels) == NULL) return;
    for (size_t i = 0; i < selector->match_labels.count; i++) {
        copy_text(arena, &selector->match_labels.items[i].key);
        copy_text(arena, &selector->match_labels.items[i].value);
    }
    if (COPY_LIST(arena, &selector->match_expressions) == NULL) return;
    for (size_t i = 0; i < selector->match_expressions.count; i++) {
        copy_text(arena, &selector->match_expressions.items[i].key);
        copy_text(arena, &selector->match_expressions.items[i].operator);
        copy_texts(arena, &selector->match_expressions.items[i].values);
    }
}

static void copy_freezes(struct arena *arena, struct freeze_list *freezes) {
    if (COPY_LIST(arena, freezes) == NULL) return;
    for (size_t i = 0; i < freezes->count; i++) {
        struct freeze *freeze = &freezes->items[i];
        struct text *texts[] = {&freeze->driver, &freeze->node, &freeze->namespace, &freeze->reason,
                                &freeze->by,     &freeze->at,   &freeze->expires};
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) copy_text(arena, texts[k]);
    }
}

static void copy_resumes(struct arena *arena, struct resume_list *resumes) {
    if (COPY_LIST(arena, resumes) == NULL) return;
    for (size_t i = 0; i < resumes->count; i++) {
        struct resume *resume = &resumes->items[i];
        struct text *texts[] = {&resume->namespace, &resume->driver, &resume->node,
                                &resume->reason,    &resume->by,     &resume->at};
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) copy_text(arena, texts[k]);
        copy_texts(arena, &resume->accept);
    }
}

static void copy_rules(struct arena *arena, struct ledger_rule_list *rules) {
    if (COPY_LIST(arena, rules) == NULL) return;
    for (size_t i = 0; i < rules->count; i++) {
        copy_text(arena, &rules->items[i].id);
        copy_text(arena, &rules->items[i].action);
        copy_label_selector(arena, &rules->items[i].namespace_selector);
        copy_texts(arena, &rules->items[i].drivers);
    }
}

static struct policy_entry *policy_new(struct ledger *ledger, const struct ledger_policy *source) {
    struct policy_entry *entry = heap_alloc(&ledger->heap, sizeof *entry);
    if (entry == NULL) return NULL;
    struct arena *arena = &entry->arena;
    arena_init(arena, POLICY_MEMORY_BYTES);
    struct ledger_policy *policy = &entry->policy;
    *policy = *source;
    policy->metadata = (struct object_meta){.name = text_copy(arena, source->metadata.name)};
    copy_rules(arena, &policy->rules);
    copy_texts(arena, &policy->canary_namespaces);
    copy_label_selector(arena, &policy->canary_node_selector);
    copy_texts(arena, &policy->gated_classes);
    copy_texts(arena, &policy->numa_attributes);
    copy_texts(arena, &policy->gate_on_divergence);
    copy_freezes(arena, &policy->freezes);
    copy_resumes(arena, &policy->resumes);
    copy_text(arena, &policy->promotion);
    if (!arena->poisoned) return entry;
    arena_release(arena);
    heap_free(&ledger->heap, entry, sizeof *entry);
    return NULL;
}

static void policy_free(struct ledger *ledger, struct policy_entry *entry) {
    if (entry == NULL) return;
    arena_release(&entry->arena);
    heap_free(&ledger->heap, entry, sizeof *entry);
}

// A policy is about all nodes; it changes seldom, so everything is looked at again.
static void look_again(struct ledger *ledger) {
    size_t bucket = 0;
    for (struct link *link = index_each(&ledger->pools, &bucket, NULL); link != NULL;
         link = index_each(&ledger->pools, &bucket, link))
        pool_look_again(ledger, LINK_OWNER(link, struct pool_entry, by_key));
    bucket = 0;
    for (struct link *link = index_each(&ledger->nodes, &bucket, NULL); link != NULL;
         link = index_each(&ledger->nodes, &bucket, link))
        node_touch(ledger, LINK_OWNER(link, struct node_entry, by_name));
}

static void replace_policy(struct ledger *ledger, struct policy_entry *entry, const struct name *uid,
                           int64_t version) {
    policy_free(ledger, ledger->policy);
    drop(ledger, ledger->policy_uid);
    ledger->policy = entry;
    ledger->policy_uid = uid;
    ledger->policy_version = version;
    ledger->policy_round = ledger->kinds[KIND_LEDGER_POLICY].list_round;
    look_again(ledger);
}

enum ledger_outcome policy_apply(struct ledger *ledger, const struct ledger_event *event) {
    const struct ledger_policy *object = &event->object->policy;
    if (!text_equal(object->metadata.name, TEXT(POLICY_NAME))) return LEDGER_IGNORED;
    enum ledger_outcome outcome = order_of(ledger, ledger->policy_uid, ledger->policy_version, event);
    if (outcome == LEDGER_REPEATED) ledger->policy_round = ledger->kinds[KIND_LEDGER_POLICY].list_round;
    if (outcome != LEDGER_APPLIED) return outcome;
    bool known = ledger->policy_uid != NULL;
    if (event->type == EVENT_DELETED) {
        if (!known) return gone_unseen(ledger, event);
        if (!tombstone_add(ledger, ledger->policy_uid, event->resource_version)) return LEDGER_FAILED;
        replace_policy(ledger, NULL, NULL, 0);
        return LEDGER_APPLIED;
    }
    struct policy_entry *entry = policy_new(ledger, object);
    const struct name *uid = take(ledger, object->metadata.uid);
    bool fine = entry != NULL && uid != NULL;
    if (fine && known && uid != ledger->policy_uid)
        fine = tombstone_add(ledger, ledger->policy_uid, ledger->policy_version);
    if (!fine) {
        policy_free(ledger, entry);
        drop(ledger, uid);
        return LEDGER_FAILED;
    }
    replace_policy(ledger, entry, uid, event->resource_version);
    return LEDGER_APPLIED;
}

void policy_sweep(struct ledger *ledger, uint64_t list_round) {
    if (ledger->policy_uid == NULL || ledger->policy_round == list_round) return;
    swept(ledger, ledger->policy_uid, ledger->policy_version);
    replace_policy(ledger, NULL, NULL, 0);
}

bool policy_has_resumes(const struct ledger *ledger) {
    return ledger->policy != NULL && ledger->policy->policy.resumes.count > 0;
}

bool policy_accepts(const struct ledger *ledger, const struct row *row, const struct pool_entry *pool) {
    if (ledger->policy == NULL) return false;
    const struct resume_list *resumes = &ledger->policy->policy.resumes;
    for (size_t i = 0; i < resumes->count; i++) {
        const struct resume *resume = &resumes->items[i];
        int64_t at_ms;
        if (resume->driver.len > 0 && !text_equal(resume->driver, pool->group->driver->text)) continue;
        if (resume->node.len > 0 && (pool->node == NULL || !text_equal(resume->node, pool->node->name->text)))
            continue;
        // What was confirmed is what was to be seen then, not what came later.
        if (time_read_ms(resume->at, &at_ms) && at_ms < pool->changed_ms) continue;
        for (size_t k = 0; k < resume->accept.count; k++)
            if (text_equal(resume->accept.items[k], TEXT("all")) ||
                text_equal(resume->accept.items[k], row->claim->uid->text))
                return true;
    }
    return false;
}
