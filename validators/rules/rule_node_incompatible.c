// SPDX-License-Identifier: Apache-2.0
// node-incompatible: a slice has mappings for a node that cannot honour them.
//
// The scheduler counts what devices take of a node wherever they are, but the node's kubelet must know of it
// too, and the feature is rolled out to some nodes first. A node cannot honour mappings when it is not one of
// the canary nodes that the policy names, when its kubelet is older than the API server's release, or, from
// 1.37 on, when it does not declare the feature DRANodeAllocatableResources.
//
// What to do: update the kubelet, turn the feature on there, add the node to spec.canary.nodeSelector of the
// LedgerPolicy, or publish the devices of this node without mappings.
//
// Reads: spec.nodeName, spec.devices[].nodeAllocatableResourceMappings (1.36),
// spec.devices[].nodeAllocatableResources (1.37); Node labels, status.nodeInfo.kubeletVersion,
// status.declaredFeatures; LedgerPolicy spec.canary.nodeSelector.
//
// Default: warn. Policy may set deny, warn, audit or off.
//
// Source: kubernetes v1.37.2 plugin/pkg/admission/nodedeclaredfeatures/admission.go; component-helpers
// v0.37.2 nodedeclaredfeatures.
#include "validators/rules/pool.h"

static struct text why_not(const struct rule_input *input, const struct view_node *node) {
    if (!node->canary) return TEXT("it is no canary node of the policy");
    if (node->kubelet_minor > 0 && node->kubelet_minor < input->minor)
        return text_format(input->arena, "its kubelet is of 1.%d, older than 1.%d", node->kubelet_minor,
                           input->minor);
    if (input->minor >= MINOR_37 && !node->declares_feature)
        return TEXT("it does not declare the feature DRANodeAllocatableResources");
    return (struct text){NULL, 0};
}

void rule_node_incompatible(const struct rule_input *input, struct finding_list *findings) {
    const struct resource_slice *slice = &input->object->slice;
    struct view_node node;
    bool mapped = false;
    for (size_t i = 0; i < slice->devices.count && !mapped; i++)
        mapped = mapping_present(&slice->devices.items[i], input->minor);
    if (!mapped || !slice->node_name.set) return;
    if (VIEW_ASK(input->view, node, slice->node_name.value, &node) != VIEW_KNOWN) return;
    struct text why = why_not(input, &node);
    if (why.len == 0) return;
    struct path spec = path_field(NULL, TEXT("spec"));
    struct path path = path_field(&spec, TEXT("nodeName"));
    struct finding *finding = finding_addf(findings, FINDING_INVALID, &path, slice->node_name.value,
                                           "the node cannot honour mappings: %.*s", TEXT_ARG(why));
    finding_hint(finding, TEXT("publish its devices without mappings until it can"));
}
