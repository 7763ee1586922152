// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"bytes"
	"encoding/json"
	"testing"

	"drawbridge.dev/e2e/differential/tree"
)

// objects returns the texts of some objects of all kinds and versions.
func objects(seed uint64, minor string, n int) [][]byte {
	g := New(seed, minor)
	var texts [][]byte
	for i := range n {
		kind := Kinds[i%len(Kinds)]
		version := Versions[i/len(Kinds)%len(Versions)]
		texts = append(texts, tree.Encode(g.Next(kind, version)))
	}
	return texts
}

func TestSameSeedSameObjects(t *testing.T) {
	first, second := objects(7, "1.36", 600), objects(7, "1.36", 600)
	for i := range first {
		if !bytes.Equal(first[i], second[i]) {
			t.Fatalf("object %d differs:\n%s\n%s", i, first[i], second[i])
		}
	}
	other := objects(8, "1.36", 600)
	same := 0
	for i := range first {
		if bytes.Equal(first[i], other[i]) {
			same++
		}
	}
	if same > len(first)/10 {
		t.Errorf("%d of %d objects are the same under another seed", same, len(first))
	}
}

func TestObjectsAreJSONOfTheirKind(t *testing.T) {
	for i, text := range objects(9, "1.37", 2400) {
		var head struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
		}
		if !json.Valid(text) {
			t.Fatalf("object %d is not JSON: %.500s", i, text)
		}
		if err := json.Unmarshal(text, &head); err != nil || head.Kind != Kinds[i%len(Kinds)] {
			t.Fatalf("object %d: kind %q, %v: %.500s", i, head.Kind, err, text)
		}
	}
}

// A value that is handed out twice and changed in one object must not change
// in the other.
func TestValuesAreNotShared(t *testing.T) {
	for role, values := range valuePools {
		for i, v := range values {
			switch v.(type) {
			case *tree.Object, *tree.Array:
				if handed := pool(site{role: role, object: tree.Map("x", 1)}); role != "value" && i < len(handed) && handed[i] == v {
					t.Errorf("%s: value %d is handed out itself", role, i)
				}
			}
		}
	}
}
