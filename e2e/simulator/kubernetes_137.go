//go:build !kubernetes136

// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helper "k8s.io/component-helpers/resource"
)

// Minor is the Kubernetes minor that this is compiled for.
const Minor = 37

const kubeletVersion = "v1.37.2"

var declaredFeatures = []string{"DRANodeAllocatableResources"}

// The kubelet of this minor says what it has given each container, what its devices take of the node included.
func containerStatuses(pod *corev1.Pod) []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for i := range pod.Spec.Containers {
		container := &pod.Spec.Containers[i]
		given := corev1.ResourceList{}
		Add(given, container.Resources.Requests)
		Add(given, helper.GetContainerDRAAllocations(pod, container.Name))
		if len(given) == 0 {
			continue
		}
		statuses = append(statuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			AllocatedResources: given, Resources: &corev1.ResourceRequirements{Requests: given},
		})
	}
	return statuses
}

// SetFootprints makes the device take something of its node.
func SetFootprints(device *resourceapi.Device, footprints map[corev1.ResourceName]Footprint) {
	device.NodeAllocatableResources = map[corev1.ResourceName]resourceapi.NodeAllocatableResource{}
	for name, footprint := range footprints {
		var out resourceapi.NodeAllocatableResource
		switch {
		case footprint.CapacityKey != "":
			key := resourceapi.QualifiedName(footprint.CapacityKey)
			out.Mapping = &resourceapi.NodeAllocatableMapping{CapacityKey: &key, CapacityMultiplier: parsed(cmp.Or(footprint.Multiplier, "1"))}
		case footprint.Fixed != "":
			out.Mapping = &resourceapi.NodeAllocatableMapping{DeviceMultiplier: parsed(footprint.Fixed)}
		}
		if footprint.PerPod != "" || footprint.PerContainer != "" {
			out.Overhead = &resourceapi.NodeAllocatableOverhead{}
			if footprint.PerPod != "" {
				out.Overhead.PerPod = parsed(footprint.PerPod)
			}
			if footprint.PerContainer != "" {
				out.Overhead.PerContainer = parsed(footprint.PerContainer)
			}
		}
		device.NodeAllocatableResources[name] = out
	}
}

// Taken is what an allocation result takes of the node for a Pod with so many containers that use the claim, read
// from the device as it was published.
func Taken(device *resourceapi.Device, result *resourceapi.DeviceRequestAllocationResult, containers int) corev1.ResourceList {
	taken := corev1.ResourceList{}
	for name, entry := range device.NodeAllocatableResources {
		var sum resource.Quantity
		if mapping := entry.Mapping; mapping != nil && mapping.DeviceMultiplier != nil {
			sum.Add(*mapping.DeviceMultiplier)
		} else if mapping != nil && mapping.CapacityKey != nil {
			if consumed, ok := result.ConsumedCapacity[*mapping.CapacityKey]; ok {
				sum.Add(product(consumed, *mapping.CapacityMultiplier))
			}
		}
		addOverhead(&sum, entry.Overhead, containers)
		taken[name] = sum
	}
	return taken
}

func addOverhead(sum *resource.Quantity, overhead *resourceapi.NodeAllocatableOverhead, containers int) {
	if overhead == nil {
		return
	}
	if overhead.PerPod != nil {
		sum.Add(*overhead.PerPod)
	}
	for range containers {
		if overhead.PerContainer != nil {
			sum.Add(*overhead.PerContainer)
		}
	}
}

// Reported is what a Pod's status says about one claim.
func Reported(status *corev1.NodeAllocatableResourceClaimStatus) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for _, mapping := range status.Mapping {
		if mapping.Quantity != nil {
			Add(sum, corev1.ResourceList{mapping.Name: *mapping.Quantity})
		}
	}
	for _, overhead := range status.Overhead {
		if overhead.PerPod != nil {
			Add(sum, corev1.ResourceList{overhead.Name: *overhead.PerPod})
		}
		for range status.Containers {
			if overhead.PerContainer != nil {
				Add(sum, corev1.ResourceList{overhead.Name: *overhead.PerContainer})
			}
		}
	}
	return sum
}
