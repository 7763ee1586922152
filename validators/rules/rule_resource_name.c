// SPDX-License-Identifier: Apache-2.0
// resource-name: a mapping names something that a node does not count for DRA.
//
// A mapping's key must be cpu, memory or hugepages-SIZE; Kubernetes 1.36 also counts ephemeral-storage. The
// API server of 1.36 lets far more through: any name without a slash ("gpu", "Memory", "pods",
// "requests.cpu") and anything under kubernetes.io/. The scheduler then charges Pods for a resource that no
// node has, so they never fit, or charges nothing that anybody meant.
//
// Wrong:
//   nodeAllocatableResourceMappings:
//     Memory: {allocationMultiplier: 8Gi}
// Right:
//   nodeAllocatableResourceMappings:
//     memory: {allocationMultiplier: 8Gi}
//
// What to do: the message names the resource that was most likely meant. A resource of your own (a GPU, a
// NIC) is the device itself and needs no mapping.
//
// Reads: spec.devices[].nodeAllocatableResourceMappings (1.36), .nodeAllocatableResources (1.37).
//
// Default: deny. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 and v1.37.2 pkg/apis/resource/validation/validation.go,
// validateNodeAllocatableResourceMappings and validateNodeAllocatableResources.
#include "validators/rules/mapping.h"

#define NEAR_DISTANCE 2u
#define NEAR_MIN_LEN  5u // shorter names are near everything

struct alias {
    struct text wrong; // in lower case
    struct text right;
};

static const struct alias aliases[] = {
    {TEXT_INIT("mem"), TEXT_INIT("memory")},
    {TEXT_INIT("ram"), TEXT_INIT("memory")},
    {TEXT_INIT("requests.memory"), TEXT_INIT("memory")},
    {TEXT_INIT("limits.memory"), TEXT_INIT("memory")},
    {TEXT_INIT("cpus"), TEXT_INIT("cpu")},
    {TEXT_INIT("vcpu"), TEXT_INIT("cpu")},
    {TEXT_INIT("vcpus"), TEXT_INIT("cpu")},
    {TEXT_INIT("core"), TEXT_INIT("cpu")},
    {TEXT_INIT("cores"), TEXT_INIT("cpu")},
    {TEXT_INIT("millicpu"), TEXT_INIT("cpu")},
    {TEXT_INIT("requests.cpu"), TEXT_INIT("cpu")},
    {TEXT_INIT("limits.cpu"), TEXT_INIT("cpu")},
    {TEXT_INIT("hugepages"), TEXT_INIT("hugepages-2Mi")},
    {TEXT_INIT("hugepage"), TEXT_INIT("hugepages-2Mi")},
    {TEXT_INIT("storage"), TEXT_INIT("ephemeral-storage")},
    {TEXT_INIT("ephemeral"), TEXT_INIT("ephemeral-storage")},
    {TEXT_INIT("ephemeralstorage"), TEXT_INIT("ephemeral-storage")},
    {TEXT_INIT("requests.ephemeral-storage"), TEXT_INIT("ephemeral-storage")},
    {TEXT_INIT("limits.ephemeral-storage"), TEXT_INIT("ephemeral-storage")},
};

static const struct text ephemeral_storage = TEXT_INIT("ephemeral-storage");

static bool counts(struct text name, int minor) {
    return resource_is_cpu(name) || resource_is_memory(name) || resource_is_hugepages(name) ||
           (minor < MINOR_37 && text_equal(name, ephemeral_storage));
}

static struct text lowered(struct arena *arena, struct text text) {
    char *copy = arena_alloc(arena, text.len);
    if (copy == NULL) return (struct text){NULL, 0};
    for (size_t i = 0; i < text.len; i++)
        copy[i] = (char)(text.ptr[i] >= 'A' && text.ptr[i] <= 'Z' ? text.ptr[i] - 'A' + 'a' : text.ptr[i]);
    return (struct text){copy, text.len};
}

// hugepage-2Mi, HugePages-2Mi, hugepages_2Mi, hugepages2Mi: the right prefix before the size as it stands.
static struct text near_hugepages(struct arena *arena, struct text name, struct text lower) {
    static const struct text starts[] = {TEXT_INIT("requests.hugepages-"), TEXT_INIT("limits.hugepages-"),
                                         TEXT_INIT("hugepages-"),          TEXT_INIT("hugepage-"),
                                         TEXT_INIT("hugepages_"),          TEXT_INIT("hugepages")};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        if (!text_starts_with(lower, starts[i]) || lower.len == starts[i].len) continue;
        struct text right =
            text_format(arena, "hugepages-%.*s", TEXT_ARG(text_slice(name, starts[i].len, name.len)));
        int64_t bytes;
        return resource_page_bytes(right, &bytes) ? right : TEXT("hugepages-2Mi");
    }
    return (struct text){NULL, 0};
}

// The name that was meant, or empty. (gpu is one letter from cpu, and means something else.)
static struct text meant(struct arena *arena, struct text name, int minor) {
    if (name.len > 64) return (struct text){NULL, 0};
    struct text lower = lowered(arena, name);
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (text_equal(lower, aliases[i].wrong) && counts(aliases[i].right, minor)) return aliases[i].right;
    static const struct text names[] = {TEXT_INIT("cpu"), TEXT_INIT("memory"),
                                        TEXT_INIT("ephemeral-storage")};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!counts(names[i], minor)) continue;
        if (text_equal(lower, names[i])) return names[i];
        if (lower.len >= NEAR_MIN_LEN && text_distance(lower, names[i], NEAR_DISTANCE) <= NEAR_DISTANCE)
            return names[i];
    }
    return near_hugepages(arena, name, lower);
}

static void judge(const struct rule_input *input, const struct mapping_entry *entry,
                  struct finding_list *findings) {
    struct text name = entry->mapping->key;
    if (counts(name, input->minor)) return;
    bool newer = input->minor >= MINOR_37;
    struct text detail = newer ? TEXT("Kubernetes 1.37 counts only cpu, memory and hugepages-SIZE")
                               : TEXT("Kubernetes 1.36 counts only cpu, memory, hugepages-SIZE and "
                                      "ephemeral-storage");
    struct finding *finding = finding_add(findings, FINDING_INVALID, entry->path, name, detail);
    struct text right = meant(input->arena, name, input->minor);
    if (right.len > 0)
        finding_hint(finding, text_format(input->arena, "did you mean %.*s?", TEXT_ARG(right)));
    else if (text_equal(name, ephemeral_storage))
        finding_hint(finding, TEXT("1.36 counted it, 1.37 has nothing in its place: leave it out"));
    else
        finding_hint(finding,
                     TEXT("leave it out: other resources are the device itself and need no mapping"));
}

void rule_resource_name(const struct rule_input *input, struct finding_list *findings) {
    mapping_for_each_entry(input, judge, findings);
}
