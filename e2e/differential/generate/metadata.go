// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"strings"

	"drawbridge.dev/e2e/differential/tree"
)

func (g *Generator) driver() string {
	return pick(g, "dra.example.com", "dra.example.com", "gpu.vendor.example", "a", strings.Repeat("d", 63), "Upper.Example.com")
}

// metadata returns valid metadata of a new object.
func (g *Generator) metadata(kind string) *tree.Object {
	m := tree.Map()
	switch g.r.IntN(10) {
	case 0:
		m.Set("generateName", pick(g, "gen-", "x", "a."))
	case 1:
		m.Set("name", "given")
		m.Set("generateName", "gen-")
	case 2:
		m.Set("name", pick(g, "00000-dra.example.com-w1-abcde", "a.b.c", strings.Repeat("n", 253), "0"))
	default:
		m.Set("name", numbered("o-", g.r.IntN(1<<30)))
	}
	if kind == "ResourceClaim" || kind == "ResourceClaimTemplate" {
		m.Set("namespace", "default")
	}
	if g.chance(20) {
		g.labels(m)
	}
	if g.chance(12) {
		m.Set("ownerReferences", tree.List(g.owner()))
	}
	if g.chance(8) {
		m.Set("finalizers", tree.List(pick(g, "resource.kubernetes.io/delete-protection", "example.com/x", "foregroundDeletion")))
	}
	if g.chance(5) {
		m.Set("creationTimestamp", pick[any](g, nil, "2026-01-02T03:04:05Z"))
	}
	return m
}

func (g *Generator) templateMetadata() *tree.Object {
	m := tree.Map()
	g.labels(m)
	if g.chance(10) {
		m.Set("name", "ignored")
	}
	return m
}

func (g *Generator) labels(m *tree.Object) {
	m.Set("labels", tree.Map("app", "x", "example.com/tier", pick(g, "", "gold", "a_b.c")))
	if g.chance(50) {
		m.Set("annotations", tree.Map("example.com/note", "any text\nat all", "Upper.example/Case", "x"))
	}
}

func (g *Generator) owner() *tree.Object {
	owner := tree.Map("apiVersion", pick(g, "v1", "apps/v1"), "kind", "Node", "name", "w1",
		"uid", "a671734a-e8e5-11e4-8fde-42010af09327")
	if g.chance(50) {
		owner.Set("controller", g.chance(60))
	}
	if g.chance(30) {
		owner.Set("blockOwnerDeletion", true)
	}
	return owner
}
