// SPDX-License-Identifier: Apache-2.0
// hugepage-size-node: no node of a slice has huge pages of the size that a mapping takes.
//
// A node offers the sizes of its kernel, such as hugepages-2Mi and hugepages-1Gi, in status.allocatable. A
// mapping to another size can never be satisfied there, and no Pod is placed with the device.
//
// Wrong, on a node that offers hugepages-2Mi only:
//   nodeAllocatableResourceMappings:
//     hugepages-1Gi: {allocationMultiplier: 2Gi}
// Right: a size that the node's status.allocatable lists.
//
// A slice, or a device, may be for many nodes: those of a selector, or all. It is enough that one of them
// offers the size. Nothing is judged while none of them is known.
//
// Reads: spec.nodeName, spec.nodeSelector, spec.allNodes and the same of spec.devices[]; the keys of
// spec.devices[].nodeAllocatableResourceMappings (1.36) or spec.devices[].nodeAllocatableResources (1.37);
// Node metadata.labels, status.allocatable.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/kubelet/cm/container_manager_linux.go (capacity of huge pages).
#include "validators/rules/pool.h"

// Questions that go over all nodes take time, and devices that differ in their nodes are few.
#define QUESTIONS_MAX 8u

// Where a device is: on one node, or on those of a selector, or on all.
struct where {
    struct text node;
    const struct node_selector *selector;
    bool all;
};

// What was asked before.
struct answers {
    struct {
        const struct node_selector *selector; // NULL: all nodes
        struct text resource;
        bool lack;
    } items[QUESTIONS_MAX];
    size_t count;
};

static struct where where_is(const struct resource_slice *slice, const struct device *device) {
    struct where where = {.node = slice->node_name.value, .selector = slice->node_selector};
    where.all = slice->all_nodes.value;
    if (slice->per_device_node_selection.value)
        where = (struct where){.node = device->node_name.value,
                               .selector = device->node_selector,
                               .all = device->all_nodes.value};
    return where;
}

static bool node_lacks(const struct rule_input *input, struct text node, struct text resource) {
    struct view_node facts;
    struct quantity amount;
    return VIEW_ASK(input->view, node, node, &facts) == VIEW_KNOWN &&
           VIEW_ASK(input->view, node_allocatable, node, resource, &amount) == VIEW_NOT_FOUND;
}

static bool all_lack(const struct rule_input *input, const struct where *where, struct text resource,
                     struct answers *answers) {
    const struct node_selector *selector = where->all ? NULL : where->selector;
    bool offer = false;
    for (size_t i = 0; i < answers->count; i++)
        if (answers->items[i].selector == selector && text_equal(answers->items[i].resource, resource))
            return answers->items[i].lack;
    if (answers->count == QUESTIONS_MAX) return false;
    bool lack =
        VIEW_ASK(input->view, nodes_offer, selector, resource, input->arena, &offer) == VIEW_KNOWN && !offer;
    answers->items[answers->count].selector = selector;
    answers->items[answers->count].resource = resource;
    answers->items[answers->count++].lack = lack;
    return lack;
}

static void judge(const struct rule_input *input, const struct where *where, struct text resource,
                  const struct path *path, struct answers *answers, struct finding_list *findings) {
    struct finding *finding = NULL;
    if (where->node.len > 0) {
        if (node_lacks(input, where->node, resource))
            finding = finding_addf(findings, FINDING_INVALID, path, resource,
                                   "node %.*s has no huge pages of this size", TEXT_ARG(where->node));
    } else if ((where->all || where->selector != NULL) && all_lack(input, where, resource, answers)) {
        finding = finding_add(findings, FINDING_INVALID, path, resource,
                              where->all ? TEXT("no node has huge pages of this size")
                                         : TEXT("no node of the selector has huge pages of this size"));
    }
    finding_hint(finding, TEXT("use a size that the node's status.allocatable lists"));
}

void rule_hugepage_size_node(const struct rule_input *input, struct finding_list *findings) {
    const struct resource_slice *slice = &input->object->slice;
    struct answers answers = {.count = 0};
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path list = path_field(&spec, TEXT("devices"));
    for (size_t i = 0; i < slice->devices.count; i++) {
        const struct device *device = &slice->devices.items[i];
        const struct node_allocatable_map *entries = mapping_entries(device, input->minor);
        struct where where = where_is(slice, device);
        struct path at = path_index(&list, i);
        struct path field = path_field(&at, mapping_field(input->minor));
        for (size_t k = 0; k < entries->count; k++) {
            struct path path = path_key(&field, entries->items[k].key);
            if (resource_is_hugepages(entries->items[k].key))
                judge(input, &where, entries->items[k].key, &path, &answers, findings);
        }
    }
}
