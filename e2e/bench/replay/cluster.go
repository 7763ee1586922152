package main

import (
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	driver     = "gpu.example.com"
	claimClass = "gpu.example.com"
	namespaces = 100
	templates  = 100
)

var made = metav1.NewTime(time.Date(2026, 11, 30, 7, 0, 0, 0, time.UTC))

// cluster tells how much there is of each kind, and which object is which.
type cluster struct {
	nodes, pods, claims, devices int
}

func (c cluster) nodeName(i int) string  { return fmt.Sprintf("node-%05d", i) }
func (c cluster) podName(i int) string   { return fmt.Sprintf("trainer-%d-%d", i/8, i%8) }
func (c cluster) claimName(i int) string { return c.podName(i) + "-gpu" }
func (c cluster) namespaceOf(i int) string {
	return fmt.Sprintf("team-%02d", i/8%namespaces)
}

// nodeOf tells the node of a Pod and of its claim; claims come first, so that each node has its share.
func (c cluster) nodeOf(i int) int { return i % c.nodes }

// A claim's state. Of four on a node two are settled, one goes back and forth, one waits for the gate.
type claimState int

const (
	settled claimState = iota
	churning
	waiting
)

func (c cluster) stateOf(claim int) claimState {
	switch claim / c.nodes % 4 {
	case 2:
		return churning
	case 3:
		return waiting
	}
	return settled
}

func uid(kind, i int) types.UID {
	return types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", kind, i))
}

const (
	uidNode = iota + 1
	uidPod
	uidClaim
	uidSlice
	uidOther
)

func meta(kind, i int, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, UID: uid(kind, i), CreationTimestamp: made, ResourceVersion: firstVersion}
}

func (c cluster) node(i int) *corev1.Node {
	name := c.nodeName(i)
	node := &corev1.Node{ObjectMeta: meta(uidNode, i, name)}
	node.Labels = map[string]string{"beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
		"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "node.kubernetes.io/instance-type": "gpu-8x-large",
		"topology.kubernetes.io/region": "eu-1", "topology.kubernetes.io/zone": fmt.Sprintf("eu-1%c", 'a'+i%3), "example.com/pool": "gpu",
		"drawbridge.dev/canary": "true"}
	node.Annotations = map[string]string{"node.alpha.kubernetes.io/ttl": "300", "volumes.kubernetes.io/controller-managed-attach-detach": "true"}
	node.Spec.PodCIDR = fmt.Sprintf("10.%d.%d.0/24", i/256%256, i%256)
	node.Spec.PodCIDRs = []string{node.Spec.PodCIDR}
	list := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory), "pods": resource.MustParse("250"),
			"ephemeral-storage": resource.MustParse("944801184Ki"), "hugepages-1Gi": resource.MustParse("0"), "hugepages-2Mi": resource.MustParse("0")}
	}
	node.Status.Capacity = list("192", "2113441768Ki")
	node.Status.Allocatable = list("190", "2100334568Ki")
	for _, kind := range []string{"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"} {
		status, reason := corev1.ConditionFalse, "KubeletHasNo"+kind
		if kind == "Ready" {
			status, reason = corev1.ConditionTrue, "KubeletReady"
		}
		node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeConditionType(kind), Status: status,
			LastHeartbeatTime: made, LastTransitionTime: made, Reason: reason, Message: "kubelet has posted " + reason})
	}
	node.Status.Addresses = []corev1.NodeAddress{{Type: "InternalIP", Address: fmt.Sprintf("172.16.%d.%d", i/250, i%250)}, {Type: "Hostname", Address: name}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = 10250
	node.Status.NodeInfo = corev1.NodeSystemInfo{MachineID: fmt.Sprintf("%032x", i), SystemUUID: string(uid(uidOther, i)), BootID: string(uid(uidOther, i)),
		KernelVersion: "6.1.0-28-amd64", OSImage: "Debian GNU/Linux 12 (bookworm)", ContainerRuntimeVersion: "containerd://2.2.1",
		KubeletVersion: "v1.37.2", OperatingSystem: "linux", Architecture: "amd64"}
	for k := range 30 {
		image := fmt.Sprintf("registry.example.com/team-%d/image-%d", k%7, k)
		node.Status.Images = append(node.Status.Images, corev1.ContainerImage{
			Names: []string{fmt.Sprintf("%s@sha256:%064x", image, k*7919), image + ":v1.2.3"}, SizeBytes: int64(20000000 + k*1234567)})
	}
	node.Status.DeclaredFeatures = []string{"DRANodeAllocatableResources"}
	return node
}

func (c cluster) lease(i int) *coordinationv1.Lease {
	holder, seconds, renewed := c.nodeName(i), int32(40), metav1.NewMicroTime(leaseEpoch)
	lease := &coordinationv1.Lease{ObjectMeta: meta(uidOther, 1000000+i, holder)}
	lease.Namespace = "kube-node-lease"
	lease.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: holder, UID: uid(uidNode, i)}}
	lease.Spec = coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &renewed}
	return lease
}

