// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"context"
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	helper "k8s.io/component-helpers/resource"

	"drawbridge.dev/e2e/simulator"
)

// picture is what the API server holds.
type picture struct {
	versions map[string]string // of what a node's account depends on, by kind and name
	pods     []corev1.Pod
	claims   map[string]*resourceapi.ResourceClaim // namespace/name
	devices  map[string]*resourceapi.Device        // driver/pool/device, of the highest generation
}

func takePicture(ctx context.Context, client kubernetes.Interface) (*picture, error) {
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	claims, err := client.ResourceV1().ResourceClaims("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	slices, err := client.ResourceV1().ResourceSlices().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	p := &picture{versions: map[string]string{}, pods: pods.Items, claims: map[string]*resourceapi.ResourceClaim{}, devices: map[string]*resourceapi.Device{}}
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.Spec.NodeName != "" { // the others change whenever the scheduler tries again
			p.versions["Pod "+pod.Namespace+"/"+pod.Name] = string(pod.UID) + pod.ResourceVersion
		}
	}
	for i := range claims.Items {
		claim := &claims.Items[i]
		p.claims[claim.Namespace+"/"+claim.Name] = claim
		p.versions["claim "+claim.Namespace+"/"+claim.Name] = string(claim.UID) + claim.ResourceVersion
	}
	newest := map[string]int64{}
	for i := range slices.Items {
		spec := &slices.Items[i].Spec
		pool := spec.Driver + "/" + spec.Pool.Name
		newest[pool] = max(newest[pool], spec.Pool.Generation)
	}
	for i := range slices.Items {
		spec := &slices.Items[i].Spec
		p.versions["slice "+slices.Items[i].Name] = string(slices.Items[i].UID) + slices.Items[i].ResourceVersion
		for k := range spec.Devices {
			if pool := spec.Driver + "/" + spec.Pool.Name; spec.Pool.Generation == newest[pool] {
				p.devices[pool+"/"+spec.Devices[k].Name] = &spec.Devices[k]
			}
		}
	}
	return p, nil
}

// changed names something that is another one in the later picture; nothing when all is the same.
func (p *picture) changed(later *picture) string {
	for name, version := range p.versions {
		if later.versions[name] != version {
			return name
		}
	}
	for name := range later.versions {
		if p.versions[name] == "" {
			return name
		}
	}
	return ""
}

// divergence is a claim that the scheduler charged otherwise than it should have.
type divergence struct{ Pod, Claim, Class, Expected, Reported string }

// account is what a node should have in the ledger.
type account struct {
	dra      corev1.ResourceList            // what claims take by rights
	ordinary corev1.ResourceList            // the rest of what the scheduler counts
	numa     map[string]corev1.ResourceList // of dra, by NUMA node; "none" without
}

type expectation struct {
	accounts    map[string]*account
	divergences []divergence
	charged     int // claims of live Pods that the scheduler charged
	waiting     int // Pods that have no node
}

func isLive(pod *corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// options are those with which the scheduler counts what a Pod that has a node takes of it.
var options = helper.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true, UseDRANodeAllocatableResourceClaimStatus: true}

func (p *picture) expect(nodes []string) (*expectation, error) {
	out := &expectation{accounts: map[string]*account{}}
	for _, node := range nodes {
		out.accounts[node] = &account{dra: corev1.ResourceList{}, ordinary: corev1.ResourceList{}, numa: map[string]corev1.ResourceList{}}
	}
	for i := range p.pods {
		pod := &p.pods[i]
		if !isLive(pod) {
			continue
		}
		node := out.accounts[pod.Spec.NodeName]
		if node == nil {
			out.waiting++
			continue
		}
		if err := p.expectPod(pod, node, out); err != nil {
			return nil, err
		}
	}
	sort.Slice(out.divergences, func(i, k int) bool { return fmt.Sprint(out.divergences[i]) < fmt.Sprint(out.divergences[k]) })
	return out, nil
}

func subtract(from corev1.ResourceList, name corev1.ResourceName, quantity resource.Quantity) {
	sum := from[name]
	sum.Sub(quantity)
	from[name] = sum
}

