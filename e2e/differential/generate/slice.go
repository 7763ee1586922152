// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"strings"

	"drawbridge.dev/e2e/differential/tree"
)

const standardNUMA = "resource.kubernetes.io/numaNode"

// sliceSpec returns the spec of a valid ResourceSlice.
func (g *Generator) sliceSpec() *tree.Object {
	driver := g.driver()
	spec := tree.Map("driver", driver, "pool", tree.Map(
		"name", pick(g, "w1", "node-1.example.com", "rack/7/gpu", "a", strings.Repeat("a", 63)),
		"generation", pick(g, 0, 1, 7, 1<<40),
		"resourceSliceCount", pick(g, 1, 1, 2, 1<<33)))

	perDevice := false
	switch g.r.IntN(8) {
	case 0:
		spec.Set("allNodes", true)
	case 1, 2:
		spec.Set("nodeSelector", g.nodeSelector(1))
	case 3:
		perDevice = true
		spec.Set("perDeviceNodeSelection", true)
	default:
		spec.Set("nodeName", pick(g, "w1", "node-1.example.com", strings.Repeat("n", 63)))
	}
	switch {
	case g.chance(12):
		spec.Set("sharedCounters", g.counterSets())
	case g.chance(95):
		spec.Set("devices", g.devices(driver, perDevice))
	}
	return spec
}

func (g *Generator) devices(driver string, perDevice bool) *tree.Array {
	devices := tree.List()
	count := pick(g, 1, 1, 1, 2, 2, 3)
	for i := range count {
		devices.Items = append(devices.Items, g.device(numbered("dev-", i), driver, perDevice))
	}
	// A few slices are as large as they may be, or one larger.
	if g.chance(3) {
		g.grow(devices, pick(g, 63, 64, 65, 127, 128, 129), false)
	}
	return devices
}

// device returns one device; in v1beta1 all but the name sits under `basic`.
func (g *Generator) device(name, driver string, perDevice bool) *tree.Object {
	body := tree.Map()
	shared := g.chance(45)
	if g.chance(75) {
		body.Set("attributes", g.attributes(driver))
	}
	capacity := tree.Map()
	if g.chance(75) {
		capacity = g.capacity(driver, shared)
		body.Set("capacity", capacity)
	}
	if shared {
		body.Set("allowMultipleAllocations", true)
	} else if g.chance(15) {
		body.Set("allowMultipleAllocations", false)
	}
	if g.chance(20) {
		body.Set("consumesCounters", g.consumesCounters())
	}
	if g.chance(20) {
		body.Set("taints", g.taints())
	}
	if g.chance(20) {
		body.Set("bindingConditions", strings2list(some(g, 1, "ready", "example.com/attached", "c3")))
		body.Set("bindingFailureConditions", strings2list(some(g, 1, "failed", "example.com/lost")))
	}
	if g.chance(15) {
		body.Set("bindsToNode", g.chance(50))
	}
	if perDevice {
		switch g.r.IntN(3) {
		case 0:
			body.Set("nodeName", "w1")
		case 1:
			body.Set("nodeSelector", g.nodeSelector(g.between(1, 2)))
		default:
			body.Set("allNodes", true)
		}
	}
	if g.chance(65) {
		g.nodeAllocatable(body, capacity)
	}
	if g.version == "v1beta1" {
		return tree.Map("name", name, "basic", body)
	}
	body.Fields = append([]tree.Field{{Name: "name", Value: name}}, body.Fields...)
	return body
}

func (g *Generator) attributes(driver string) *tree.Object {
	attributes := tree.Map()
	for _, name := range some(g, 1, standardNUMA, "model", driver+"/uuid", "numaNodeID", "dra.cpu/numaNodeID",
		"firmware", "enabled", "_x", strings.Repeat("i", 32), strings.Repeat("d", 63)+"/"+strings.Repeat("i", 32)) {
		attributes.Set(name, g.attribute(name))
	}
	return attributes
}

func (g *Generator) attribute(name string) *tree.Object {
	switch {
	case strings.Contains(name, "numa"):
		if g.chance(5) {
			return tree.Map("ints", tree.List(0, 1))
		}
		return tree.Map("int", g.between(-1, 3))
	case name == "firmware":
		return tree.Map("version", pick(g, "1.2.3", "0.0.0", "1.0.0-alpha.1+build.7", "10.20.30-rc-1.x.7.z.92",
			"1.0.0--", "2.0.0+"+strings.Repeat("b", 58)))
	case name == "enabled":
		return tree.Map("bool", g.chance(50))
	}
	if g.chance(5) {
		return pick(g, tree.Map("strings", tree.List("a", "b")), tree.Map("versions", tree.List("1.0.0")),
			tree.Map("bools", tree.List(true, false)), tree.Map("ints", tree.List()))
	}
	return tree.Map("string", pick(g, "A100", "", "a b", "ä", strings.Repeat("s", 64), strings.Repeat("ä", 32), "x/y:z"))
}

