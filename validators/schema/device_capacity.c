// SPDX-License-Identifier: Apache-2.0
// Capacity of a device: names, and the policy of requests where the device may be shared.
#include "validators/schema/key_index.h"
#include "validators/schema/names.h"
#include "validators/schema/slice_check.h"

static const struct text NO_VALUE = {"", 0};

struct policy_check {
    int minor;
    bool fractional;
    struct quantity capacity;
    const struct capacity_request_policy *policy;
    const struct path *path;
    struct finding_list *findings;
};

static void invalid(const struct policy_check *check, const struct path *path, struct quantity value,
                    struct text detail) {
    finding_add(check->findings, FINDING_INVALID, path, quantity_text(check->findings->arena, value), detail);
}

// 10^scale modulo 2^64.
static uint64_t power_of_ten(int32_t scale) {
    uint64_t power = 1;
    for (int32_t i = 0; i < scale && power != 0; i++) power *= 10;
    return power;
}

#define NANO_PER_UNIT 1000000000
#define NANO_DIGITS   9

// What Go's Quantity.Value() returns, also where it does not fit. An int64 with a scale that is no multiple
// of its suffixes becomes 0. A big decimal, which Go holds in nano, is cut to its low 64 bits: a positive one
// after it was divided, a negative one before. Source: k8s.io/apimachinery v0.36.3
// pkg/api/resource/{amount,math,scale_int}.go, AsScaledInt64, scaledValue.
static int64_t go_value(struct quantity q) {
    int64_t value;
    if (q.digits_lost) return 0;
    if (q.decimal && q.unscaled < 0) {
        int64_t nano = (int64_t)((uint64_t)q.unscaled * power_of_ten(q.scale + NANO_DIGITS));
        return nano / NANO_PER_UNIT + (nano % NANO_PER_UNIT != 0);
    }
    if (quantity_value(q, &value)) return value;
    if (!q.decimal && q.scale != 1 && q.scale != 2 && q.scale != 3 && q.scale != 6 && q.scale != 9) return 0;
    __int128 whole = q.unscaled;
    bool rest = false;
    for (int32_t i = q.scale; i < 0; i++) {
        rest = rest || whole % 10 != 0;
        whole /= 10;
    }
    return (int64_t)((uint64_t)whole * power_of_ten(q.scale) + rest);
}

// Values are duplicates when they are the same whole number: fractions only count with the feature
// DRAFractionalCapacityRange.
static bool is_duplicate(const struct policy_check *check, struct quantity a, struct quantity b) {
    return check->fractional ? quantity_compare(a, b) == 0 : go_value(a) == go_value(b);
}

static void check_duplicate_values(const struct policy_check *check, const struct path *path) {
    const struct quantity_list *list = &check->policy->valid_values;
    for (size_t i = 1; i < list->count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (!is_duplicate(check, list->items[j], list->items[i])) continue;
            struct path item = path_index(path, i);
            finding_add(check->findings, FINDING_DUPLICATE, &item,
                        quantity_text(check->findings->arena, list->items[i]),
                        check->fractional ? TEXT("is the same number as a value before")
                                          : TEXT("is the same whole number as a value before"));
            break;
        }
    }
}

static void check_valid_values(const struct policy_check *check) {
    const struct quantity_list *list = &check->policy->valid_values;
    struct quantity standard = check->policy->default_value;
    struct path path = path_field(check->path, TEXT("validValues"));
    for (size_t i = 1; i < list->count; i++) {
        if (quantity_compare(list->items[i - 1], list->items[i]) <= 0) continue;
        struct path item = path_index(&path, i);
        invalid(check, &item, list->items[i], TEXT("values must be sorted in ascending order"));
    }
    bool found = false;
    if (list->count > REQUEST_POLICY_VALUES_MAX_COUNT) {
        schema_too_many(list->count, REQUEST_POLICY_VALUES_MAX_COUNT, &path, check->findings);
    } else {
        for (size_t i = 0; i < list->count; i++) {
            found = found || quantity_compare(list->items[i], standard) == 0;
            if (quantity_compare(list->items[i], check->capacity) <= 0) continue;
            struct path item = path_index(&path, i);
            invalid(check, &item, list->items[i], TEXT("option is larger than the capacity's value"));
        }
        check_duplicate_values(check, &path);
    }
    if (!found)
        invalid(check, &path, standard, TEXT("default value is not valid according to the requestPolicy"));
}

