// SPDX-License-Identifier: Apache-2.0
// Equality of claims: each field by itself makes a difference, defaults and empty lists do not.
#include "validators/schema/claim_equal.h"

#include <criterion/criterion.h>

#define CAP_BYTES ((size_t)1 << 20)

// A claim with every list filled, whose parts a test may change.
struct whole_claim {
    struct device_selector selector;
    struct device_toleration toleration;
    struct derived_attribute derived;
    struct quantity_entry capacity[2];
    struct exact_request exact;
    struct exact_request sub;
    struct text reference;
    struct device_constraint constraint;
    struct device_configuration config;
    struct device_request requests[2];
    struct device_claim claim;
};

static void fill(struct whole_claim *whole) {
    *whole = (struct whole_claim){
        .selector = {true, TEXT("true")},
        .toleration = {.key = TEXT("k"), .value = TEXT("v"), .effect = TEXT("None")},
        .derived = {TEXT("a.b/c"), TEXT("1")},
        .capacity = {{TEXT("a"), quantity_from_int64(1, QUANTITY_DECIMAL_SI)},
                     {TEXT("b"), quantity_from_milli(2000, QUANTITY_DECIMAL_SI)}},
        .reference = TEXT("r"),
    };
    whole->exact = (struct exact_request){.device_class_name = TEXT("c"),
                                          .selectors = {&whole->selector, 1},
                                          .tolerations = {&whole->toleration, 1},
                                          .capacity_set = true,
                                          .capacity_requests = {whole->capacity, 2, true},
                                          .derived_attributes = {&whole->derived, 1}};
    whole->sub = (struct exact_request){.name = TEXT("s"), .device_class_name = TEXT("c")};
    whole->constraint = (struct device_constraint){.requests = {&whole->reference, 1, true},
                                                   .match_attribute = {TEXT("a.b/c"), true}};
    whole->config = (struct device_configuration){.requests = {&whole->reference, 1, true},
                                                  .opaque_set = true,
                                                  .driver = TEXT("d"),
                                                  .parameters = TEXT("{}")};
    whole->requests[0] = (struct device_request){.name = TEXT("r"), .exactly = &whole->exact};
    whole->requests[1] =
        (struct device_request){.name = TEXT("f"), .first_available = {&whole->sub, 1, true}};
    whole->claim = (struct device_claim){.requests = {whole->requests, 2},
                                         .constraints = {&whole->constraint, 1},
                                         .config = {&whole->config, 1}};
}

static const struct opt_bool YES = {true, true};

static struct whole_claim old, changed;

static bool is_equal(void) {
    struct arena arena;
    arena_init(&arena, CAP_BYTES);
    bool equal = device_claim_equal(&changed.claim, &old.claim, &arena);
    arena_release(&arena);
    return equal;
}

