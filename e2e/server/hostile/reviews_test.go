// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"encoding/json"
	"strings"
)

const goodUID = "7f0c1f6e-0000-4000-8000-000000000001"

type object = map[string]any

// claim returns a ResourceClaim that every server takes.
func claim() object {
	return object{
		"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
		"metadata": object{"name": "job-1", "namespace": "training", "labels": object{"app": "job"}},
		"spec": object{"devices": object{
			"requests": []any{object{"name": "gpu", "exactly": object{"deviceClassName": "gpus", "allocationMode": "ExactCount", "count": 1,
				"selectors": []any{object{"cel": object{"expression": "device.driver == 'gpu.example.com'"}}}}}},
			"config": []any{object{"requests": []any{"gpu"}, "opaque": object{"driver": "gpu.example.com", "parameters": object{"mode": "fast"}}}},
		}},
		"status": object{},
	}
}

// slice returns a ResourceSlice with this many good devices.
func slice(count int) object {
	devices := make([]any, count)
	for i := range devices {
		devices[i] = object{
			"name":                            "nic-" + string(rune('a'+i/26)) + string(rune('a'+i%26)),
			"attributes":                      object{"model": object{"string": "x"}, "index": object{"int": i}},
			"capacity":                        object{"bandwidth": object{"value": "100G"}},
			"nodeAllocatableResourceMappings": object{"memory": object{"allocationMultiplier": "512Mi"}},
		}
	}
	return object{
		"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
		"metadata": object{"name": "nic.example.com-node-a"},
		"spec": object{"driver": "nic.example.com", "nodeName": "node-a",
			"pool": object{"name": "node-a", "generation": 1, "resourceSliceCount": 1}, "devices": devices},
	}
}

var resources = map[string]string{"ResourceClaim": "resourceclaims", "ResourceSlice": "resourceslices",
	"ResourceClaimTemplate": "resourceclaimtemplates", "DeviceClass": "deviceclasses", "Pod": "pods"}

// request returns the review of an object as the API server sends it; change may alter its request.
func request(o object, change func(request object)) object {
	kind := o["kind"].(string)
	gvk := object{"group": "resource.k8s.io", "version": "v1", "kind": kind}
	gvr := object{"group": "resource.k8s.io", "version": "v1", "resource": resources[kind]}
	metadata := o["metadata"].(object)
	r := object{"uid": goodUID, "kind": gvk, "resource": gvr, "requestKind": gvk, "requestResource": gvr,
		"name": metadata["name"], "operation": "CREATE", "userInfo": object{"username": "jane", "groups": []any{"system:authenticated"}},
		"object": o, "oldObject": nil, "dryRun": false, "options": object{"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}}
	if namespace, ok := metadata["namespace"]; ok {
		r["namespace"] = namespace
	}
	if change != nil {
		change(r)
	}
	return object{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": r}
}

func encode(value any) []byte {
	out, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return out
}

func review(o object) []byte { return encode(request(o, nil)) }
func goodClaim() []byte      { return review(claim()) }
func clone(o object) object  { var out object; _ = json.Unmarshal(encode(o), &out); return out }
func update(o, old object) []byte {
	return encode(request(o, func(r object) { r["operation"], r["oldObject"] = "UPDATE", old }))
}

// at returns the member that a path of keys and indices leads to.
func at(o any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			o = o.(object)[step]
		case int:
			o = o.([]any)[step]
		}
	}
	return o
}

// device returns the first device of a slice.
func device(s object) object { return at(s, "spec", "devices", 0).(object) }

// withParameters puts raw JSON text where a claim's opaque parameters are.
func withParameters(raw string) []byte {
	return []byte(strings.Replace(string(goodClaim()), `{"mode":"fast"}`, raw, 1))
}

// post renders a whole HTTP request with these header lines.
func httpPost(headers string, body []byte) string {
	return "POST /validate?timeout=10s HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n" + string(body)
}
