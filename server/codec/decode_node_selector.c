// SPDX-License-Identifier: Apache-2.0
// NodeSelector. Source: k8s.io/api v0.36.3 core/v1/types.go, NodeSelector.
#include "server/codec/decode_parts.h"

enum { REQUIREMENT_KEY, REQUIREMENT_OPERATOR, REQUIREMENT_VALUES };
static const struct json_name requirement_names[] = {
    [REQUIREMENT_KEY] = JSON_NAME("key"),
    [REQUIREMENT_OPERATOR] = JSON_NAME("operator"),
    [REQUIREMENT_VALUES] = JSON_NAME("values"),
};
static const struct json_fields REQUIREMENT = JSON_FIELDS(requirement_names);

static void decode_requirement(struct json_reader *reader, struct node_selector_requirement *requirement) {
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &REQUIREMENT, &seen, &field)) switch (field) {
        case REQUIREMENT_KEY: json_text(reader, &requirement->key); break;
        case REQUIREMENT_OPERATOR: json_text(reader, &requirement->operator); break;
        case REQUIREMENT_VALUES: decode_text_list(reader, &requirement->values); break;
        }
}

static void decode_requirements(struct json_reader *reader,
                                struct node_selector_requirement_list *requirements) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct node_selector_requirement *requirement = JSON_APPEND(reader, requirements);
        if (requirement == NULL) return;
        decode_requirement(reader, requirement);
    }
}

enum { TERM_EXPRESSIONS, TERM_FIELDS };
static const struct json_name term_names[] = {
    [TERM_EXPRESSIONS] = JSON_NAME("matchExpressions"),
    [TERM_FIELDS] = JSON_NAME("matchFields"),
};
static const struct json_fields TERM = JSON_FIELDS(term_names);

static void decode_terms(struct json_reader *reader, struct node_selector_term_list *terms) {
    struct json_iterator iterator = {0};
    while (json_element(reader, &iterator)) {
        struct node_selector_term *term = JSON_APPEND(reader, terms);
        if (term == NULL) return;
        uint64_t seen = JSON_BEGIN;
        unsigned field;
        while (json_field(reader, &TERM, &seen, &field))
            decode_requirements(reader,
                                field == TERM_EXPRESSIONS ? &term->match_expressions : &term->match_fields);
    }
}

static const struct json_name selector_names[] = {JSON_NAME("nodeSelectorTerms")};
static const struct json_fields SELECTOR = JSON_FIELDS(selector_names);

const struct node_selector *decode_node_selector(struct json_reader *reader) {
    if (json_null(reader)) return NULL;
    struct node_selector *selector = json_new(reader, sizeof *selector);
    if (selector == NULL) return NULL;
    const char *begin = json_place(reader);
    uint64_t seen = JSON_BEGIN;
    unsigned field;
    while (json_field(reader, &SELECTOR, &seen, &field)) decode_terms(reader, &selector->terms);
    selector->set = true;
    selector->raw = (struct text){begin, (size_t)(json_place(reader) - begin)};
    return selector;
}
