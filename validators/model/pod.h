// SPDX-License-Identifier: Apache-2.0
// Pod, as far as accounting and the gates read it. Everything else of a Pod is passed over while decoding.
// Source: k8s.io/api v0.36.3 and v0.37.2 core/v1/types.go.
#ifndef DRAWBRIDGE_MODEL_POD_H
#define DRAWBRIDGE_MODEL_POD_H

#include "validators/model/meta.h"

struct resource_requirements {
    struct quantity_map requests;
    struct quantity_map limits;
    struct text_list claims; // names of pod claims (spec.resourceClaims[].name)
};

struct container {
    struct text name;
    struct resource_requirements resources;
    bool restart_always; // init containers: a sidecar
};
struct container_list {
    struct container *items;
    size_t count;
};

struct pod_resource_claim { // spec.resourceClaims[]
    struct text name;
    struct opt_text claim_name;    // resourceClaimName
    struct opt_text template_name; // resourceClaimTemplateName
};
struct pod_resource_claim_list {
    struct pod_resource_claim *items;
    size_t count;
};

struct pod_claim_status { // status.resourceClaimStatuses[]
    struct text name;
    struct opt_text claim_name;
};
struct pod_claim_status_list {
    struct pod_claim_status *items;
    size_t count;
};

// status.nodeAllocatableResourceClaimStatuses[]: `resources` is v1.36's, mapping and overhead are v1.37's.
struct overhead_resource {
    struct text name;
    struct quantity per_pod;
    struct quantity per_container;
};
struct overhead_resource_list {
    struct overhead_resource *items;
    size_t count;
};
struct node_allocatable_claim_status {
    struct text claim_name;
    struct text_list containers;
    struct quantity_map resources;
    struct quantity_map mapping; // name and quantity
    struct overhead_resource_list overhead;
};
struct node_allocatable_claim_status_list {
    struct node_allocatable_claim_status *items;
    size_t count;
};

struct container_status {
    struct text name;
    struct quantity_map allocated_resources;
    bool resources_set;
    struct resource_requirements resources;
};
struct container_status_list {
    struct container_status *items;
    size_t count;
};

struct pod {
    struct object_meta metadata;
    struct text node_name;             // spec.nodeName
    struct text scheduler_name;        // spec.schedulerName
    struct text_list scheduling_gates; // names
    struct text scheduling_group;      // spec.schedulingGroup.podGroupName; empty: none
    struct pod_resource_claim_list resource_claims;
    struct container_list init_containers;
    struct container_list containers;
    struct quantity_map overhead;
    bool resources_set; // pod-level resources are there
    struct resource_requirements resources;
    struct text phase;
    struct text nominated_node_name;
    bool scheduled;     // there is a condition PodScheduled: a scheduler or a kubelet took note of the Pod
    struct text resize; // the reason of the condition PodResizePending; without it "InProgress" for
                        // PodResizeInProgress
    struct pod_claim_status_list claim_statuses;
    struct opt_text extended_claim_name; // status.extendedResourceClaimStatus.resourceClaimName
    struct node_allocatable_claim_status_list allocatable_statuses;
    struct container_status_list init_container_statuses;
    struct container_status_list container_statuses;
    struct quantity_map allocated_resources; // status.allocatedResources (pod level)
    bool status_resources_set;
    struct resource_requirements status_resources; // status.resources (pod level)
};

#endif
