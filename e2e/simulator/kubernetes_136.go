//go:build kubernetes136

// SPDX-License-Identifier: Apache-2.0

package simulator

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
)

// Minor is the Kubernetes minor that this is compiled for.
const Minor = 36

const kubeletVersion = "v1.36.3"

var declaredFeatures []string

// The kubelet of this minor knows nothing of what devices take of the node.
func containerStatuses(*corev1.Pod) []corev1.ContainerStatus { return nil }

// SetFootprints makes the device take something of its node.
func SetFootprints(device *resourceapi.Device, footprints map[corev1.ResourceName]Footprint) {
	device.NodeAllocatableResourceMappings = map[corev1.ResourceName]resourceapi.NodeAllocatableResourceMapping{}
	for name, footprint := range footprints {
		var mapping resourceapi.NodeAllocatableResourceMapping
		switch {
		case footprint.CapacityKey != "":
			key := resourceapi.QualifiedName(footprint.CapacityKey)
			mapping.CapacityKey = &key
			// The API server fills in 1; the drivers' library then says that fields were dropped.
			mapping.AllocationMultiplier = parsed(cmp.Or(footprint.Multiplier, "1"))
		case footprint.Fixed != "":
			mapping.AllocationMultiplier = parsed(footprint.Fixed)
		default:
			continue
		}
		device.NodeAllocatableResourceMappings[name] = mapping
	}
}

// Taken is what an allocation result takes of the node, read from the device as it was published.
func Taken(device *resourceapi.Device, result *resourceapi.DeviceRequestAllocationResult, _ int) corev1.ResourceList {
	taken := corev1.ResourceList{}
	for name, mapping := range device.NodeAllocatableResourceMappings {
		if mapping.CapacityKey == nil {
			taken[name] = *mapping.AllocationMultiplier
			continue
		}
		consumed, ok := result.ConsumedCapacity[*mapping.CapacityKey]
		if !ok {
			continue
		}
		if mapping.AllocationMultiplier != nil {
			consumed = product(consumed, *mapping.AllocationMultiplier)
		}
		taken[name] = consumed
	}
	return taken
}

// Reported is what a Pod's status says about one claim.
func Reported(status *corev1.NodeAllocatableResourceClaimStatus) corev1.ResourceList {
	sum := corev1.ResourceList{}
	Add(sum, status.Resources)
	return sum
}
