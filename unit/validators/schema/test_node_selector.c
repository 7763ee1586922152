// SPDX-License-Identifier: Apache-2.0
// Node selectors.
#include "validators/schema/node_selector.h"

#include <criterion/criterion.h>

#include "unit/lib/found.h"

static const struct path ROOT = {.kind = PATH_FIELD, .name = TEXT_INIT("s")};

#define TEXTS(...)                                                                                           \
    { (struct text[]){__VA_ARGS__}, sizeof((struct text[]){__VA_ARGS__}) / sizeof(struct text), true }

// One term with one requirement, as an expression or as a field.
static void expect(int line, bool field, const char *key, const char *relation, struct text_list values,
                   const char *want) {
    struct found found;
    found_init(&found);
    struct node_selector_requirement requirement = {
        .key = text_of(key), .operator= text_of(relation), .values = values};
    struct node_selector_requirement_list list = {&requirement, 1};
    struct node_selector_term term = {0};
    if (field)
        term.match_fields = list;
    else
        term.match_expressions = list;
    struct node_selector selector = {.terms = {&term, 1}, .set = true};
    schema_node_selector(&selector, &ROOT, &found.findings);
    found_expect(&found, line, want);
    found_release(&found);
}

static const struct text_list NONE = {0};
#define EXPRESSION(...) expect(__LINE__, false, __VA_ARGS__)
#define FIELD(...)      expect(__LINE__, true, __VA_ARGS__)
#define E0              "s.nodeSelectorTerms[0].matchExpressions[0]."
#define F0              "s.nodeSelectorTerms[0].matchFields[0]."

Test(node_selector, needs_a_term) {
    struct found found;
    found_init(&found);
    struct node_selector selector = {.set = true};
    schema_node_selector(&selector, &ROOT, &found.findings);
    FOUND(&found, "s.nodeSelectorTerms Required");
    struct node_selector_term term = {0};
    selector.terms = (struct node_selector_term_list){&term, 1};
    schema_node_selector(&selector, &ROOT, &found.findings);
    FOUND(&found, "");
    found_release(&found);
}

Test(node_selector, operators_of_expressions) {
    struct text_list one = TEXTS(TEXT("a"));
    struct text_list two = TEXTS(TEXT("a"), TEXT("1"));
    EXPRESSION("k", "In", one, "");
    EXPRESSION("k", "NotIn", two, "");
    EXPRESSION("k", "In", NONE, E0 "values Required");
    EXPRESSION("k", "NotIn", NONE, E0 "values Required");
    EXPRESSION("k", "Exists", NONE, "");
    EXPRESSION("k", "DoesNotExist", NONE, "");
    EXPRESSION("k", "Exists", one, E0 "values Forbidden");
    EXPRESSION("k", "DoesNotExist", one, E0 "values Forbidden");
    EXPRESSION("k", "Gt", one, "");
    EXPRESSION("k", "Lt", one, "");
    EXPRESSION("k", "Gt", two, E0 "values Required");
    EXPRESSION("k", "Lt", NONE, E0 "values Required");
    EXPRESSION("k", "in", one, E0 "operator Invalid");
    EXPRESSION("k", "", NONE, E0 "operator Invalid");
}

Test(node_selector, keys_and_values_of_expressions) {
    struct text_list odd = TEXTS(TEXT("a"), TEXT("a b"), TEXT(""));
    EXPRESSION("example.com/k", "In", odd, E0 "values[1] Invalid");
    EXPRESSION("a b", "Exists", NONE, E0 "key Invalid");
    EXPRESSION("", "Exists", NONE, E0 "key Invalid");
}

Test(node_selector, fields) {
    struct text_list one = TEXTS(TEXT("node-1"));
    struct text_list odd = TEXTS(TEXT("Node"));
    struct text_list two = TEXTS(TEXT("a"), TEXT("b_"));
    FIELD("metadata.name", "In", one, "");
    FIELD("metadata.name", "NotIn", one, "");
    FIELD("metadata.name", "In", odd, F0 "values[0] Invalid");
    FIELD("metadata.name", "In", NONE, F0 "values Required");
    FIELD("metadata.name", "NotIn", two, F0 "values Required, " F0 "values[1] Invalid");
    FIELD("metadata.name", "Exists", NONE, F0 "operator Invalid");
    FIELD("metadata.labels", "In", odd, F0 "key Invalid");
}