#define CHANGE(want, statement)                                                                              \
    do {                                                                                                     \
        fill(&old);                                                                                          \
        fill(&changed);                                                                                      \
        statement;                                                                                           \
        cr_assert_eq(is_equal(), want, "%s", #statement);                                                    \
    } while (0)

Test(claim_equal, what_makes_no_difference) {
    CHANGE(true, );
    CHANGE(true, changed.exact.allocation_mode = TEXT("ExactCount"));
    CHANGE(true, changed.exact.count = 1);
    CHANGE(true, changed.toleration.operator= TEXT("Equal"));
    CHANGE(true, changed.capacity[1].value = quantity_from_int64(2, QUANTITY_BINARY_SI));
    CHANGE(true, changed.exact.selectors.count = 0; old.exact.selectors.items = NULL;
           old.exact.selectors.count = 0);
    CHANGE(true, struct quantity_entry first = changed.capacity[0]; changed.capacity[0] = changed.capacity[1];
           changed.capacity[1] = first);
    CHANGE(true, old.exact.derived_attributes.count = 0); // the feature is off: the server drops new ones
}

Test(claim_equal, what_makes_a_difference) {
    CHANGE(false, changed.claim.requests.count = 1);
    CHANGE(false, changed.claim.constraints.count = 0);
    CHANGE(false, changed.claim.config.count = 0);
    CHANGE(false, changed.requests[0].name = TEXT("x"));
    CHANGE(false, changed.requests[0].exactly = NULL);
    CHANGE(false, changed.requests[1].first_available.count = 0);
    CHANGE(false, changed.sub.name = TEXT("x"));
    CHANGE(false, changed.exact.device_class_name = TEXT("x"));
    CHANGE(false, changed.exact.selectors.count = 0);
    CHANGE(false, changed.selector.expression = TEXT("false"));
    CHANGE(false, changed.selector.cel_set = false);
    CHANGE(false, changed.exact.allocation_mode = TEXT("All"));
    CHANGE(false, changed.exact.count = 2);
    CHANGE(false, changed.exact.admin_access.set = true);
    CHANGE(false, changed.exact.admin_access.set = true; old.exact.admin_access = YES);
    CHANGE(false, changed.exact.tolerations.count = 0);
    CHANGE(false, changed.toleration.key = TEXT("x"));
    CHANGE(false, changed.toleration.operator= TEXT("Exists"));
    CHANGE(false, changed.toleration.value = TEXT("x"));
    CHANGE(false, changed.toleration.effect = TEXT("NoExecute"));
    CHANGE(false, changed.toleration.toleration_seconds.set = true);
    CHANGE(false, changed.exact.capacity_set = false);
    CHANGE(false, changed.exact.capacity_requests.count = 1);
    CHANGE(false, changed.capacity[0].key = TEXT("x"));
    CHANGE(false, changed.capacity[0].value = quantity_from_int64(3, QUANTITY_DECIMAL_SI));
    CHANGE(false, changed.derived.name = TEXT("x"));
    CHANGE(false, changed.derived.expression = TEXT("x"));
    CHANGE(false, changed.exact.derived_attributes.count = 0);
    CHANGE(false, changed.reference = TEXT("x"));
    CHANGE(false, changed.constraint.match_attribute.set = false);
    CHANGE(false, changed.constraint.match_attribute.value = TEXT("x"));
    CHANGE(false, changed.constraint.distinct_attribute.set = true);
    CHANGE(false, changed.config.source = TEXT("FromClass"));
    CHANGE(false, changed.config.opaque_set = false);
    CHANGE(false, changed.config.driver = TEXT("x"));
    CHANGE(false, changed.config.parameters = TEXT("{ }"));
}

// An allocation with every list filled.
struct whole_allocation {
    struct text texts[4];
    struct device_toleration toleration;
    struct quantity_entry capacity;
    struct allocation_result result;
    struct device_configuration config;
    struct node_selector_requirement requirement;
    struct node_selector_term term;
    struct node_selector nodes;
    struct allocation allocation;
};

static void fill_allocation(struct whole_allocation *whole) {
    *whole = (struct whole_allocation){
        .texts = {TEXT("a"), TEXT("b"), TEXT("c"), TEXT("n")},
        .capacity = {TEXT("a"), quantity_from_int64(1, QUANTITY_DECIMAL_SI)},
        .config = {.source = TEXT("FromClass")},
    };
    whole->result = (struct allocation_result){.request = TEXT("r"),
                                               .driver = TEXT("d"),
                                               .pool = TEXT("p"),
                                               .device = TEXT("v"),
                                               .tolerations = {&whole->toleration, 1},
                                               .binding_conditions = {&whole->texts[0], 1, true},
                                               .binding_failure_conditions = {&whole->texts[1], 1, true},
                                               .share_id = {TEXT("i"), true},
                                               .consumed_capacity = {&whole->capacity, 1, true},
                                               .skip_node_operations = {&whole->texts[2], 1, true}};
    whole->requirement = (struct node_selector_requirement){
        .key = TEXT("k"), .operator= TEXT("In"), .values = {&whole->texts[3], 1, true}};
    whole->term = (struct node_selector_term){.match_fields = {&whole->requirement, 1}};
    whole->nodes = (struct node_selector){.terms = {&whole->term, 1}, .set = true};
    whole->allocation = (struct allocation){.set = true,
                                            .results = {&whole->result, 1},
                                            .config = {&whole->config, 1},
                                            .node_selector = &whole->nodes};
}

static struct whole_allocation old_allocation, new_allocation;

#define ALLOCATE(want, statement)                                                                            \
    do {                                                                                                     \
        struct arena arena;                                                                                  \
        arena_init(&arena, CAP_BYTES);                                                                       \
        fill_allocation(&old_allocation);                                                                    \
        fill_allocation(&new_allocation);                                                                    \
        statement;                                                                                           \
        bool equal = allocation_equal(&new_allocation.allocation, &old_allocation.allocation, &arena);       \
        arena_release(&arena);                                                                               \
        cr_assert_eq(equal, want, "%s", #statement);                                                         \
    } while (0)

Test(claim_equal, allocations) {
    ALLOCATE(true, );
    ALLOCATE(true, old_allocation.result.skip_node_operations.count = 0);
    ALLOCATE(false, new_allocation.result.skip_node_operations.count = 0);
    ALLOCATE(false, new_allocation.texts[2] = TEXT("x"));
    ALLOCATE(false, new_allocation.allocation.set = false);
    ALLOCATE(false, new_allocation.allocation.results.count = 0);
    ALLOCATE(false, new_allocation.allocation.config.count = 0);
    ALLOCATE(false, new_allocation.allocation.node_selector = NULL);
    ALLOCATE(false, new_allocation.allocation.allocation_timestamp = TEXT("2024-01-01T00:00:00Z"));
    ALLOCATE(false, new_allocation.result.request = TEXT("x"));
    ALLOCATE(false, new_allocation.result.driver = TEXT("x"));
    ALLOCATE(false, new_allocation.result.pool = TEXT("x"));
    ALLOCATE(false, new_allocation.result.device = TEXT("x"));
    ALLOCATE(false, new_allocation.result.admin_access.set = true);
    ALLOCATE(false, new_allocation.result.tolerations.count = 0);
    ALLOCATE(false, new_allocation.texts[0] = TEXT("x"));
    ALLOCATE(false, new_allocation.texts[1] = TEXT("x"));
    ALLOCATE(false, new_allocation.result.share_id.set = false);
    ALLOCATE(false, new_allocation.capacity.key = TEXT("x"));
    ALLOCATE(false, new_allocation.config.source = TEXT("FromClaim"));
    ALLOCATE(false, new_allocation.requirement.key = TEXT("x"));
    ALLOCATE(false, new_allocation.requirement.operator= TEXT("NotIn"));
    ALLOCATE(false, new_allocation.texts[3] = TEXT("x"));
    ALLOCATE(false, new_allocation.nodes.terms.count = 0);
    ALLOCATE(false, new_allocation.term.match_expressions = new_allocation.term.match_fields);
}

Test(claim_equal, text_maps) {
    struct arena arena;
    arena_init(&arena, CAP_BYTES);
    struct text_pair a[] = {{TEXT("a"), TEXT("1")}, {TEXT("b"), TEXT("2")}};
    struct text_pair b[] = {{TEXT("b"), TEXT("2")}, {TEXT("a"), TEXT("1")}};
    struct text_map left = {a, 2}, right = {b, 2};
    cr_assert(text_maps_equal(&left, &right, &arena));
    a[0].value = TEXT("3");
    cr_assert_not(text_maps_equal(&left, &right, &arena));
    a[0] = (struct text_pair){TEXT("c"), TEXT("1")};
    cr_assert_not(text_maps_equal(&left, &right, &arena));
    left.count = 1;
    cr_assert_not(text_maps_equal(&left, &right, &arena));
    arena_release(&arena);
}
