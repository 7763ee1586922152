// SPDX-License-Identifier: Apache-2.0
// schema: what the Kubernetes API server checks itself.
//
// Findings with this ID are the API server's own: the object would be refused by a server of the chosen
// version (--kubernetes-version), with the same field paths and the same reasons. They cover types, required
// fields, unknown and duplicate fields, names, limits, attributes, capacities and their request policies,
// counters, taints, node selection, requests, constraints, configuration, tolerations, and both forms of
// node-allocatable resources. CEL expressions are checked for their length only.
//
// What to do: the message says what the server expects. Common wrong shapes get a hint with the right one.
//
// The action is always deny and no policy changes it: the API server would not store the object anyway. On
// line, fields of features that are off by default are judged as a server judges them that has the features
// on; and of a server that is newer than what drawbridge knows, findings are warnings.
//
// Source: kubernetes v1.36.3 and v1.37.2, pkg/apis/resource/validation/validation.go and the declarative
// rules in staging/src/k8s.io/api/resource.
#include "validators/registry/registry.h"
#include "validators/schema/device_class.h"
#include "validators/schema/resource_claim.h"
#include "validators/schema/resource_claim_status.h"
#include "validators/schema/resource_claim_template.h"
#include "validators/schema/resource_slice.h"

// A review comes through a server, which has dropped what is off there; a file may go to any server.
static enum slice_features features_of(const struct rule_input *input) {
    return input->online ? FEATURES_IN_USE : FEATURES_BY_DEFAULT;
}

static void check_update(const struct rule_input *input, struct finding_list *findings) {
    const struct object *object = input->object;
    const struct object *old = input->old;
    switch (object->kind) {
    case KIND_RESOURCE_SLICE:
        schema_resource_slice_update(&object->slice, &old->slice, object->version, input->minor,
                                     features_of(input), findings);
        break;
    case KIND_RESOURCE_CLAIM:
        schema_resource_claim_update(&object->claim, &old->claim, input->minor, findings);
        break;
    case KIND_RESOURCE_CLAIM_TEMPLATE:
        schema_resource_claim_template_update(&object->claim_template, &old->claim_template, object->version,
                                              input->minor, findings);
        break;
    case KIND_DEVICE_CLASS:
        schema_device_class_update(&object->device_class, &old->device_class, object->version, input->minor,
                                   findings);
        break;
    default: break;
    }
}

static void check_create(const struct rule_input *input, struct finding_list *findings) {
    const struct object *object = input->object;
    switch (object->kind) {
    case KIND_RESOURCE_SLICE:
        schema_resource_slice(&object->slice, object->version, input->minor, features_of(input), findings);
        break;
    case KIND_RESOURCE_CLAIM:
        schema_resource_claim(&object->claim, object->version, input->minor, findings);
        break;
    case KIND_RESOURCE_CLAIM_TEMPLATE:
        schema_resource_claim_template(&object->claim_template, object->version, input->minor, findings);
        break;
    case KIND_DEVICE_CLASS:
        schema_device_class(&object->device_class, object->version, input->minor, findings);
        break;
    default: break;
    }
}

static void check(const struct rule_input *input, struct finding_list *findings) {
    enum object_kind kind = input->object->kind;
    bool updates = input->operation == OPERATION_UPDATE && input->old != NULL && input->old->kind == kind;
    if (text_equal(input->subresource, TEXT("status"))) {
        if (updates && kind == KIND_RESOURCE_CLAIM)
            schema_resource_claim_status(&input->object->claim, &input->old->claim, input->minor, findings);
        return;
    }
    if (input->subresource.len > 0) return;
    if (updates)
        check_update(input, findings);
    else if (input->operation == OPERATION_CREATE || input->operation == OPERATION_UPDATE)
        check_create(input, findings);
}

void registry_check_schema(const struct rule_input *input, struct finding_list *findings) {
    enum severity severity_before = findings->severity;
    // The checks of a minor that is not known yet are not known either, and its server has made them already.
    if (input->online && input->minor > MINOR_NEWEST) findings->severity = SEVERITY_WARN;
    check(input, findings);
    findings->severity = severity_before;
}
