// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drawbridge.dev/e2e/simulator"
)

// random makes Pods and claims; the same seed makes the same ones.
type random struct {
	*rand.Rand
	count int
}

func newRandom(seed uint64) *random { return &random{Rand: rand.New(rand.NewPCG(seed, seed))} }

// chance is true in so many of a hundred cases.
func (r *random) chance(percent int) bool { return r.IntN(100) < percent }

func (r *random) name(what string) string {
	r.count++
	return fmt.Sprintf("%s-%d", what, r.count)
}

func exactly(name, class string, count int64) resourceapi.DeviceRequest {
	return resourceapi.DeviceRequest{Name: name, Exactly: &resourceapi.ExactDeviceRequest{DeviceClassName: class, AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: count}}
}

func (r *random) consumption() *resourceapi.CapacityRequirements {
	return &resourceapi.CapacityRequirements{Requests: map[resourceapi.QualifiedName]resource.Quantity{
		"cpu": resource.MustParse(fmt.Sprint(1 + r.IntN(3))), "memory": resource.MustParse(fmt.Sprintf("%dGi", 1+r.IntN(4))),
	}}
}

func (r *random) consuming(name string) resourceapi.DeviceRequest {
	request := exactly(name, cpuDriver, 1)
	if r.chance(80) {
		request.Exactly.Capacity = r.consumption()
	}
	return request
}

// prioritized wants what does not exist, and takes what comes next.
func (r *random) prioritized() resourceapi.DeviceRequest {
	sub := func(name, class string, count int64) resourceapi.DeviceSubRequest {
		return resourceapi.DeviceSubRequest{Name: name, DeviceClassName: class, AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: count}
	}
	request := resourceapi.DeviceRequest{Name: "any", FirstAvailable: []resourceapi.DeviceSubRequest{sub("many", gpuDriver, 30), sub("huge", hugeDriver, 1), sub("gpu", gpuDriver, 1)}}
	if r.chance(50) {
		consuming := sub("cpu", cpuDriver, 1)
		consuming.Capacity = r.consumption()
		request.FirstAvailable[1] = consuming
	}
	return request
}

func (r *random) claimSpec() resourceapi.ResourceClaimSpec {
	var requests []resourceapi.DeviceRequest
	switch r.IntN(8) {
	case 0, 1:
		requests = []resourceapi.DeviceRequest{exactly("gpu", gpuDriver, int64(1+r.IntN(2)))}
	case 2, 3:
		requests = []resourceapi.DeviceRequest{r.consuming("cpu")}
	case 4:
		requests = []resourceapi.DeviceRequest{exactly("gpu", gpuDriver, 1), r.consuming("cpu")}
	case 5:
		requests = []resourceapi.DeviceRequest{exactly("huge", hugeDriver, 1)}
	case 6:
		requests = []resourceapi.DeviceRequest{exactly("nic", nicDriver, 1), exactly("gpu", gpuDriver, 1)}
	default:
		requests = []resourceapi.DeviceRequest{r.prioritized()}
	}
	return resourceapi.ResourceClaimSpec{Devices: resourceapi.DeviceClaim{Requests: requests}}
}

func monitorSpec() resourceapi.ResourceClaimSpec {
	request, yes := exactly("monitor", gpuDriver, 1), true
	request.Exactly.AdminAccess = &yes
	return resourceapi.ResourceClaimSpec{Devices: resourceapi.DeviceClaim{Requests: []resourceapi.DeviceRequest{request}}}
}

func (r *random) requests(small bool) corev1.ResourceRequirements {
	list := corev1.ResourceList{}
	if r.chance(70) {
		list[corev1.ResourceCPU] = resource.MustParse(fmt.Sprintf("%dm", r.IntN(400)))
	}
	if r.chance(70) {
		list[corev1.ResourceMemory] = resource.MustParse(fmt.Sprintf("%dMi", r.IntN(512)))
	}
	requirements := corev1.ResourceRequirements{Requests: list}
	if small {
		return requirements
	}
	if r.chance(15) {
		list[corev1.ResourceEphemeralStorage] = resource.MustParse(fmt.Sprintf("%dMi", 1+r.IntN(900)))
	}
	if r.chance(15) {
		pages := resource.MustParse(fmt.Sprintf("%dMi", 2*(1+r.IntN(8))))
		list["hugepages-2Mi"], list[corev1.ResourceCPU] = pages, resource.MustParse("110m")
		requirements.Limits = corev1.ResourceList{"hugepages-2Mi": pages}
	}
	return requirements
}

// pod makes a Pod without claims.
func (r *random) pod(namespace string) *corev1.Pod {
	none, podLevel := false, r.chance(15)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: r.name("pod"), Namespace: namespace}, Spec: corev1.PodSpec{AutomountServiceAccountToken: &none}}
	for i := range 1 + r.IntN(3) {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: fmt.Sprintf("c%d", i), Image: "i", Resources: r.requests(podLevel)})
	}
	for i := range max(0, r.IntN(5)-2) {
		container := corev1.Container{Name: fmt.Sprintf("init%d", i), Image: "i", Resources: r.requests(podLevel)}
		if r.chance(50) {
			always := corev1.ContainerRestartPolicyAlways
			container.RestartPolicy = &always
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, container)
	}
	if podLevel {
		pod.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10"), corev1.ResourceMemory: resource.MustParse("20Gi")}}
	}
	if r.chance(20) {
		sandbox := "sandbox"
		pod.Spec.RuntimeClassName = &sandbox
	}
	return pod
}

// use makes the Pod ask for a claim, and some of its containers use it.
func (r *random) use(pod *corev1.Pod, claim corev1.PodResourceClaim) {
	claim.Name = fmt.Sprintf("claim-%d", len(pod.Spec.ResourceClaims))
	pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, claim)
	reference, used := corev1.ResourceClaim{Name: claim.Name}, false
	for i := range pod.Spec.InitContainers {
		if r.chance(25) {
			pod.Spec.InitContainers[i].Resources.Claims = append(pod.Spec.InitContainers[i].Resources.Claims, reference)
			used = true
		}
	}
	for i := range pod.Spec.Containers {
		if r.chance(40) || (!used && i == len(pod.Spec.Containers)-1) {
			pod.Spec.Containers[i].Resources.Claims = append(pod.Spec.Containers[i].Resources.Claims, reference)
			used = true
		}
	}
}

func (r *random) isSharing() bool { return simulator.Minor >= 37 && r.chance(12) }