func text(value string) resourcev1.DeviceAttribute {
	return resourcev1.DeviceAttribute{StringValue: &value}
}
func number(value int64) resourcev1.DeviceAttribute {
	return resourcev1.DeviceAttribute{IntValue: &value}
}
func version(value string) resourcev1.DeviceAttribute {
	return resourcev1.DeviceAttribute{VersionValue: &value}
}

func (c cluster) slice(i int) *resourcev1.ResourceSlice {
	name, controller := c.nodeName(i), true
	slice := &resourcev1.ResourceSlice{ObjectMeta: meta(uidSlice, i, fmt.Sprintf("%s-%s-x%04x", name, driver, i))}
	slice.GenerateName = name + "-" + driver + "-"
	slice.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: name, UID: uid(uidNode, i), Controller: &controller}}
	slice.Spec = resourcev1.ResourceSliceSpec{Driver: driver, NodeName: &name,
		Pool: resourcev1.ResourcePool{Name: name, Generation: firstGeneration, ResourceSliceCount: 1}}
	one, memory := resource.MustParse("1"), resource.MustParse("2Gi")
	for k := range c.devices {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", k),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"driverVersion": version("1.2.3"), "index": number(int64(k)), "model": text("example-80"), "productName": text("Example GPU 80GB"),
				"resource.kubernetes.io/pcieRoot": text(fmt.Sprintf("pci0000:%02x", k%16)), "resource.kubernetes.io/numaNode": number(int64(k % 2)),
				"uuid": text(fmt.Sprintf("GPU-%08x-0000-4000-8000-%012x", i, k))},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("80Gi")}},
			NodeAllocatableResources: map[corev1.ResourceName]resourcev1.NodeAllocatableResource{
				"cpu":    {Mapping: &resourcev1.NodeAllocatableMapping{DeviceMultiplier: &one}},
				"memory": {Mapping: &resourcev1.NodeAllocatableMapping{DeviceMultiplier: &memory}}}})
	}
	return slice
}

// claim gives a claim as it waits, or as it is allocated to its Pod: two devices of its node.
func (c cluster) claim(i int, allocated bool) *resourcev1.ResourceClaim {
	controller := true
	claim := &resourcev1.ResourceClaim{ObjectMeta: meta(uidClaim, i, c.claimName(i))}
	claim.Namespace = c.namespaceOf(i)
	claim.GenerateName = c.podName(i) + "-gpu-"
	claim.Annotations = map[string]string{"resource.kubernetes.io/pod-claim-name": "gpu"}
	claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: c.podName(i), UID: uid(uidPod, i), Controller: &controller, BlockOwnerDeletion: &controller}}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpus", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: claimClass,
		AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 2}}}
	if !allocated {
		return claim
	}
	claim.Finalizers = []string{"resource.kubernetes.io/delete-protection"}
	claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: c.podName(i), UID: uid(uidPod, i)}}
	claim.Status.Allocation = &resourcev1.AllocationResult{AllocationTimestamp: &made, NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{c.nodeName(c.nodeOf(i))}}}}}}}
	for k := range 2 {
		device := (i/c.nodes*2 + k) % c.devices
		claim.Status.Allocation.Devices.Results = append(claim.Status.Allocation.Devices.Results, resourcev1.DeviceRequestAllocationResult{
			Request: "gpus", Driver: driver, Pool: c.nodeName(c.nodeOf(i)), Device: fmt.Sprintf("gpu-%d", device)})
	}
	return claim
}

var claimManager = newManager("resource.k8s.io/v1", "kube-controller-manager", "kube-scheduler")

func (c cluster) managedClaim(i int, allocated bool) (*resourcev1.ResourceClaim, error) {
	claim := c.claim(i, allocated)
	return claim, claimManager.manage(claim, fmt.Sprint(allocated), string(uid(uidPod, i)))
}

func (c cluster) class() *resourcev1.DeviceClass {
	class := &resourcev1.DeviceClass{ObjectMeta: meta(uidOther, 2, claimClass)}
	class.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "` + driver + `"`}}}
	return class
}

func (c cluster) template(i int) *resourcev1.ResourceClaimTemplate {
	template := &resourcev1.ResourceClaimTemplate{ObjectMeta: meta(uidOther, 1000+i, "gpu")}
	template.Namespace = fmt.Sprintf("team-%02d", i%namespaces)
	template.Spec.Spec = c.claim(0, false).Spec
	return template
}

func (c cluster) namespace(i int) *corev1.Namespace {
	namespace := &corev1.Namespace{ObjectMeta: meta(uidOther, 5000+i, fmt.Sprintf("team-%02d", i))}
	namespace.Labels = map[string]string{"kubernetes.io/metadata.name": namespace.Name, "pod-security.kubernetes.io/enforce": "baseline",
		"drawbridge.dev/canary": "true"}
	namespace.Spec.Finalizers = []corev1.FinalizerName{"kubernetes"}
	namespace.Status.Phase = corev1.NamespaceActive
	return namespace
}
