// SPDX-License-Identifier: Apache-2.0
// Access to what all kinds have.
#include "validators/model/object.h"

const struct object_meta *object_metadata(const struct object *object) {
    switch (object->kind) {
    case KIND_RESOURCE_SLICE: return &object->slice.metadata;
    case KIND_RESOURCE_CLAIM: return &object->claim.metadata;
    case KIND_RESOURCE_CLAIM_TEMPLATE: return &object->claim_template.metadata;
    case KIND_DEVICE_CLASS: return &object->device_class.metadata;
    case KIND_NODE: return &object->node.metadata;
    case KIND_POD: return &object->pod.metadata;
    case KIND_NAMESPACE: return &object->namespace.metadata;
    case KIND_LEASE: return &object->lease.metadata;
    case KIND_DEVICE_TAINT_RULE: return &object->taint_rule.metadata;
    case KIND_LEDGER_POLICY: return &object->policy.metadata;
    case KIND_NODE_LEDGER: return &object->node_ledger.metadata;
    case KIND_ROLE:
    case KIND_CLUSTER_ROLE: return &object->role.metadata;
    case KIND_CLUSTER_ROLE_BINDING: return &object->role_binding.metadata;
    case KIND_OTHER: break;
    }
    return NULL;
}
