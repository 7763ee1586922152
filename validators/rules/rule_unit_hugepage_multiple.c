// SPDX-License-Identifier: Apache-2.0
// unit-hugepage-multiple: a hugepages footprint can never be a whole number of pages.
//
// The unit of hugepages-SIZE is the byte, and a footprint must be a multiple of SIZE: 5Mi of 2Mi pages is
// two and a half pages. "256" is 256 bytes, not 256 pages. The API server of both versions takes any
// positive number here.
//
// Wrong:
//   nodeAllocatableResourceMappings:
//     hugepages-2Mi: {allocationMultiplier: "256"}
// Right:
//   nodeAllocatableResourceMappings:
//     hugepages-2Mi: {allocationMultiplier: 512Mi}
//
// With a capacityKey the product counts, not the multiplier: a capacity of 224 pages with the multiplier 1Gi
// is right for hugepages-1Gi; a capacity of 224 with the multiplier 1 is 224 bytes. Where the capacity has a
// request policy with steps or values, it is enough that some amount that a claim may ask for makes whole
// pages.
//
// Reads: spec.devices[].nodeAllocatableResourceMappings (1.36), spec.devices[].nodeAllocatableResources
// (1.37: deviceMultiplier, capacityMultiplier, perPod, perContainer), spec.devices[].capacity.
//
// Default: deny. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/apis/core/validation/validation.go, validateResourceQuantityHugePageValue
// and validateResourceRequirements (what it demands of containers).
#include "validators/rules/mapping.h"

static int64_t greatest_common_divisor(int64_t a, int64_t b) {
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool whole_product(struct quantity consumed, struct quantity multiplier, int64_t *ret_bytes) {
    struct quantity product = quantity_multiply(consumed, multiplier);
    return quantity_is_whole(product) && quantity_value(product, ret_bytes) && *ret_bytes >= 0;
}

// Whether some least + n × step makes whole pages. What cannot be told is let through.
static bool step_can_fit(const struct mapping_consumption *consumption, struct quantity multiplier,
                         int64_t page_bytes) {
    int64_t least;
    int64_t step;
    int64_t whole;
    if (!whole_product(consumption->least, multiplier, &least)) return true;
    if (!whole_product(consumption->step, multiplier, &step)) return true;
    if (whole_product(consumption->whole, multiplier, &whole) && whole < page_bytes) return false;
    return least % greatest_common_divisor(page_bytes, step) == 0;
}

static bool is_positive_multiple(struct quantity quantity, struct quantity page) {
    return quantity_sign(quantity) > 0 && quantity_is_multiple(quantity, page);
}

static bool can_fit(const struct mapping_amount *amount, int minor, int64_t page_bytes) {
    struct quantity page = quantity_from_int64(page_bytes, QUANTITY_BINARY_SI);
    if (!amount->by_capacity) return is_positive_multiple(amount->multiplier, page);
    if (amount->capacity == NULL || !amount->capacity->value.set) return true;
    struct mapping_consumption consumption = mapping_consumption_of(amount->capacity, minor);
    if (consumption.step.set) return step_can_fit(&consumption, amount->multiplier, page_bytes);
    if (consumption.values == NULL) {
        struct quantity product = quantity_multiply(consumption.whole, amount->multiplier);
        return product.out_of_range || is_positive_multiple(product, page);
    }
    for (size_t i = 0; i < consumption.values->count; i++)
        if (is_positive_multiple(quantity_multiply(consumption.values->items[i], amount->multiplier), page))
            return true;
    return false;
}

static void say_fixed(const struct rule_input *input, const struct mapping_amount *amount, int64_t page_bytes,
                      struct finding_list *findings) {
    struct arena *arena = input->arena;
    struct quantity page = quantity_from_int64(page_bytes, QUANTITY_BINARY_SI);
    struct text page_text = quantity_canonical(arena, page);
    struct finding *finding =
        finding_addf(findings, FINDING_INVALID, amount->path, amount->value,
                     "hugepages are counted in bytes, and this is no multiple of %.*s", TEXT_ARG(page_text));
    int64_t number;
    if (!quantity_value(amount->multiplier, &number)) return;
    bool pages_meant = quantity_is_whole(amount->multiplier) && number < page_bytes;
    int64_t pages = pages_meant ? number : number / page_bytes + 1;
    struct quantity bytes = quantity_multiply(page, quantity_from_int64(pages, QUANTITY_DECIMAL_SI));
    if (bytes.out_of_range) return;
    struct text right = quantity_canonical(arena, bytes);
    finding_hint(finding, pages_meant ? text_format(arena, "%lld %s %.*s", (long long)pages,
                                                    pages == 1 ? "page is" : "pages are", TEXT_ARG(right))
                                      : text_format(arena, "the next multiple is %.*s", TEXT_ARG(right)));
}

static void say_product(const struct rule_input *input, const struct mapping_amount *amount,
                        int64_t page_bytes, struct finding_list *findings) {
    struct quantity page = quantity_from_int64(page_bytes, QUANTITY_BINARY_SI);
    struct text page_text = quantity_canonical(input->arena, page);
    struct quantity product = quantity_multiply(amount->capacity->value, amount->multiplier);
    struct finding *finding = finding_addf(
        findings, FINDING_INVALID, amount->path, amount->value,
        "hugepages are counted in bytes, and this times capacity %.*s makes %.*s, not whole pages of %.*s",
        TEXT_ARG(amount->capacity->key), TEXT_ARG(quantity_canonical(input->arena, product)),
        TEXT_ARG(page_text));
    if (quantity_compare(product, page) < 0)
        finding_hint(finding,
                     text_format(input->arena, "if the capacity counts pages, the multiplier is %.*s",
                                 TEXT_ARG(page_text)));
    else
        finding_hint(finding, TEXT("choose amounts of the capacity whose product is whole pages"));
}

static void judge(const struct rule_input *input, const struct mapping_amount *amount,
                  struct finding_list *findings) {
    int64_t page_bytes;
    if (amount->multiplier.out_of_range || !resource_page_bytes(amount->resource, &page_bytes)) return;
    if ((page_bytes & (page_bytes - 1)) != 0) return; // no page size at all: hugepage-size tells
    if (can_fit(amount, input->minor, page_bytes)) return;
    if (!amount->by_capacity) {
        say_fixed(input, amount, page_bytes, findings);
        return;
    }
    say_product(input, amount, page_bytes, findings);
}

void rule_unit_hugepage_multiple(const struct rule_input *input, struct finding_list *findings) {
    mapping_for_each_amount(input, judge, findings);
}
