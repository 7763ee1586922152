// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// policy merges a patch into the LedgerPolicy's spec.
func (r *run) policy(ctx context.Context, spec string) {
	r.Helper()
	r.must(r.client.Discovery().RESTClient().Patch(types.MergePatchType).AbsPath("/apis/drawbridge.dev/v1alpha1/ledgerpolicies/default").
		Body([]byte(`{"spec":` + spec + `}`)).Do(ctx).Error())
}

// clear removes all Pods and claims.
func (r *run) clear(ctx context.Context) {
	now := int64(0)
	for _, namespace := range []string{work, admin} {
		r.must(r.client.CoreV1().Pods(namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{}))
		r.must(r.client.ResourceV1().ResourceClaims(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	}
	r.settle(ctx)
}

// podOfTwo asks for a device of each of two drivers. Its claims are made, it is not.
func (r *run) podOfTwo(ctx context.Context) *corev1.Pod {
	none := false
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: r.random.name("two"), Namespace: work}}
	pod.Spec = corev1.PodSpec{AutomountServiceAccountToken: &none, Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	for _, request := range []resourceapi.DeviceRequest{exactly("gpu", gpuDriver, 1), exactly("huge", hugeDriver, 1)} {
		r.random.use(pod, r.makeClaim(ctx, work, resourceapi.ResourceClaimSpec{Devices: resourceapi.DeviceClaim{Requests: []resourceapi.DeviceRequest{request}}}))
	}
	return pod
}

// staleNodes: two of three nodes are not heard of any more. Each new Pod has the third one within five seconds.
func (r *run) staleNodes(ctx context.Context) {
	r.policy(ctx, `{"windows":{"lease":"8s"}}`)
	for _, node := range r.nodes[:2] {
		r.silent[node].Store(true)
	}
	r.eventually(30*time.Second, "taint rules for the stale nodes", func() string {
		raw, err := r.client.Discovery().RESTClient().Get().AbsPath(taintRulesPath).DoRaw(ctx)
		r.must(err)
		for _, node := range r.nodes[:2] {
			for _, driver := range []string{gpuDriver, hugeDriver} {
				if !strings.Contains(string(raw), `"`+node+"-"+driver+`"`) {
					return node + " has none for " + driver
				}
			}
		}
		return ""
	})
	for range 6 {
		pod := r.podOfTwo(ctx)
		r.makePod(ctx, pod)
		r.eventually(5*time.Second, "a Pod has the fresh node", func() string { return r.isOn(ctx, pod, r.nodes[2]) })
	}
	for _, node := range r.nodes[:2] {
		r.must(r.kubelet[node].Renew(ctx, time.Now()))
		r.silent[node].Store(false)
	}
	r.policy(ctx, `{"windows":{"lease":null}}`)
	r.clear(ctx)
}

func (r *run) isOn(ctx context.Context, pod *corev1.Pod, node string) string {
	found, err := r.client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
	r.must(err)
	if found.Spec.NodeName != node {
		return fmt.Sprintf("it has %q: %+v", found.Spec.NodeName, found.Status.Conditions)
	}
	return ""
}

const frozen = `{"hold":{"taint":false,"gate":false},"freezes":[{"driver":"` + gpuDriver + `","reason":"a drill","by":"e2e","at":%q,"expires":%q}]}`

func (r *run) freeze(ctx context.Context) {
	at := time.Now().UTC().Add(-time.Second)
	r.policy(ctx, fmt.Sprintf(frozen, at.Format(time.RFC3339), at.Add(time.Hour).Format(time.RFC3339)))
}

// twoDrivers: one of a Pod's two drivers is frozen, again and again, while Pods are scheduled and denial alone holds
// them. None is ever left with one claim allocated, and in the end each is charged for both.
func (r *run) twoDrivers(ctx context.Context) {
	var pods []*corev1.Pod // nobody but controllers may make claims in a freeze
	for range 1 + 8 + 2*8 {
		pods = append(pods, r.podOfTwo(ctx))
	}
	next := func() {
		r.makePod(ctx, pods[0])
		pods = pods[1:]
	}
	r.freeze(ctx)
	held := pods[0]
	next()
	r.eventually(20*time.Second, "the Pod is told why it waits", func() string {
		pod, err := r.client.CoreV1().Pods(work).Get(ctx, held.Name, metav1.GetOptions{})
		r.must(err)
		for _, condition := range pod.Status.Conditions {
			if strings.Contains(condition.Message, "a drill") {
				return ""
			}
		}
		return fmt.Sprintf("%+v", pod.Status.Conditions)
	})
	for range 8 {
		r.noneAllocated(ctx)
		next()
	}
	for i := range 8 {
		r.policy(ctx, `{"freezes":[]}`)
		next()
		time.Sleep(time.Duration(100+100*i) * time.Millisecond) // where in the scheduler's work the next freeze begins
		r.freeze(ctx)
		next()
		time.Sleep(time.Duration(200+r.random.IntN(500)) * time.Millisecond)
	}
	r.policy(ctx, `{"hold":null,"freezes":[]}`)
	r.eventually(90*time.Second, "all Pods have a node", func() string {
		p, err := takePicture(ctx, r.client)
		r.must(err)
		for i := range p.pods {
			if p.pods[i].Spec.NodeName == "" {
				return fmt.Sprintf("Pod %s: %+v", p.pods[i].Name, p.pods[i].Status.Conditions)
			}
		}
		return ""
	})
	before := r.diverged
	r.settle(ctx)
	if r.diverged > before {
		r.Errorf("%d claims run uncharged", r.diverged-before)
	}
	denied, err := denials(os.Getenv("SERVER_LOG"))
	r.must(err)
	if len(denied) == 0 {
		r.Error("no allocation was denied, so nothing was proved")
	}
	for _, line := range denied {
		_, rules, _ := strings.Cut(line, " by ")
		rules = strings.NewReplacer("frozen", "", "ledger-stale", "", ",", "").Replace(rules)
		if !strings.HasPrefix(line, "UPDATE of resourceclaims ") || rules != "" {
			r.Errorf("denied: %s", line)
		}
	}
}

func (r *run) noneAllocated(ctx context.Context) {
	p, err := takePicture(ctx, r.client)
	r.must(err)
	for name, claim := range p.claims {
		if claim.Status.Allocation != nil {
			r.Errorf("claim %s is allocated while its Pod is held", name)
		}
	}
}
