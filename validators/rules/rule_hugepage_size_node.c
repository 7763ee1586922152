// SPDX-License-Identifier: Apache-2.0
// hugepage-size-node: the node of a slice has no huge pages of the size that a mapping takes.
//
// A node offers the sizes of its kernel, such as hugepages-2Mi and hugepages-1Gi, in status.allocatable. A
// mapping to another size can never be satisfied there, and no Pod is placed with the device.
//
// Wrong, on a node that offers hugepages-2Mi only:
//   nodeAllocatableResourceMappings:
//     hugepages-1Gi: {allocationMultiplier: 2Gi}
// Right: a size that the node's status.allocatable lists.
//
// Slices whose nodes are chosen by a selector are not judged.
//
// Reads: spec.nodeName, spec.devices[].nodeName, the keys of spec.devices[].nodeAllocatableResourceMappings
// (1.36) or spec.devices[].nodeAllocatableResources (1.37); Node status.allocatable.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.36.3 pkg/kubelet/cm/container_manager_linux.go (capacity of huge pages).
#include "validators/rules/pool.h"

static void judge(const struct rule_input *input, const struct mapping_entry *entry,
                  struct finding_list *findings) {
    const struct resource_slice *slice = &input->object->slice;
    struct text resource = entry->mapping->key;
    struct text node = slice->node_name.set ? slice->node_name.value : (struct text){NULL, 0};
    if (node.len == 0 && entry->device->node_name.set) node = entry->device->node_name.value;
    struct view_node facts;
    struct quantity amount;
    if (!resource_is_hugepages(resource) || node.len == 0) return;
    if (VIEW_ASK(input->view, node, node, &facts) != VIEW_KNOWN) return;
    if (VIEW_ASK(input->view, node_allocatable, node, resource, &amount) != VIEW_NOT_FOUND) return;
    struct finding *finding = finding_addf(findings, FINDING_INVALID, entry->path, resource,
                                           "node %.*s has no huge pages of this size", TEXT_ARG(node));
    finding_hint(finding, TEXT("use a size that the node's status.allocatable lists"));
}

void rule_hugepage_size_node(const struct rule_input *input, struct finding_list *findings) {
    mapping_for_each_entry(input, judge, findings);
}