static void check_limits(const struct policy_check *check, const struct path *path) {
    const struct capacity_request_policy_range *range = &check->policy->valid_range;
    struct quantity standard = check->policy->default_value;
    struct path min = path_field(path, TEXT("min"));
    struct path max = path_field(path, TEXT("max"));
    struct path default_path = path_field(path, TEXT("default"));
    bool newer = check->minor >= MINOR_37; // names the default, not the limit that it breaks
    if (quantity_compare(range->min, check->capacity) > 0)
        invalid(check, &min, range->min, TEXT("min is larger than the capacity's value"));
    if (quantity_compare(standard, range->min) < 0)
        invalid(check, newer ? &default_path : &min, standard, TEXT("default is less than min"));
    if (!range->max.set) return;
    if (quantity_compare(range->min, range->max) > 0)
        invalid(check, &max, range->min, TEXT("min is larger than max"));
    if (quantity_compare(range->max, check->capacity) > 0)
        invalid(check, &max, range->max, TEXT("max is larger than the capacity's value"));
    if (quantity_compare(standard, range->max) > 0)
        invalid(check, newer ? &default_path : &max, standard, TEXT("default is more than max"));
}

// Source: v1.37.2 validateInt64Range. True when Value() can be trusted.
static bool check_int64_range(const struct policy_check *check, struct quantity quantity, struct text field,
                              const struct path *range) {
    struct quantity limit = quantity_from_int64(INT64_MAX, QUANTITY_DECIMAL_SI);
    bool negative = quantity_sign(quantity) < 0;
    if (!quantity.set || (!negative && quantity_compare(quantity, limit) <= 0)) return true;
    struct path path = path_field(range, field);
    invalid(check, &path, quantity,
            negative ? TEXT("must be greater than or equal to 0")
                     : TEXT("must not be larger than 9223372036854775807"));
    return false;
}

// Source: validateRequestPolicyRangeStep. All arithmetic wraps, as Go's does.
static void check_multiple(const struct policy_check *check, struct quantity value, int64_t step,
                           const struct path *path) {
    int64_t difference =
        (int64_t)((uint64_t)go_value(value) - (uint64_t)go_value(check->policy->valid_range.min));
    if (step == -1 || difference % step == 0) return;
    invalid(check, path, value, TEXT("value is not a multiple of the given step from min"));
}

static bool has_fractions(const struct capacity_request_policy *policy) {
    const struct capacity_request_policy_range *range = &policy->valid_range;
    return !quantity_is_whole(policy->default_value) || !quantity_is_whole(range->min) ||
           !quantity_is_whole(range->step) || (range->max.set && !quantity_is_whole(range->max));
}

static void check_step(const struct policy_check *check, const struct path *range_path) {
    const struct capacity_request_policy_range *range = &check->policy->valid_range;
    struct quantity standard = check->policy->default_value;
    struct path path = path_field(range_path, TEXT("step"));
    bool newer = check->minor >= MINOR_37;
    if (newer && quantity_sign(range->step) <= 0) {
        invalid(check, &path, range->step, TEXT("must be greater than zero"));
        return;
    }
    if (quantity_compare(quantity_add(range->min, range->step), check->capacity) > 0)
        invalid(check, &path, range->step, TEXT("min and one step are larger than the capacity's value"));
    if (check->fractional && has_fractions(check->policy)) return;
    if (newer) {
        bool safe = check_int64_range(check, standard, TEXT("default"), range_path);
        safe = check_int64_range(check, range->min, TEXT("min"), range_path) && safe;
        safe = check_int64_range(check, range->max, TEXT("max"), range_path) && safe;
        safe = check_int64_range(check, range->step, TEXT("step"), range_path) && safe;
        if (!safe) return;
    }
    int64_t step = go_value(range->step);
    if (step == 0) { // the API server of v1.36 divides by it and answers 500
        struct finding *finding = finding_add(check->findings, FINDING_INTERNAL, &path,
                                              quantity_text(check->findings->arena, range->step),
                                              TEXT("the API server of this version fails on a step of zero"));
        finding_hint(finding, TEXT("give a step greater than zero"));
        return;
    }
    check_multiple(check, standard, step, &path);
    if (range->max.set) check_multiple(check, range->max, step, &path);
}

