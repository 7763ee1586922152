// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
)

// C1: what is not one whole JSON object is refused, at every offset where a good review may end.
func TestReviewTruncated(t *testing.T) {
	t.Parallel()
	s := start(t)
	good := goodClaim()
	bodies := [][]byte{nil, []byte("null"), []byte("[]"), []byte("1"), []byte(`""`), []byte("{"), []byte("}"), []byte("\x00"), []byte("\xef\xbb\xbf{}"),
		append(goodClaim(), 'x'), append(goodClaim(), "{}"...), append(goodClaim(), 0), append([]byte("x"), goodClaim()...),
		bytes.Repeat([]byte("["), 1<<20), bytes.Repeat([]byte(`{"a":`), 1<<18), []byte(`{"kind":"AdmissionReview"}`), []byte("{}")}
	for offset := range good {
		bodies = append(bodies, good[:offset])
	}
	for i, body := range bodies {
		a := s.mustPost(body)
		if a.status != 400 {
			t.Fatalf("body %d, %.60q…: %d %s", i, body, a.status, a.body)
		}
	}
	if n := s.errors("decode"); n < float64(len(good)) {
		t.Errorf("decode counted %v times", n)
	}
	s.alive()
}

// C2 to C4, R36, R37: the envelope.
func TestReviewEnvelope(t *testing.T) {
	t.Parallel()
	s := start(t)
	whole := func(change func(review object)) []byte {
		r := request(claim(), nil)
		change(r)
		return encode(r)
	}
	refused := map[string][]byte{
		"request absent": whole(func(r object) { delete(r, "request") }),
		"request null":   whole(func(r object) { r["request"] = nil }),
		"request list":   whole(func(r object) { r["request"] = []any{r["request"]} }),
		"request text":   whole(func(r object) { r["request"] = "x" }),
		"request true":   whole(func(r object) { r["request"] = true }),
		"v1beta1":        whole(func(r object) { r["apiVersion"] = "admission.k8s.io/v1beta1" }),
		"v2":             whole(func(r object) { r["apiVersion"] = "admission.k8s.io/v2" }),
		"no version":     whole(func(r object) { delete(r, "apiVersion") }),
		"version number": whole(func(r object) { r["apiVersion"] = 1 }),
		"wrong kind":     whole(func(r object) { r["kind"] = "Review" }),
		"a response":     whole(func(r object) { r["response"] = object{"uid": goodUID, "allowed": true} }),
		"uid absent":     whole(func(r object) { delete(r["request"].(object), "uid") }),
		"uid empty":      whole(func(r object) { r["request"].(object)["uid"] = "" }),
		"uid number":     whole(func(r object) { r["request"].(object)["uid"] = 7 }),
		"uid null":       whole(func(r object) { r["request"].(object)["uid"] = nil }),
		"uid list":       whole(func(r object) { r["request"].(object)["uid"] = []any{goodUID} }),
		"uid too long":   whole(func(r object) { r["request"].(object)["uid"] = strings.Repeat("u", 129) }),
	}
	for name, body := range refused {
		if a := s.mustPost(body); a.status != 400 || bytes.Contains(a.body, []byte("v1beta1")) {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	for _, uid := range []string{strings.Repeat("u", 128), "a\"b\\c", "line\nbreak\t\x01", "ünïcode €", "%s%n", "</script>", "\u2028"} {
		a := s.mustPost(encode(request(claim(), func(r object) { r["uid"] = uid })))
		s.judged(a, uid)
	}
	// R36: every answer has the uid, whatever the object is like.
	for name, change := range map[string]func(object){
		"object that cannot be read": func(r object) { r["object"] = "x" },
		"a kind that nobody knows": func(r object) {
			r["kind"], r["resource"] = object{"group": "x", "version": "v1", "kind": "X"}, object{"group": "x", "version": "v1", "resource": "xs"}
		},
		"object null":                 func(r object) { r["object"] = nil },
		"object absent":               func(r object) { delete(r, "object") },
		"kind and resource disagree":  func(r object) { r["kind"].(object)["kind"] = "ResourceSlice" },
		"no kind":                     func(r object) { delete(r, "kind") },
		"no user":                     func(r object) { delete(r, "userInfo") },
		"old object of another shape": func(r object) { r["operation"], r["oldObject"] = "UPDATE", []any{1} },
	} {
		r := request(claim(), change)
		v := s.judged(s.mustPost(encode(r)), goodUID)
		if strings.HasPrefix(name, "object") && v.Response.Allowed {
			t.Errorf("%s: allowed", name)
		}
	}
	s.alive()
}

// C5: what a tenant may put into opaque parameters changes nothing.
func TestReviewHostileParameters(t *testing.T) {
	t.Parallel()
	s := start(t)
	deep := strings.Repeat("[", 3000) + strings.Repeat("]", 3000)
	deepMap := strings.Repeat(`{"a":`, 1500) + "1" + strings.Repeat("}", 1500)
	for name, raw := range map[string]string{
		"int above 2^63":        `{"n":92233720368547758080000000000}`,
		"1e308 and more":        `{"n":[1e308,-1e308,0.000000000000000000001]}`,
		"NUL in a value":        `{"a":"b\u0000c"}`,
		"NUL in a key":          `{"a\u0000b":1}`,
		"lone surrogate":        `{"a":"\ud800","b":"\udc00\ud800x"}`,
		"lone surrogate in key": `{"\udfff":1}`,
		"invalid UTF-8":         "{\"a\":\"\xff\xfe\xc0\x80\"}",
		"invalid UTF-8 in key":  "{\"\xff\":1}",
		"deep lists":            `{"a":` + deep + `}`,
		"deep maps":             deepMap,
		"duplicate keys":        `{"a":1,"a":2,"a":{"b":1,"b":2}}`,
		"keys of ours":          `{"spec":null,"uid":"other","request":{"uid":"x"},"kind":"Pod"}`,
		"escapes":               `{"a":"\"\\\/\b\f\n\r\t\u00e9"}`,
		"long text":             `{"a":"` + strings.Repeat("x", 9000) + `"}`,
	} {
		v := s.judged(s.mustPost(withParameters(raw)), goodUID)
		if !v.Response.Allowed {
			t.Errorf("%s: denied: %s", name, v.Response.Status.Message)
		}
		// The same beside a fault: the same denial.
		bad := claim()
		at(bad, "spec", "devices", "requests", 0, "exactly").(object)["capacity"] = object{"requests": object{"cpu": "-1"}}
		body := []byte(strings.Replace(string(review(bad)), `{"mode":"fast"}`, raw, 1))
		s.mustDeny(body, "[unit-negative]")
		// And as an UPDATE that leaves the spec as it is.
		metadata := strings.Replace(string(withParameters(raw)), `"operation":"CREATE"`, `"operation":"UPDATE"`, 1)
		var old json.RawMessage
		object := metadata[strings.Index(metadata, `"object":`)+len(`"object":`):]
		object = object[:strings.Index(object, `,"oldObject":`)]
		old = json.RawMessage(object)
		metadata = strings.Replace(metadata, `"oldObject":null`, `"oldObject":`+string(old), 1)
		if v := s.judged(s.mustPost([]byte(metadata)), goodUID); !v.Response.Allowed {
			t.Errorf("%s, unchanged: denied: %s", name, v.Response.Status.Message)
		}
	}
	if logged := s.logText(); strings.Contains(logged, "xxxx") {
		t.Error("parameters are in the log")
	}
	s.alive()
}

// C7: a key that is there twice outside raw subtrees is a forged review.
func TestReviewDuplicateKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	good := string(goodClaim())
	n := 0
	for _, pair := range [][2]string{
		{`"uid":"` + goodUID + `"`, `"uid":"other"`},
		{`"operation":"CREATE"`, `"operation":"DELETE"`},
		{`"deviceClassName":"gpus"`, `"deviceClassName":"cpus"`},
		{`"kind":"AdmissionReview"`, `"kind":"AdmissionReview"`},
		{`"allocationMode":"ExactCount"`, `"allocationMode":"All"`},
	} {
		for _, both := range []string{pair[0] + "," + pair[1], pair[1] + "," + pair[0]} {
			body := strings.Replace(good, pair[0], both, 1)
			if body == good {
				t.Fatalf("%s is not in the review", pair[0])
			}
			if a := s.mustPost([]byte(body)); a.status != 400 {
				t.Errorf("%s: %d %s", both, a.status, a.body)
			}
			n++
		}
	}
	if got := s.errors("duplicate_key"); got != float64(n) {
		t.Errorf("duplicate_key counted %v times, not %d", got, n)
	}
	s.alive()
}

// paths walks a value and calls back with each place in it.
func paths(value any, path []any, call func(path []any)) {
	switch v := value.(type) {
	case object:
		for key, member := range v {
			next := append(append([]any{}, path...), key)
			call(next)
			paths(member, next, call)
		}
	case []any:
		for i, member := range v {
			next := append(append([]any{}, path...), i)
			call(next)
			paths(member, next, call)
		}
	}
}

func put(root any, path []any, value any) {
	parent := at(root, path[:len(path)-1]...)
	switch last := path[len(path)-1].(type) {
	case string:
		parent.(object)[last] = value
	case int:
		parent.([]any)[last] = value
	}
}

// C9: every field with every wrong type: a verdict each time, and a denial says where.
func TestReviewWrongTypes(t *testing.T) {
	t.Parallel()
	s := start(t)
	full := slice(2)
	device(full)["allowMultipleAllocations"] = true
	device(full)["taints"] = []any{object{"key": "a.example/b", "effect": "NoSchedule"}}
	device(full)["capacity"] = object{"cpu": object{"value": "8", "requestPolicy": object{"default": "1", "validRange": object{"min": "1"}}}}
	device(full)["nodeAllocatableResourceMappings"] = object{"cpu": object{"capacityKey": "cpu", "allocationMultiplier": "1"}}
	template := object{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
		"metadata": object{"name": "t", "namespace": "training"}, "spec": object{"metadata": object{"labels": object{"a": "b"}}, "spec": claim()["spec"]}}
	class := object{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": object{"name": "gpus"},
		"spec": object{"selectors": []any{object{"cel": object{"expression": "true"}}}}}
	values := []any{"text", 7, -1.5, true, nil, []any{}, []any{1}, object{}, object{"x": 1}, "", strings.Repeat("9", 400)}
	count, denied := 0, 0
	for _, o := range []object{full, claim(), template, class} {
		paths(o, nil, func(path []any) {
			for _, value := range values {
				changed := clone(o)
				put(changed, path, value)
				r := request(clone(o), nil)
				r["request"].(object)["object"] = changed
				v := s.judged(s.mustPost(encode(r)), goodUID)
				count++
				if v.Response.Allowed {
					continue
				}
				denied++
				last := fmt.Sprint(path[len(path)-1])
				message := v.Response.Status.Message
				if !strings.Contains(message, "spec") && !strings.Contains(message, "metadata") && !strings.Contains(message, last) &&
					!strings.Contains(message, "status") {
					t.Errorf("%v = %v: the denial does not say where: %s", path, value, message)
				}
				if len(v.Response.Status.Details.Causes) == 0 {
					t.Errorf("%v = %v: no causes", path, value)
				}
			}
		})
	}
	if count < 500 || denied < count/4 {
		t.Errorf("%d of %d denied", denied, count)
	}
	s.alive()
}

// C10: what this server does not know is ignored on the wire, and counted.
func TestReviewUnknownFields(t *testing.T) {
	t.Parallel()
	s := start(t)
	good := slice(1)
	var places [][]any
	paths(good, nil, func(path []any) {
		if _, ok := at(good, path...).(object); ok {
			// Maps of names are not structs: there, a name is content.
			switch path[len(path)-1] {
			case "attributes", "capacity", "nodeAllocatableResourceMappings", "labels":
			default:
				places = append(places, path)
			}
		}
	})
	before := s.metric("drawbridge_unknown_fields_total")
	for _, path := range append(places, nil) {
		changed := clone(good)
		at(changed, path...).(object)["futureField"] = object{"a": []any{1, "x", nil}}
		if path != nil && path[len(path)-1] == "index" {
			continue // an attribute is a union
		}
		v := s.judged(s.mustPost(review(changed)), goodUID)
		if !v.Response.Allowed {
			t.Errorf("%v: denied: %s", path, v.Response.Status.Message)
		}
	}
	if after := s.metric("drawbridge_unknown_fields_total"); after <= before {
		t.Error("unknown fields are not counted")
	}
	body := encode(request(claim(), func(r object) { r["futureField"], r["options"].(object)["x"] = 1, 2 }))
	s.mustAllow(body)
	s.alive()
}

// C11, R02, R08: mappings of the wrong kind.
func TestReviewMappings(t *testing.T) {
	t.Parallel()
	for minor, other := range map[string]string{"1.36": "nodeAllocatableResources", "1.37": "nodeAllocatableResourceMappings"} {
		s := start(t, "--kubernetes-version", minor)
		both := slice(1)
		device(both)["nodeAllocatableResourceMappings"] = object{"memory": object{"allocationMultiplier": "8Gi"}}
		device(both)["nodeAllocatableResources"] = object{"memory": object{"mapping": object{"deviceMultiplier": "8Gi"}}}
		s.mustDeny(review(both), "[mapping-both-versions]", "nodeAllocatableResourceMappings", "nodeAllocatableResources")
		wrong := clone(both)
		own := map[string]string{"1.37": "nodeAllocatableResources", "1.36": "nodeAllocatableResourceMappings"}[minor]
		delete(device(wrong), own)
		v := s.mustAllow(review(wrong))
		if len(v.Response.Warnings) == 0 || !strings.Contains(strings.Join(v.Response.Warnings, "\n"), other) {
			t.Errorf("%s: no warning of %s: %q", minor, other, v.Response.Warnings)
		}
	}
}

// C12, C13, R40: operations, resources and subresources that are not judged pass, and odd ones are counted.
func TestReviewUnexpected(t *testing.T) {
	t.Parallel()
	s := start(t)
	bad := slice(1)
	device(bad)["nodeAllocatableResourceMappings"] = object{"Memory": object{"allocationMultiplier": "500m"}}
	s.mustDeny(review(bad), "[resource-name]")
	passes := func(name string, counted bool, change func(object)) {
		before := s.errors("unexpected_resource")
		v := s.judged(s.mustPost(encode(request(clone(bad), change))), goodUID)
		if !v.Response.Allowed {
			t.Errorf("%s: denied: %s", name, v.Response.Status.Message)
		}
		if after := s.errors("unexpected_resource"); counted && after != before+1 {
			t.Errorf("%s is not counted", name)
		}
	}
	for _, operation := range []string{"CONNECT", "create", "Update", "PATCH", "", "*"} {
		passes("operation "+operation, true, func(r object) { r["operation"] = operation })
	}
	passes("DELETE", false, func(r object) { r["operation"], r["object"], r["oldObject"] = "DELETE", nil, bad })
	passes("DELETE without objects", false, func(r object) { r["operation"], r["object"] = "DELETE", nil })
	for _, sub := range []string{"status", "binding", "driver", "scale", "x"} {
		passes("subresource "+sub, false, func(r object) { r["subResource"] = sub })
	}
	passes("another resource", true, func(r object) {
		r["resource"] = object{"group": "apps", "version": "v1", "resource": "deployments"}
		r["kind"] = object{"group": "apps", "version": "v1", "kind": "Deployment"}
	})
	passes("the same name in another group", true, func(r object) { r["resource"].(object)["group"] = "example.com" })
	s.alive()
}

// C15: a dry run gets the same verdict.
func TestReviewDryRun(t *testing.T) {
	t.Parallel()
	s := start(t)
	bad := slice(1)
	device(bad)["nodeAllocatableResourceMappings"] = object{"memory": object{"allocationMultiplier": "500m"}}
	for _, o := range []object{slice(1), bad, claim()} {
		real := s.mustPost(review(o))
		dry := s.mustPost(encode(request(o, func(r object) { r["dryRun"] = true })))
		if string(real.body) != string(dry.body) {
			t.Errorf("real: %s\ndry: %s", real.body, dry.body)
		}
	}
}

// C17, R57: a denial of a slice in which everything is wrong stays short and prints nothing that acts.
func TestReviewDenialText(t *testing.T) {
	t.Parallel()
	s := start(t)
	bad := slice(128)
	for i := range 128 {
		d := at(bad, "spec", "devices", i).(object)
		d["nodeAllocatableResourceMappings"] = object{
			"memory": object{"allocationMultiplier": "500m"},
			"\x1b[31mred\n%n%s%x\"'\u202e" + strings.Repeat("k", 253): object{"allocationMultiplier": "1"},
		}
	}
	v := s.mustDeny(review(bad), "[unit-bytes-fraction]", "and ", " more")
	message := v.Response.Status.Message
	if lines := strings.Count(message, "\n"); len(message) > 4096 || lines > 10 {
		t.Errorf("%d bytes, %d lines: %s", len(message), lines+1, message)
	}
	if len(v.Response.Status.Details.Causes) == 0 {
		t.Error("no causes")
	}
	for _, text := range append(v.Response.Warnings, message) {
		for _, r := range text {
			if r != '\n' && (unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069) {
				t.Errorf("%q is in: %q", r, text)
			}
		}
	}
	named := claim()
	named["metadata"].(object)["name"] = "%s%n\x1b]0;x\x07\r\n" + strings.Repeat("A", 300)
	s.mustDeny(encode(request(named, func(r object) { r["name"] = named["metadata"].(object)["name"] })), "metadata.name")
	for line := range strings.SplitSeq(strings.TrimSpace(s.logText()), "\n") {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("a log line is not JSON: %v: %q", err, line)
		}
		if entry["msg"] == "Denied" && entry["uid"] != goodUID {
			t.Errorf("a denial in the log without the request's uid: %q", line)
		}
	}
	s.alive()
}

// D14: tenants' names make no series.
func TestReviewSeriesAreBounded(t *testing.T) {
	t.Parallel()
	s := start(t)
	series := func() int { return len(strings.Split(s.metricsText(), "\n")) }
	send := func(i int) {
		o := claim()
		o["metadata"].(object)["name"] = fmt.Sprintf("job-%d", i)
		o["metadata"].(object)["namespace"] = fmt.Sprintf("team-%d", i)
		s.mustAllow(encode(request(o, func(r object) {
			r["userInfo"] = object{"username": fmt.Sprintf("user-%d", i)}
			r["requestKind"] = object{"group": fmt.Sprint(i), "version": "v", "kind": "K"}
		})))
		other := encode(request(o, func(r object) {
			r["operation"], r["resource"] = fmt.Sprint("OP", i), object{"group": fmt.Sprint(i), "version": "v1", "resource": fmt.Sprint(i)}
		}))
		s.judged(s.mustPost(other), goodUID)
	}
	send(0)
	before := series()
	for i := range 300 {
		send(i + 1)
	}
	if after := series(); after != before {
		t.Errorf("%d lines became %d", before, after)
	}
}