func (g *Generator) capacity(driver string, shared bool) *tree.Object {
	capacity := tree.Map()
	for _, name := range some(g, 1, "memory", "cpu", driver+"/cpu", driver+"/memory", "nri/cpus", "bandwidth") {
		value, small, large := "64Gi", "1Gi", "32Gi"
		if !strings.HasSuffix(name, "memory") {
			value, small, large = "128", "1", "64"
		}
		entry := tree.Map("value", g.sameQuantity(value))
		switch {
		case shared && g.chance(10):
			entry.Set("value", g.amount())
			entry.Set("requestPolicy", g.anyPolicy())
		case shared && g.chance(60):
			entry.Set("requestPolicy", g.requestPolicy(small, large, value))
		}
		capacity.Set(name, entry)
	}
	return capacity
}

// requestPolicy returns a policy whose values lie from small to large.
func (g *Generator) requestPolicy(small, large, most string) *tree.Object {
	switch g.r.IntN(6) {
	case 0:
		return tree.Map("default", g.sameQuantity(small))
	case 1:
		return tree.Map()
	case 2, 3:
		return tree.Map("default", small, "validValues", tree.List(small, large, most))
	case 4:
		return tree.Map("default", large, "validRange", tree.Map("min", small, "max", most, "step", small))
	}
	validRange := tree.Map("min", small)
	if g.chance(60) {
		validRange.Set("max", large)
	}
	if g.chance(40) {
		validRange.Set("step", pick(g, small, "500m", "1", "2"))
	}
	return tree.Map("default", pick(g, small, large), "validRange", validRange)
}

// amount returns a quantity near others of its kind, or at an edge of arithmetic.
func (g *Generator) amount() string {
	if g.chance(85) {
		return pick(g, "0", "1", "2", "3", "4", "6", "8", "10", "16", "0.5", "1.5", "2500m", "500m", "250m", "1m", "999m", "1001m", "3000m", "1e1")
	}
	return pick(g, "-1", "-500m", "1n", "1500u", "0.1m", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551616",
		"9223372036854775.807", "9223372036854775.8", "9.3e15", "8Ei", "16Ei", "10E", "1Ei", "4611686018427387904", "1.0000000001")
}

// anyPolicy returns a policy of fields and amounts at random.
func (g *Generator) anyPolicy() *tree.Object {
	policy := tree.Map()
	if g.chance(90) {
		policy.Set("default", g.amount())
	}
	if g.chance(35) {
		values := tree.List()
		for range g.between(0, 5) {
			values.Items = append(values.Items, g.amount())
		}
		policy.Set("validValues", values)
	}
	if g.chance(70) {
		validRange := tree.Map()
		for _, name := range []string{"min", "max", "step"} {
			if g.chance(80) {
				validRange.Set(name, g.amount())
			}
		}
		policy.Set("validRange", validRange)
	}
	return policy
}

// sameQuantity writes a quantity in another way that has the same value.
func (g *Generator) sameQuantity(q string) any {
	other := map[string][]any{
		"64Gi": {"64Gi", "65536Mi", "68719476736", "6.8719476736e10", tree.Raw("68719476736")},
		"128":  {"128", "128000m", "0.128k", "1.28e2", tree.Raw("128")},
		"1":    {"1", "1000m", "1.0", tree.Raw("1"), "+1"},
		"1Gi":  {"1Gi", "1024Mi", "1073741824"},
	}[q]
	if len(other) == 0 || g.chance(60) {
		return q
	}
	return pick(g, other...)
}

func (g *Generator) counters(names ...string) *tree.Object {
	counters := tree.Map()
	for _, name := range names {
		counters.Set(name, tree.Map("value", pick[any](g, "1", "40Gi", "0", "100m", tree.Raw("8"))))
	}
	return counters
}

func (g *Generator) counterSets() *tree.Array {
	sets := tree.List()
	for i := range g.between(1, 3) {
		sets.Items = append(sets.Items, tree.Map("name", numbered("set-", i),
			"counters", g.counters(some(g, 1, "memory", "slots", "c-3", strings.Repeat("c", 63))...)))
	}
	if g.chance(8) {
		g.grow(sets, pick(g, 8, 9), false)
	}
	return sets
}

