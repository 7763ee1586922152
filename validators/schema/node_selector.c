// SPDX-License-Identifier: Apache-2.0
// Node selectors.
#include "validators/schema/node_selector.h"

#include "validators/schema/names.h"

static void check_values_count(const struct node_selector_requirement *requirement, const struct path *path,
                               struct finding_list *findings) {
    struct path values_path = path_field(path, TEXT("values"));
    struct text relation = requirement->operator;
    if (text_equal(relation, TEXT("In")) || text_equal(relation, TEXT("NotIn"))) {
        if (requirement->values.count == 0)
            finding_add(findings, FINDING_REQUIRED, &values_path, (struct text){0},
                        TEXT("the operators In and NotIn need values"));
    } else if (text_equal(relation, TEXT("Exists")) || text_equal(relation, TEXT("DoesNotExist"))) {
        if (requirement->values.count > 0)
            finding_add(findings, FINDING_FORBIDDEN, &values_path, (struct text){0},
                        TEXT("the operators Exists and DoesNotExist take no values"));
    } else if (text_equal(relation, TEXT("Gt")) || text_equal(relation, TEXT("Lt"))) {
        if (requirement->values.count != 1)
            finding_add(findings, FINDING_REQUIRED, &values_path, (struct text){0},
                        TEXT("the operators Gt and Lt need exactly one value"));
    } else {
        struct path operator_path = path_field(path, TEXT("operator"));
        struct finding *finding =
            finding_add(findings, FINDING_INVALID, &operator_path, relation, TEXT("not an operator"));
        finding_hint(finding, TEXT("use In, NotIn, Exists, DoesNotExist, Gt or Lt"));
    }
}

// Source: ValidateNodeSelectorRequirement.
static void check_expression(const struct node_selector_requirement *requirement, const struct path *path,
                             struct finding_list *findings) {
    check_values_count(requirement, path, findings);
    struct path key_path = path_field(path, TEXT("key"));
    schema_form(why_not_label_key(requirement->key), requirement->key, &key_path, findings);
    struct path values_path = path_field(path, TEXT("values"));
    for (size_t i = 0; i < requirement->values.count; i++) {
        struct path value_path = path_index(&values_path, i);
        struct text value = requirement->values.items[i];
        schema_form(why_not_label_value(value), value, &value_path, findings);
    }
}

// Source: ValidateNodeFieldSelectorRequirement.
static void check_field(const struct node_selector_requirement *requirement, const struct path *path,
                        struct finding_list *findings) {
    struct path values_path = path_field(path, TEXT("values"));
    if (text_equal(requirement->operator, TEXT("In")) || text_equal(requirement->operator, TEXT("NotIn"))) {
        if (requirement->values.count != 1)
            finding_add(findings, FINDING_REQUIRED, &values_path, (struct text){0},
                        TEXT("a field is compared with exactly one value"));
    } else {
        struct path operator_path = path_field(path, TEXT("operator"));
        struct finding *finding = finding_add(findings, FINDING_INVALID, &operator_path,
                                              requirement->operator, TEXT("not an operator for fields"));
        finding_hint(finding, TEXT("use In or NotIn"));
    }
    if (!text_equal(requirement->key, TEXT("metadata.name"))) {
        struct path key_path = path_field(path, TEXT("key"));
        struct finding *finding = finding_add(findings, FINDING_INVALID, &key_path, requirement->key,
                                              TEXT("not a field that can be selected by"));
        finding_hint(finding, TEXT("the only such field is metadata.name"));
        return;
    }
    for (size_t i = 0; i < requirement->values.count; i++) {
        struct path value_path = path_index(&values_path, i);
        struct text value = requirement->values.items[i];
        schema_form(why_not_dns1123_subdomain(value), value, &value_path, findings);
    }
}

static void check_term(const struct node_selector_term *term, const struct path *path,
                       struct finding_list *findings) {
    struct path expressions_path = path_field(path, TEXT("matchExpressions"));
    for (size_t i = 0; i < term->match_expressions.count; i++) {
        struct path item_path = path_index(&expressions_path, i);
        check_expression(&term->match_expressions.items[i], &item_path, findings);
    }
    struct path fields_path = path_field(path, TEXT("matchFields"));
    for (size_t i = 0; i < term->match_fields.count; i++) {
        struct path item_path = path_index(&fields_path, i);
        check_field(&term->match_fields.items[i], &item_path, findings);
    }
}

void schema_node_selector(const struct node_selector *selector, const struct path *path,
                          struct finding_list *findings) {
    struct path terms_path = path_field(path, TEXT("nodeSelectorTerms"));
    if (selector->terms.count == 0)
        finding_add(findings, FINDING_REQUIRED, &terms_path, (struct text){0},
                    TEXT("needs at least one node selector term"));
    for (size_t i = 0; i < selector->terms.count; i++) {
        struct path term_path = path_index(&terms_path, i);
        check_term(&selector->terms.items[i], &term_path, findings);
    }
}
