// SPDX-License-Identifier: Apache-2.0
// Devices that rules about mappings object to. What the rules found is kept with the slice; what follows from
// it is asked of the policy when somebody wants to know, so that a change of the policy counts at once.
#include "server/ledger/state.h"
#include "validators/model/slice_amounts.h"

static bool has_mappings(const struct resource_slice *slice, int minor) {
    for (size_t i = 0; i < slice->devices.count; i++) {
        const struct device *device = &slice->devices.items[i];
        if ((minor < MINOR_37 ? device->mappings_v136 : device->resources_v137).count > 0) return true;
    }
    return false;
}

static bool judge_slice(const struct device_judge *judge, int minor, struct arena *arena,
                        struct ledger_event *event) {
    const struct resource_slice *slice = &event->object->slice;
    struct quantity_map *amounts = arena_zalloc(arena, 1, sizeof *amounts);
    if (amounts == NULL) return false;
    slice_amounts(slice, minor, arena, amounts);
    event->amounts = amounts;
    if (judge == NULL) return !arena->poisoned;
    uint64_t *faults = arena_zalloc(arena, slice->devices.count, sizeof *faults);
    event->faults = faults;
    return faults != NULL && judge->judge(event->object, minor, arena, faults);
}

bool ledger_judge(const struct device_judge *judge, int minor, const struct ledger_event *event,
                  struct arena *arena, struct ledger_event *ret_event) {
    struct ledger_event judged = *event;
    bool concerned = !event->judged && event->object->kind == KIND_RESOURCE_SLICE &&
                     event->type != EVENT_DELETED && event->type != EVENT_BOOKMARK;
    if (concerned && has_mappings(&event->object->slice, minor) && !judge_slice(judge, minor, arena, &judged))
        return false;
    judged.judged = true;
    *ret_event = judged;
    return true;
}

static enum severity severity_named(struct text action, enum severity otherwise) {
    for (int severity = SEVERITY_OFF; severity <= SEVERITY_DENY; severity++)
        if (text_equal(action, text_of(severity_name((enum severity)severity))))
            return (enum severity)severity;
    return otherwise;
}

// Slices are of no namespace, so that what a policy says of namespaces does not concern them.
static bool concerns(const struct ledger_rule *wanted, const char *rule, struct text driver) {
    if (!text_equal(wanted->id, text_of(rule)) || wanted->namespace_selector.set) return false;
    for (size_t i = 0; i < wanted->drivers.count; i++)
        if (text_equal(wanted->drivers.items[i], driver)) return true;
    return wanted->drivers.count == 0;
}

bool rule_denies(const struct ledger *ledger, const struct judge_rule *rule, const struct name *driver) {
    enum severity severity = rule->action;
    if (rule->locked || ledger->policy == NULL) return severity == SEVERITY_DENY;
    const struct ledger_rule_list *rules = &ledger->policy->policy.rules;
    for (size_t i = 0; i < rules->count; i++)
        if (concerns(&rules->items[i], rule->id, driver->text))
            severity = severity_named(rules->items[i].action, severity);
    return severity == SEVERITY_DENY;
}

// ---- NUMA attributes are judged by the spellings in force

static const struct text_list *spellings_of(const struct ledger *ledger) {
    static const struct text_list built_in = {NULL, 0, false};
    return ledger->policy == NULL ? &built_in : &ledger->policy->policy.numa_attributes;
}

// What a shape keeps of attributes, as attributes again.
static bool attributes_of(const struct shape *shape, struct arena *arena,
                          struct device_attribute_map *ret_attributes) {
    static int64_t negative_ids[] = {0, -1};
    static struct attribute_lists negative_list = {.ints = {.items = negative_ids, .count = 2, .set = true}};
    struct device_attribute *items = arena_zalloc(arena, shape->numa_count, sizeof *items);
    if (items == NULL) return false;
    for (size_t i = 0; i < shape->numa_count; i++) {
        const struct shape_numa *numa = &shape->numa[i];
        items[i].key = numa->attribute->text;
        switch (numa->form) {
        case NUMA_NODE: items[i].int_value = (struct opt_int64){.set = true, .value = numa->id}; break;
        case NUMA_LIST_WITH_NEGATIVE: items[i].lists = &negative_list; break;
        case NUMA_NO_NODE: break;
        }
    }
    *ret_attributes = (struct device_attribute_map){.items = items, .count = shape->numa_count};
    return true;
}

static bool policy_is_about_numa(const struct ledger *ledger) {
    if (ledger->policy == NULL) return false;
    const struct ledger_rule_list *rules = &ledger->policy->policy.rules;
    for (size_t i = 0; i < rules->count; i++)
        if (text_starts_with(rules->items[i].id, TEXT("numa-"))) return true;
    return false;
}

static uint64_t numa_faults(const struct ledger *ledger, const struct name *driver, const struct shape *shape,
                            struct arena *arena) {
    struct device_attribute_map attributes = {.items = NULL};
    uint64_t faults = 0;
    // Nearly all devices: what is in order, or absent, is denied by no rule unless a policy says so.
    if (!shape->numa_doubtful && !policy_is_about_numa(ledger)) return 0;
    if (shape->numa_count > 0 && !attributes_of(shape, arena, &attributes)) return 0;
    if (!ledger->options.judge->judge_numa(driver->text, &attributes, spellings_of(ledger), arena, &faults))
        return 0;
    return faults;
}

const char *device_fault(const struct ledger *ledger, const struct slice_entry *slice, size_t index,
                         struct arena *arena) {
    const struct shape *shape = slice->devices[index].shape;
    const struct device_judge *judge = ledger->options.judge;
    const struct name *driver = slice->pool->group->driver;
    if (judge == NULL || shape->mapping_count == 0) return NULL;
    uint64_t faults = slice->faults == NULL ? 0 : slice->faults[index];
    faults |= numa_faults(ledger, driver, shape, arena);
    for (size_t i = 0; faults != 0; i++, faults >>= 1) {
        if ((faults & 1) == 0) continue;
        const struct judge_rule rule = judge->rule(i);
        if (rule.id != NULL && rule_denies(ledger, &rule, driver)) return rule.id;
    }
    return NULL;
}

// ---- devices that the scheduler of 1.36 takes for one another

static const struct device_entry *newest_of_name(const struct pool_entry *pool, const struct name *name) {
    const struct device_entry *found = NULL;
    int64_t generation = -1;
    for (const struct slice_entry *slice = pool->slices; slice != NULL; slice = slice->pool_next) {
        if (slice->generation < generation) continue;
        if (slice->generation > generation) found = NULL;
        generation = slice->generation;
        for (size_t i = 0; i < slice->device_count && found == NULL; i++)
            if (slice->devices[i].name == name) found = &slice->devices[i];
    }
    return found;
}

bool device_is_ambiguous(const struct ledger *ledger, const struct pool_entry *pool,
                         const struct device_entry *device) {
    static const struct judge_rule rule = {"device-ambiguous", SEVERITY_DENY, false};
    if (ledger->minor >= MINOR_37 || pool->node == NULL || device->shape->mapping_count == 0) return false;
    for (const struct pool_entry *other = pool->node->pools; other != NULL; other = other->node_next) {
        if (other == pool || other->group->pool != pool->group->pool) continue;
        const struct device_entry *namesake = newest_of_name(other, device->name);
        if (namesake != NULL && namesake->shape != device->shape)
            return rule_denies(ledger, &rule, pool->group->driver);
    }
    return false;
}
