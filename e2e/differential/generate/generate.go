// SPDX-License-Identifier: Apache-2.0

// Package generate makes objects of resource.k8s.io: valid ones of many shapes,
// and such with mistakes in them,
// mostly one to three. The same seed gives the same
// objects.
package generate

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"drawbridge.dev/e2e/differential/tree"
)

// Kinds that are generated.
var Kinds = []string{"ResourceSlice", "ResourceClaim", "ResourceClaimTemplate", "DeviceClass"}

// Versions of the API group that are generated.
var Versions = []string{"v1", "v1beta2", "v1beta1"}

// Generator makes one object after the other. It is for one goroutine.
type Generator struct {
	r *rand.Rand

	minor   string // "1.36": which form of node-allocatable mapping is valid
	version string // of the API group, for the object in hand
}

// New returns a generator. Objects that would be valid are valid for this minor.
func New(seed uint64, minor string) *Generator {
	return &Generator{r: rand.New(rand.NewPCG(seed, 0x6472617762726964)), minor: minor}
}

// Next returns an object of that kind and API version, with mistakes or without.
func (g *Generator) Next(kind, version string) *tree.Object {
	o := g.Valid(kind, version)
	switch g.r.IntN(20) {
	case 0, 1:
	case 2, 3:
		g.mutate(o, 3)
	case 4:
		g.mutate(o, g.between(4, 9))
	case 5, 6, 7, 8, 9:
		g.mutate(o, 2)
	default:
		g.mutate(o, 1)
	}
	return o
}

// NextUpdate returns an object with that name that should be valid, and a later
// state of it: with mistakes, with other valid content, or unchanged.
func (g *Generator) NextUpdate(kind, version, name string) (before, after *tree.Object) {
	before = g.Valid(kind, version)
	metadata := tree.Map("name", name)
	if kind == "ResourceClaim" || kind == "ResourceClaimTemplate" {
		metadata.Set("namespace", "default")
	}
	before.Set("metadata", metadata)
	before.Fields = slices.DeleteFunc(before.Fields, func(f tree.Field) bool { return f.Name == "status" })
	after = tree.Clone(before).(*tree.Object)
	switch g.r.IntN(10) {
	case 0:
	case 1, 2:
		after.Set("spec", g.Valid(kind, version).Get("spec"))
	default:
		g.mutate(after, g.between(1, 2))
	}
	// The name is part of the address that the update is sent to.
	if after.Object("metadata") == nil {
		after.Set("metadata", tree.Clone(metadata))
	}
	after.Object("metadata").Set("name", name)
	return before, after
}

// Valid returns an object that the API server should accept. A few hold limits
// or odd values on purpose and may not be: the server decides.
func (g *Generator) Valid(kind, version string) *tree.Object {
	g.version = version
	o := tree.Map("apiVersion", "resource.k8s.io/"+version, "kind", kind, "metadata", g.metadata(kind))
	switch kind {
	case "ResourceSlice":
		o.Set("spec", g.sliceSpec())
	case "ResourceClaim":
		o.Set("spec", g.claimSpec())
		if g.chance(10) {
			o.Set("status", g.claimStatus())
		}
	case "ResourceClaimTemplate":
		spec := tree.Map()
		if g.chance(40) {
			spec.Set("metadata", g.templateMetadata())
		}
		spec.Set("spec", g.claimSpec())
		o.Set("spec", spec)
	case "DeviceClass":
		o.Set("spec", g.classSpec())
	default:
		panic("unknown kind " + kind)
	}
	return o
}

// chance is true in that many of a hundred cases.
func (g *Generator) chance(percent int) bool {
	return g.r.IntN(100) < percent
}

// between returns a number from low to high, both included.
func (g *Generator) between(low, high int) int {
	return low + g.r.IntN(high-low+1)
}

func pick[T any](g *Generator, from ...T) T {
	return from[g.r.IntN(len(from))]
}

// some returns a random choice of the items, in their order, at least `least`.
func some[T any](g *Generator, least int, from ...T) []T {
	var chosen []T
	for i, item := range from {
		if len(from)-i <= least-len(chosen) || g.chance(35) {
			chosen = append(chosen, item)
		}
	}
	return chosen
}

func numbered(prefix string, i int) string {
	return fmt.Sprintf("%s%d", prefix, i)
}
