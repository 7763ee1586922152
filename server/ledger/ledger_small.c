// SPDX-License-Identifier: Apache-2.0
// The kinds of which little is kept: Leases, DeviceClasses, Namespaces, DeviceTaintRules. They have one
// outside: found by name, kept in the order of their versions, replaced as a whole.
#include <assert.h>

#include "server/ledger/clock.h"
#include "server/ledger/state.h"

// The part that all have, at the front of each.
struct small {
    struct link by_name;
    const struct name *name;
    const struct name *uid;
    int64_t resource_version;
};

struct small_kind {
    enum object_kind kind;
    struct index *index;
    size_t bytes;
    size_t round; // offset of list_round
    // Fills the rest. Errors: false, memory; release is called then.
    bool (*fill)(struct ledger *ledger, const struct object *object, struct small *fresh,
                 struct small *known);
    void (*entered)(struct small *entry); // after it is linked; NULL: nothing to do
    void (*release)(struct ledger *ledger, struct small *entry);
};

static struct small *small_find(const struct ledger *ledger, const struct index *index, struct text name) {
    const struct name *known = name_find(&ledger->names, name);
    if (known == NULL) return NULL;
    for (struct link *link = index_first(index, names_hash(ledger->options.seed, &known, 1)); link != NULL;
         link = index_next(link)) {
        struct small *entry = LINK_OWNER(link, struct small, by_name);
        if (entry->name == known) return entry;
    }
    return NULL;
}

static uint64_t *round_of(const struct small_kind *kind, struct small *entry) {
    return (uint64_t *)(void *)((char *)entry + kind->round);
}

static void small_free(struct ledger *ledger, const struct small_kind *kind, struct small *entry) {
    kind->release(ledger, entry);
    drop(ledger, entry->name);
    drop(ledger, entry->uid);
    heap_free(&ledger->heap, entry, kind->bytes);
}

static void small_remove(struct ledger *ledger, const struct small_kind *kind, struct small *entry) {
    index_remove(kind->index, &entry->by_name);
    small_free(ledger, kind, entry);
}

static enum ledger_outcome small_apply(struct ledger *ledger, const struct small_kind *kind,
                                       const struct ledger_event *event) {
    const struct object_meta *metadata = object_metadata(event->object);
    struct small *known = small_find(ledger, kind->index, metadata->name);
    enum ledger_outcome outcome = order_of(ledger, known == NULL ? NULL : known->uid,
                                           known == NULL ? 0 : known->resource_version, event);
    uint64_t round = ledger->kinds[kind->kind].list_round;
    if (seen_in_list(outcome, event) && known != NULL) *round_of(kind, known) = round;
    if (outcome != LEDGER_APPLIED) return outcome;
    if (event->type == EVENT_DELETED) {
        if (known == NULL) return gone_unseen(ledger, event);
        if (!tombstone_add(ledger, known->uid, event->resource_version)) return LEDGER_FAILED;
        small_remove(ledger, kind, known);
        return LEDGER_APPLIED;
    }
    struct small *fresh = heap_alloc(&ledger->heap, kind->bytes);
    if (fresh == NULL) return LEDGER_FAILED;
    fresh->name = take(ledger, metadata->name);
    fresh->uid = take(ledger, metadata->uid);
    bool fine = fresh->name != NULL && fresh->uid != NULL &&
                kind->fill(ledger, event->object, fresh, known) && index_reserve(kind->index);
    if (fine && known != NULL && known->uid != fresh->uid)
        fine = tombstone_add(ledger, known->uid, known->resource_version);
    if (!fine) {
        small_free(ledger, kind, fresh);
        return LEDGER_FAILED;
    }
    fresh->resource_version = event->resource_version;
    *round_of(kind, fresh) = round;
    if (known != NULL) index_remove(kind->index, &known->by_name);
    index_insert(kind->index, &fresh->by_name, names_hash(ledger->options.seed, &fresh->name, 1));
    if (kind->entered != NULL) kind->entered(fresh);
    if (known != NULL) small_free(ledger, kind, known);
    return LEDGER_APPLIED;
}

static void small_sweep(struct ledger *ledger, const struct small_kind *kind, uint64_t list_round) {
    size_t bucket = 0;
    struct link *link = index_each(kind->index, &bucket, NULL);
    while (link != NULL) {
        struct small *entry = LINK_OWNER(link, struct small, by_name);
        link = index_each(kind->index, &bucket, link);
        if (*round_of(kind, entry) == list_round) continue;
        swept(ledger, entry->uid, entry->resource_version);
        small_remove(ledger, kind, entry);
    }
}

#define SMALL_KIND(function, type, kind_value, member, entered_function)                                     \
    static struct small_kind function##_kind(struct ledger *ledger) {                                        \
        return (struct small_kind){.kind = (kind_value),                                                     \
                                   .index = &ledger->member,                                                 \
                                   .bytes = sizeof(struct type),                                             \
                                   .round = offsetof(struct type, list_round),                               \
                                   .fill = function##_fill,                                                  \
                                   .entered = (entered_function),                                            \
                                   .release = function##_release};                                           \
    }                                                                                                        \
    enum ledger_outcome function##_apply(struct ledger *ledger, const struct ledger_event *event) {          \
        struct small_kind kind = function##_kind(ledger);                                                    \
        return small_apply(ledger, &kind, event);                                                            \
    }                                                                                                        \
    void function##_sweep(struct ledger *ledger, uint64_t list_round) {                                      \
        struct small_kind kind = function##_kind(ledger);                                                    \
        small_sweep(ledger, &kind, list_round);                                                              \
    }                                                                                                        \
    static_assert(offsetof(struct type, resource_version) == offsetof(struct small, resource_version), "")

