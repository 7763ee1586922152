package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// review is what the API server asks when the scheduler allocates a waiting claim.
func (c cluster) review(i int) (*admissionv1.AdmissionReview, error) {
	kind := metav1.GroupVersionKind{Group: "resource.k8s.io", Version: "v1", Kind: "ResourceClaim"}
	resource := metav1.GroupVersionResource{Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaims"}
	no := false
	request := &admissionv1.AdmissionRequest{UID: uid(uidOther, i), Kind: kind, RequestKind: &kind, Resource: resource, RequestResource: &resource,
		SubResource: "status", RequestSubResource: "status", Name: c.claimName(i), Namespace: c.namespaceOf(i), Operation: admissionv1.Update, DryRun: &no,
		UserInfo: authenticationv1.UserInfo{Username: "system:kube-scheduler", Groups: []string{"system:authenticated"}},
		Options:  runtime.RawExtension{Raw: []byte(`{"kind":"UpdateOptions","apiVersion":"meta.k8s.io/v1"}`)}}
	for allocated, raw := range map[bool]*runtime.RawExtension{true: &request.Object, false: &request.OldObject} {
		claim, err := c.managedClaim(i, allocated)
		if err != nil {
			return nil, err
		}
		claim.TypeMeta = metav1.TypeMeta{Kind: "ResourceClaim", APIVersion: "resource.k8s.io/v1"}
		text, err := json.Marshal(claim)
		if err != nil {
			return nil, err
		}
		raw.Raw = text
	}
	return &admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{Kind: "AdmissionReview", APIVersion: "admission.k8s.io/v1"}, Request: request}, nil
}

// writeReviews writes one review a line, for the claims that wait.
func (c cluster) writeReviews(name string, most int) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	count := 0
	for i := 0; i < c.claims && count < most; i++ {
		if c.stateOf(i) != waiting {
			continue
		}
		review, err := c.review(i)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(out).Encode(review); err != nil {
			return err
		}
		count++
	}
	if count == 0 {
		return fmt.Errorf("no claim waits: there must be four claims a node")
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Close()
}