static void check_valid_range(const struct policy_check *check) {
    struct path path = path_field(check->path, TEXT("validRange"));
    if (!check->policy->valid_range.min.set) {
        struct path min = path_field(&path, TEXT("min"));
        finding_add(check->findings, FINDING_REQUIRED, &min, NO_VALUE,
                    TEXT("required when validRange is defined"));
        return;
    }
    check_limits(check, &path);
    if (check->policy->valid_range.step.set) check_step(check, &path);
}

static void check_policy(const struct policy_check *check) {
    const struct capacity_request_policy *policy = check->policy;
    bool values = policy->valid_values.count > 0;
    if (values && policy->valid_range.set) {
        finding_add(check->findings, FINDING_FORBIDDEN, check->path, NO_VALUE,
                    TEXT("exactly one policy can be specified, cannot specify `validValues` and "
                         "`validRange` at the same time"));
        return;
    }
    if (!values && !policy->valid_range.set) return;
    if (!policy->default_value.set) {
        struct path path = path_field(check->path, TEXT("default"));
        finding_add(check->findings, FINDING_REQUIRED, &path, NO_VALUE,
                    values ? TEXT("required when validValues is defined")
                           : TEXT("required when validRange is defined"));
    } else if (values) {
        check_valid_values(check);
    } else {
        check_valid_range(check);
    }
}

static bool same_quantity(struct quantity a, struct quantity b) {
    return a.set == b.set && (!a.set || quantity_compare(a, b) == 0);
}

static bool same_policy(const struct capacity_request_policy *a, const struct capacity_request_policy *b) {
    if (a == NULL || b == NULL) return a == b;
    if (a->valid_values.count != b->valid_values.count || a->valid_range.set != b->valid_range.set)
        return false;
    for (size_t i = 0; i < a->valid_values.count; i++)
        if (quantity_compare(a->valid_values.items[i], b->valid_values.items[i]) != 0) return false;
    return same_quantity(a->default_value, b->default_value) &&
           same_quantity(a->valid_range.min, b->valid_range.min) &&
           same_quantity(a->valid_range.max, b->valid_range.max) &&
           same_quantity(a->valid_range.step, b->valid_range.step);
}

// Source: v1.37.2 validateDevice: unchanged capacity is not looked at again.
static bool is_unchanged(const struct device_check *check) {
    if (check->old == NULL || check->slice->minor < MINOR_37) return false;
    const struct device_capacity_map *map = &check->device->capacity;
    const struct device_capacity_map *old = &check->old->capacity;
    if (map->count != old->count) return false;
    struct key_index keys;
    key_index_init(&keys, check->slice->findings->arena, old->count);
    for (size_t i = 0; i < old->count; i++) key_index_add(&keys, 0, old->items[i].key, i);
    key_index_sort(&keys, check->slice->findings->arena);
    for (size_t i = 0; i < map->count; i++) {
        size_t at = key_index_first(&keys, 0, map->items[i].key);
        if (at == KEY_INDEX_NONE || quantity_compare(map->items[i].value, old->items[at].value) != 0 ||
            !same_policy(map->items[i].request_policy, old->items[at].request_policy))
            return false;
    }
    return true;
}

void schema_device_capacity(const struct device_check *check) {
    const struct device_capacity_map *map = &check->device->capacity;
    struct finding_list *findings = check->slice->findings;
    if (map->count == 0 || is_unchanged(check)) return;
    struct opt_bool shared = check->device->allow_multiple_allocations;
    struct path capacity = path_field(check->path, TEXT("capacity"));
    for (size_t i = 0; i < map->count; i++) {
        const struct device_capacity *item = &map->items[i];
        schema_qualified_name(item->key, &capacity, findings);
        if (item->request_policy == NULL) continue;
        struct path path = path_key(&capacity, schema_shown_key(item->key, findings->arena));
        struct path policy = path_field(&path, TEXT("requestPolicy"));
        if (shared.set && shared.value) {
            check_policy(&(struct policy_check){.minor = check->slice->minor,
                                                .fractional = check->slice->fractional_ranges,
                                                .capacity = item->value,
                                                .policy = item->request_policy,
                                                .path = &policy,
                                                .findings = findings});
        } else {
            finding_add(findings, FINDING_FORBIDDEN, &policy, NO_VALUE,
                        TEXT("allowMultipleAllocations must be true"));
        }
    }
}