// ---- Leases: a node's heartbeat. The clock is ours, so it runs from when a renewal was seen.

static bool lease_fill(struct ledger *ledger, const struct object *object, struct small *fresh,
                       struct small *known) {
    struct lease_entry *lease = (struct lease_entry *)(void *)fresh;
    const struct lease_entry *before = (const struct lease_entry *)(const void *)known;
    lease->renew_time = take(ledger, object->lease.renew_time);
    // Other Leases are of no interest: those of nodes are in a namespace of their own, named as the node.
    lease->node = node_take(ledger, object->lease.metadata.name);
    if (lease->renew_time == NULL || lease->node == NULL) return false;
    int64_t said_ms;
    lease->renewed_ms = ledger->now_ms;
    if (before != NULL && before->renew_time == lease->renew_time)
        lease->renewed_ms = before->renewed_ms;
    else if (before == NULL && time_read_ms(object->lease.renew_time, &said_ms) && said_ms < ledger->now_ms)
        lease->renewed_ms = said_ms;
    return true;
}

static void lease_entered(struct small *entry) {
    struct lease_entry *lease = (struct lease_entry *)(void *)entry;
    lease->node->lease = lease;
}

static void lease_release(struct ledger *ledger, struct small *entry) {
    struct lease_entry *lease = (struct lease_entry *)(void *)entry;
    drop(ledger, lease->renew_time);
    if (lease->node != NULL && lease->node->lease == lease) lease->node->lease = NULL;
    node_drop(ledger, lease->node);
}

SMALL_KIND(lease, lease_entry, KIND_LEASE, leases, lease_entered);

// ---- DeviceClasses: which driver's devices they mean

#define DRIVER_LABEL "drawbridge.dev/driver"

// The common form of a selector: device.driver == "NAME", alone or as a part of a conjunction.
static struct text driver_in_expression(struct text expression) {
    static const struct text head = TEXT_INIT("device.driver");
    for (size_t at = 0; at + head.len <= expression.len; at++) {
        if (!text_starts_with(text_slice(expression, at, expression.len), head)) continue;
        size_t i = at + head.len;
        while (i < expression.len && expression.ptr[i] == ' ') i++;
        if (!text_starts_with(text_slice(expression, i, expression.len), TEXT("=="))) continue;
        i += 2;
        while (i < expression.len && expression.ptr[i] == ' ') i++;
        if (i >= expression.len || (expression.ptr[i] != '"' && expression.ptr[i] != '\'')) continue;
        size_t end = text_find(expression, expression.ptr[i], i + 1);
        if (end < expression.len) return text_slice(expression, i + 1, end);
    }
    return (struct text){NULL, 0};
}

static struct text driver_of_class(const struct device_class *class) {
    for (size_t i = 0; i < class->metadata.labels.count; i++)
        if (text_equal(class->metadata.labels.items[i].key, TEXT(DRIVER_LABEL)))
            return class->metadata.labels.items[i].value;
    for (size_t i = 0; i < class->selectors.count; i++) {
        struct text driver = driver_in_expression(class->selectors.items[i].expression);
        if (driver.len > 0) return driver;
    }
    return (struct text){NULL, 0};
}

static bool class_fill(struct ledger *ledger, const struct object *object, struct small *fresh,
                       struct small *known) {
    (void)known;
    struct class_entry *class = (struct class_entry *)(void *)fresh;
    class->extended_resource = object->device_class.extended_resource_name.set;
    class->driver = take(ledger, driver_of_class(&object->device_class));
    return class->driver != NULL;
}

static void class_release(struct ledger *ledger, struct small *entry) {
    drop(ledger, ((struct class_entry *)(void *)entry)->driver);
}

SMALL_KIND(class, class_entry, KIND_DEVICE_CLASS, classes, NULL);

// ---- Namespaces: their labels

static bool namespace_fill(struct ledger *ledger, const struct object *object, struct small *fresh,
                           struct small *known) {
    (void)known;
    struct namespace_entry *namespace = (struct namespace_entry *)(void *)fresh;
    return labels_copy(ledger, &object->namespace.metadata.labels, &namespace->labels,
                       &namespace->label_count);
}

static void namespace_release(struct ledger *ledger, struct small *entry) {
    struct namespace_entry *namespace = (struct namespace_entry *)(void *)entry;
    labels_release(ledger, namespace->labels, namespace->label_count);
}

SMALL_KIND(namespace, namespace_entry, KIND_NAMESPACE, namespaces, NULL);

// ---- DeviceTaintRules

static bool taint_rule_fill(struct ledger *ledger, const struct object *object, struct small *fresh,
                            struct small *known) {
    (void)known;
    struct taint_rule_entry *entry = (struct taint_rule_entry *)(void *)fresh;
    const struct device_taint_rule *rule = &object->taint_rule;
    entry->driver = take(ledger, rule->driver.value);
    entry->pool = take(ledger, rule->pool.value);
    entry->device = take(ledger, rule->device.value);
    entry->key = take(ledger, rule->taint_key);
    entry->effect = take(ledger, rule->taint_effect);
    return entry->driver != NULL && entry->pool != NULL && entry->device != NULL && entry->key != NULL &&
           entry->effect != NULL;
}

static void taint_rule_release(struct ledger *ledger, struct small *entry) {
    struct taint_rule_entry *rule = (struct taint_rule_entry *)(void *)entry;
    drop(ledger, rule->driver);
    drop(ledger, rule->pool);
    drop(ledger, rule->device);
    drop(ledger, rule->key);
    drop(ledger, rule->effect);
}

SMALL_KIND(taint_rule, taint_rule_entry, KIND_DEVICE_TAINT_RULE, taint_rules, NULL);