func (g *Generator) consumesCounters() *tree.Array {
	list := tree.List()
	for i := range g.between(1, 2) {
		list.Items = append(list.Items, tree.Map("counterSet", numbered("set-", i),
			"counters", g.counters(some(g, 1, "memory", "slots")...)))
	}
	return list
}

func (g *Generator) taints() *tree.Array {
	taints := tree.List()
	for range g.between(1, 2) {
		taint := tree.Map("key", pick(g, "example.com/unhealthy", "broken", "a.b/c_d.e"),
			"effect", pick(g, "NoSchedule", "NoExecute", "None"))
		if g.chance(50) {
			taint.Set("value", pick(g, "yes", "", "a_b.c-d", strings.Repeat("v", 63)))
		}
		if g.chance(30) {
			taint.Set("timeAdded", pick[any](g, "2026-01-02T03:04:05Z", "2026-01-02T03:04:05+02:00", nil))
		}
		taints.Items = append(taints.Items, taint)
	}
	return taints
}

// nodeSelector returns a selector with that many terms.
func (g *Generator) nodeSelector(terms int) *tree.Object {
	list := tree.List()
	for range terms {
		term := tree.Map()
		if g.chance(80) {
			expressions := tree.List()
			for range g.between(1, 2) {
				expressions.Items = append(expressions.Items, g.nodeExpression())
			}
			term.Set("matchExpressions", expressions)
		}
		if g.chance(25) || len(term.Fields) == 0 {
			term.Set("matchFields", tree.List(tree.Map("key", "metadata.name",
				"operator", pick(g, "In", "NotIn"), "values", tree.List("w1"))))
		}
		list.Items = append(list.Items, term)
	}
	return tree.Map("nodeSelectorTerms", list)
}

func (g *Generator) nodeExpression() *tree.Object {
	expression := tree.Map("key", pick(g, "zone", "topology.kubernetes.io/zone", "example.com/generation"))
	switch operator := pick(g, "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"); operator {
	case "In", "NotIn":
		expression.Set("operator", operator)
		expression.Set("values", tree.List("a", "b"))
	case "Gt", "Lt":
		expression.Set("operator", operator)
		expression.Set("values", tree.List("5"))
	default:
		expression.Set("operator", operator)
	}
	return expression
}

// nodeAllocatable sets the mapping in the form of the generator's minor.
func (g *Generator) nodeAllocatable(body, capacity *tree.Object) {
	mappings := tree.Map()
	for _, name := range some(g, 1, "cpu", "memory", "hugepages-2Mi", "hugepages-1Gi") {
		key := ""
		if len(capacity.Fields) > 0 && g.chance(50) {
			key = capacity.Fields[g.r.IntN(len(capacity.Fields))].Name
		}
		if g.minor == "1.36" {
			mappings.Set(name, g.mapping136(key))
		} else {
			mappings.Set(name, g.mapping137(key))
		}
	}
	if g.minor == "1.36" {
		if g.chance(15) {
			mappings.Set(pick(g, "ephemeral-storage", "gpu", "pods", "foo.kubernetes.io/x", "requests.cpu", "Memory"), tree.Map())
		}
		body.Set("nodeAllocatableResourceMappings", mappings)
	} else {
		body.Set("nodeAllocatableResources", mappings)
	}
}

func (g *Generator) mapping136(key string) *tree.Object {
	mapping := tree.Map()
	if key != "" {
		mapping.Set("capacityKey", key)
	}
	if g.chance(70) {
		mapping.Set("allocationMultiplier", g.footprint())
	}
	return mapping
}

func (g *Generator) mapping137(key string) *tree.Object {
	entry := tree.Map()
	if g.chance(75) {
		if key != "" {
			entry.Set("mapping", tree.Map("capacityKey", key, "capacityMultiplier", g.footprint()))
		} else {
			entry.Set("mapping", tree.Map("deviceMultiplier", g.footprint()))
		}
	}
	if g.chance(40) || len(entry.Fields) == 0 {
		overhead := tree.Map()
		if g.chance(70) {
			overhead.Set("perPod", pick[any](g, "100m", "0", "64Mi", tree.Raw("1")))
		}
		if g.chance(50) || len(overhead.Fields) == 0 {
			overhead.Set("perContainer", pick[any](g, "10m", "0", "1Mi"))
		}
		entry.Set("overhead", overhead)
	}
	return entry
}

func (g *Generator) footprint() any {
	return pick[any](g, "1", "8Gi", "500m", "2", "1.5", "0.5Gi", "1e3", tree.Raw("4"), tree.Raw("0.5"))
}

func strings2list(items []string) *tree.Array {
	list := tree.List()
	for _, item := range items {
		list.Items = append(list.Items, item)
	}
	return list
}
