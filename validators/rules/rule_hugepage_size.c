// SPDX-License-Identifier: Apache-2.0
// hugepage-size: the SIZE of a hugepages-SIZE mapping is not the name of a page size.
//
// Nodes name their huge pages after the page size in its shortest binary form: hugepages-2Mi,
// hugepages-1Gi, hugepages-64Ki. The API server takes any SIZE ("hugepages-3Ki", "hugepages-2048Ki",
// "hugepages-2M"). No node offers such a resource, so every Pod that is given the device stays Pending.
//
// Wrong:
//   nodeAllocatableResourceMappings:
//     hugepages-2048Ki: {allocationMultiplier: 512Mi}
// Right:
//   nodeAllocatableResourceMappings:
//     hugepages-2Mi: {allocationMultiplier: 512Mi}
//
// SIZE must be a quantity, a power of two, and written in the shortest form.
//
// Reads: spec.devices[].nodeAllocatableResourceMappings (1.36), .nodeAllocatableResources (1.37).
//
// Default: deny. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/apis/core/v1/helper/helpers.go, HugePageResourceName and
// HugePageSizeFromResourceName; pkg/kubelet/cadvisor/util.go, CapacityFromMachineInfo (how nodes name them).
#include "validators/rules/mapping.h"

static bool is_power_of_two(int64_t value) {
    return (value & (value - 1)) == 0;
}

// The name of the page size that a decimal suffix was meant for: 2M → 2Mi. Empty when there is none.
static struct text binary_twin(struct arena *arena, struct text name) {
    if (name.len == 0 || memchr("kKMGT", name.ptr[name.len - 1], 5) == NULL) return (struct text){NULL, 0};
    struct text start = text_slice(name, 0, name.len - 1);
    char suffix = name.ptr[name.len - 1] == 'k' ? 'K' : name.ptr[name.len - 1];
    struct text twin = text_format(arena, "%.*s%ci", TEXT_ARG(start), suffix);
    int64_t bytes;
    return resource_page_bytes(twin, &bytes) && is_power_of_two(bytes) ? twin : (struct text){NULL, 0};
}

static void judge(const struct rule_input *input, const struct mapping_entry *entry,
                  struct finding_list *findings) {
    struct text name = entry->mapping->key;
    if (!resource_is_hugepages(name)) return;
    int64_t bytes;
    struct text twin = binary_twin(input->arena, name);
    bool sized = resource_page_bytes(name, &bytes);
    if (twin.len > 0 || !sized || !is_power_of_two(bytes)) {
        struct finding *finding =
            finding_add(findings, FINDING_INVALID, entry->path, name,
                        sized ? TEXT("a page size is a power of two")
                              : TEXT("the part after hugepages- must be a page size such as 2Mi or 1Gi"));
        if (twin.len > 0)
            finding_hint(finding, text_format(input->arena, "did you mean %.*s?", TEXT_ARG(twin)));
        else
            finding_hint(finding, TEXT("use a size that the node offers, such as hugepages-2Mi"));
        return;
    }
    struct text right = text_format(
        input->arena, "hugepages-%.*s",
        TEXT_ARG(quantity_canonical(input->arena, quantity_from_int64(bytes, QUANTITY_BINARY_SI))));
    if (text_equal(right, name)) return;
    struct finding *finding = finding_add(findings, FINDING_INVALID, entry->path, name,
                                          TEXT("nodes name a page size in its shortest form"));
    finding_hint(finding, text_format(input->arena, "did you mean %.*s?", TEXT_ARG(right)));
}

void rule_hugepage_size(const struct rule_input *input, struct finding_list *findings) {
    mapping_for_each_entry(input, judge, findings);
}
