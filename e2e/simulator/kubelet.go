// SPDX-License-Identifier: Apache-2.0

// Package simulator plays, against a real API server, the parts of a cluster that need a machine: the kubelet of a node,
// and DRA drivers. What drivers publish goes through the helper library that real drivers use.
//
// It compiles against the libraries of one minor: build tag kubernetes136 with go-1.36.mod, else 1.37.
package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const leaseNamespace = "kube-node-lease"

// Kubelet writes what the kubelet of one node writes. It runs no containers.
type Kubelet struct {
	Node   string
	UID    types.UID
	client kubernetes.Interface
}

// StartKubelet registers the node, or takes it over as a restarted kubelet does.
func StartKubelet(ctx context.Context, client kubernetes.Interface, node string, resources corev1.ResourceList) (*Kubelet, error) {
	k := &Kubelet{Node: node, client: client}
	wanted := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: map[string]string{corev1.LabelHostname: node}}}
	if _, err := client.CoreV1().Nodes().Create(ctx, wanted, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	stored, err := client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(`{"spec":{"taints":null}}`), metav1.PatchOptions{})
	if err != nil {
		return nil, err
	}
	k.UID = stored.UID
	if err := k.SetResources(ctx, resources); err != nil {
		return nil, err
	}
	return k, k.Renew(ctx, time.Now())
}

// SetResources patches capacity and allocatable, and says that the node is ready.
func (k *Kubelet) SetResources(ctx context.Context, resources corev1.ResourceList) error {
	status := map[string]any{
		"capacity":    resources,
		"allocatable": resources,
		"nodeInfo":    map[string]any{"kubeletVersion": kubeletVersion},
		"conditions": []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastTransitionTime: metav1.Now(), LastHeartbeatTime: metav1.Now(),
		}},
	}
	if len(declaredFeatures) > 0 {
		status["declaredFeatures"] = declaredFeatures
	}
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	_, err = k.client.CoreV1().Nodes().Patch(ctx, k.Node, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// Renew writes the node's Lease.
func (k *Kubelet) Renew(ctx context.Context, at time.Time) error {
	leases := k.client.CoordinationV1().Leases(leaseNamespace)
	seconds, when := int32(40), metav1.NewMicroTime(at)
	spec := coordinationv1.LeaseSpec{HolderIdentity: &k.Node, LeaseDurationSeconds: &seconds, RenewTime: &when}
	lease, err := leases.Get(ctx, k.Node, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: k.Node, Namespace: leaseNamespace}, Spec: spec}, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	lease.Spec = spec
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}

// Sync looks once at the node's Pods: new ones run, deleted ones are gone.
func (k *Kubelet) Sync(ctx context.Context) error {
	pods, err := k.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", k.Node).String()})
	if err != nil {
		return err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		switch {
		case pod.DeletionTimestamp != nil:
			now := int64(0)
			err = k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID}})
		case pod.Status.Phase == corev1.PodPending:
			err = k.setStatus(ctx, pod, corev1.PodRunning)
		}
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("Pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}
	return nil
}

// Finish ends a Pod: phase Succeeded or Failed.
func (k *Kubelet) Finish(ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase) error {
	return k.setStatus(ctx, pod, phase)
}

func (k *Kubelet) setStatus(ctx context.Context, pod *corev1.Pod, phase corev1.PodPhase) error {
	status := map[string]any{"phase": phase}
	if statuses := containerStatuses(pod); len(statuses) > 0 && phase == corev1.PodRunning {
		status["containerStatuses"] = statuses
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	if err != nil {
		return err
	}
	_, err = k.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

// WipeSlices deletes the node's ResourceSlices of one driver, or of all: what a kubelet does when a driver has been
// gone for half a minute, and when it starts.
func (k *Kubelet) WipeSlices(ctx context.Context, driver string) error {
	selector := fields.Set{"spec.nodeName": k.Node}
	if driver != "" {
		selector["spec.driver"] = driver
	}
	return k.client.ResourceV1().ResourceSlices().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: selector.String()})
}
