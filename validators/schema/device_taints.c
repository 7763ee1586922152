// SPDX-License-Identifier: Apache-2.0
// Taints of a device.
#include "validators/schema/names.h"
#include "validators/schema/slice_check.h"

static bool is_unchanged(const struct device_check *check) {
    if (check->old == NULL) return false;
    const struct device_taint_list *taints = &check->device->taints;
    const struct device_taint_list *old = &check->old->taints;
    if (taints->count != old->count) return false;
    for (size_t i = 0; i < taints->count; i++) {
        const struct device_taint *a = &taints->items[i];
        const struct device_taint *b = &old->items[i];
        if (!text_equal(a->key, b->key) || !text_equal(a->value, b->value) ||
            !text_equal(a->effect, b->effect) || !text_equal(a->time_added, b->time_added))
            return false;
    }
    return true;
}

static void check_effect(struct text effect, const struct path *taint, struct finding_list *findings) {
    if (text_equal(effect, TEXT("NoSchedule")) || text_equal(effect, TEXT("NoExecute")) ||
        text_equal(effect, TEXT("None")))
        return;
    struct path path = path_field(taint, TEXT("effect"));
    if (effect.len == 0)
        finding_add(findings, FINDING_REQUIRED, &path, effect, TEXT("a taint needs an effect"));
    else
        finding_add(findings, FINDING_NOT_SUPPORTED, &path, effect,
                    TEXT("supported values: \"NoExecute\", \"NoSchedule\", \"None\""));
}

void schema_device_taints(const struct device_check *check) {
    const struct device_taint_list *list = &check->device->taints;
    struct finding_list *findings = check->slice->findings;
    if (list->count == 0 || is_unchanged(check)) return;
    struct path taints = path_field(check->path, TEXT("taints"));
    struct path declared = path_field(check->declared_path, TEXT("taints"));
    bool too_many = list->count > DEVICE_TAINTS_MAX_COUNT;
    if (too_many && check->by_hand) schema_too_many(list->count, DEVICE_TAINTS_MAX_COUNT, &taints, findings);
    for (size_t i = 0; i < list->count; i++) {
        const struct device_taint *taint = &list->items[i];
        struct path declared_item = path_index(&declared, i);
        if (!too_many || check->slice->declared) check_effect(taint->effect, &declared_item, findings);
        if (too_many || !check->by_hand) continue;
        struct path item = path_index(&taints, i);
        struct path key = path_field(&item, TEXT("key"));
        struct path value = path_field(&item, TEXT("value"));
        schema_form(why_not_label_key(taint->key), taint->key, &key, findings);
        schema_form(why_not_label_value(taint->value), taint->value, &value, findings);
    }
}
