// SPDX-License-Identifier: Apache-2.0
// Device selectors and tolerations.
#include "validators/schema/device_selector.h"

#include "validators/schema/names.h"

bool schema_count_fits(size_t count, size_t limit, const struct path *path, struct finding_list *findings) {
    if (count <= limit) return true;
    finding_addf(findings, FINDING_TOO_MANY, path, text_format(findings->arena, "%zu", count),
                 "must have no more than %zu items", limit);
    return false;
}

// A CEL compiler finds no expression in blanks.
static bool is_blank(struct text expression) {
    for (size_t i = 0; i < expression.len; i++)
        if (memchr(" \t\n\r\f", expression.ptr[i], 5) == NULL) return false;
    return true;
}

static void check_expression(struct text expression, const struct path *path, struct finding_list *findings) {
    struct path expression_path = path_field(path, TEXT("expression"));
    if (expression.len > CEL_EXPRESSION_MAX_BYTES)
        finding_addf(findings, FINDING_TOO_LONG, &expression_path, (struct text){0},
                     "must be no more than %u bytes, is %zu", CEL_EXPRESSION_MAX_BYTES, expression.len);
    else if (is_blank(expression))
        finding_hint(
            finding_add(findings, FINDING_INVALID, &expression_path, expression, TEXT("is no expression")),
            TEXT("write a CEL expression over `device`, such as device.driver == \"dra.example.com\""));
}

void schema_device_selector_items(const struct device_selector_list *selectors, int minor, bool stored,
                                  const struct path *path, struct finding_list *findings) {
    for (size_t i = 0; i < selectors->count; i++) {
        const struct device_selector *selector = &selectors->items[i];
        struct path item_path = path_index(path, i);
        struct path cel_path = path_field(&item_path, TEXT("cel"));
        if (!selector->cel_set)
            finding_add(findings, FINDING_REQUIRED, &cel_path, (struct text){0}, TEXT("is required"));
        else if (!stored || minor < 37) // what is stored was fine once, since v1.37
            check_expression(selector->expression, &cel_path, findings);
    }
}

void schema_device_selectors(const struct device_selector_list *selectors, int minor, bool stored,
                             const struct path *path, struct finding_list *findings) {
    if (schema_count_fits(selectors->count, DEVICE_SELECTORS_MAX_COUNT, path, findings))
        schema_device_selector_items(selectors, minor, stored, path, findings);
}

void schema_toleration_declared(const struct device_toleration *toleration, const struct path *path,
                                struct finding_list *findings) {
    if (toleration->key.len > 0) {
        struct path key_path = path_field(path, TEXT("key"));
        schema_form(why_not_label_key(toleration->key), toleration->key, &key_path, findings);
    }
    struct text relation = toleration->operator;
    if (relation.len > 0 && !text_equal(relation, TEXT("Equal")) && !text_equal(relation, TEXT("Exists"))) {
        struct path operator_path = path_field(path, TEXT("operator"));
        finding_hint(finding_add(findings, FINDING_NOT_SUPPORTED, &operator_path, relation,
                                 TEXT("not an operator of tolerations")),
                     TEXT("use Equal or Exists"));
    }
    struct text effect = toleration->effect;
    if (effect.len > 0 && !text_equal(effect, TEXT("NoSchedule")) && !text_equal(effect, TEXT("NoExecute")) &&
        !text_equal(effect, TEXT("None"))) {
        struct path effect_path = path_field(path, TEXT("effect"));
        finding_hint(finding_add(findings, FINDING_NOT_SUPPORTED, &effect_path, effect,
                                 TEXT("not an effect of taints")),
                     TEXT("use NoSchedule, NoExecute or None, or leave it out to tolerate all effects"));
    }
}

void schema_toleration_value(const struct device_toleration *toleration, const struct path *path,
                             struct finding_list *findings) {
    struct path value_path = path_field(path, TEXT("value"));
    struct text relation = toleration->operator;
    if (text_equal(relation, TEXT("Exists")) && toleration->value.len > 0)
        finding_add(findings, FINDING_INVALID, &value_path, toleration->value,
                    TEXT("must be empty for the operator Exists"));
    if (relation.len == 0 || text_equal(relation, TEXT("Equal")))
        schema_form(why_not_label_value(toleration->value), toleration->value, &value_path, findings);
}