// expectPod adds one Pod. What it requests as a whole holds its claims, charged or not; else what was charged for them
// stands in its status.
func (p *picture) expectPod(pod *corev1.Pod, node *account, out *expectation) error {
	simulator.Add(node.ordinary, helper.PodRequests(pod, options))
	byRights, err := p.expectClaims(pod, node, out)
	if err != nil {
		return err
	}
	isWhole := func(name corev1.ResourceName) bool {
		if pod.Spec.Resources == nil {
			return false
		}
		_, ok := pod.Spec.Resources.Requests[name]
		return ok
	}
	for name, quantity := range byRights {
		if isWhole(name) {
			subtract(node.ordinary, name, quantity)
		}
	}
	for k := range pod.Status.NodeAllocatableResourceClaimStatuses {
		for name, quantity := range simulator.Reported(&pod.Status.NodeAllocatableResourceClaimStatuses[k]) {
			if !isWhole(name) {
				subtract(node.ordinary, name, quantity)
			}
		}
	}
	return nil
}

// claimNames maps the Pod's names of its claims to names of claims.
func claimNames(pod *corev1.Pod) map[string]string {
	names := map[string]string{}
	for _, claim := range pod.Spec.ResourceClaims {
		if claim.ResourceClaimName != nil {
			names[claim.Name] = *claim.ResourceClaimName
		}
	}
	for _, status := range pod.Status.ResourceClaimStatuses {
		if status.ResourceClaimName != nil {
			names[status.Name] = *status.ResourceClaimName
		}
	}
	return names
}

// references counts the containers that use a claim.
func references(pod *corev1.Pod, name string) int {
	count := 0
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for _, claim := range containers[i].Resources.Claims {
				if claim.Name == name {
					count++
				}
			}
		}
	}
	return count
}

// expectClaims adds what a Pod's claims take, and returns it.
func (p *picture) expectClaims(pod *corev1.Pod, node *account, out *expectation) (corev1.ResourceList, error) {
	byRights := corev1.ResourceList{}
	reported := map[string]corev1.ResourceList{}
	for k := range pod.Status.NodeAllocatableResourceClaimStatuses {
		status := &pod.Status.NodeAllocatableResourceClaimStatuses[k]
		reported[status.ResourceClaimName] = simulator.Reported(status)
	}
	for name, claimName := range claimNames(pod) {
		claim := p.claims[pod.Namespace+"/"+claimName]
		if claim == nil || claim.Status.Allocation == nil {
			return nil, fmt.Errorf("Pod %s has node %s, but its claim %s is not allocated", pod.Name, pod.Spec.NodeName, claimName)
		}
		expected := corev1.ResourceList{}
		for i := range claim.Status.Allocation.Devices.Results {
			result := &claim.Status.Allocation.Devices.Results[i]
			device := p.devices[result.Driver+"/"+result.Pool+"/"+result.Device]
			if device == nil {
				return nil, fmt.Errorf("claim %s has device %s of %s, which is not published", claimName, result.Device, result.Pool)
			}
			taken := simulator.Taken(device, result, references(pod, name))
			numa := "none"
			if attribute, ok := device.Attributes[numaName]; ok {
				numa = fmt.Sprint(*attribute.IntValue)
			}
			if node.numa[numa] == nil {
				node.numa[numa] = corev1.ResourceList{}
			}
			simulator.Add(node.numa[numa], taken)
			simulator.Add(expected, taken)
		}
		simulator.Add(byRights, expected)
		if len(reported[claimName]) > 0 {
			out.charged++
		}
		if text(expected) != text(reported[claimName]) {
			out.divergences = append(out.divergences, divergence{
				Pod: pod.Namespace + "/" + pod.Name, Claim: claimName, Class: "preallocated-uncharged", Expected: text(expected), Reported: text(reported[claimName]),
			})
		}
		delete(reported, claimName)
	}
	for claimName := range reported {
		return nil, fmt.Errorf("Pod %s reports claim %s, which it does not have", pod.Name, claimName)
	}
	simulator.Add(node.dra, byRights)
	return byRights, nil
}

// text has the same form for the same amounts; what is zero is left out.
func text(list corev1.ResourceList) string {
	var parts []string
	for name, quantity := range list {
		if !quantity.IsZero() {
			amount := quantity.AsDec().String()
			if strings.Contains(amount, ".") {
				amount = strings.TrimRight(strings.TrimRight(amount, "0"), ".")
			}
			parts = append(parts, fmt.Sprintf("%s=%s", name, amount))
		}
	}
	sort.Strings(parts)
	return strings.Join(parts, " ")
}

func parse(quantities map[string]string) (corev1.ResourceList, error) {
	list := corev1.ResourceList{}
	for name, value := range quantities {
		quantity, err := resource.ParseQuantity(value)
		if err != nil {
			return nil, fmt.Errorf("%s %q: %w", name, value, err)
		}
		list[corev1.ResourceName(name)] = quantity
	}
	return list, nil
}
