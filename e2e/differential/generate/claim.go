// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"strings"

	"drawbridge.dev/e2e/differential/tree"
)

// claimSpec returns the spec of a valid ResourceClaim.
func (g *Generator) claimSpec() *tree.Object {
	devices := tree.Map()
	requests := tree.List()
	var names []string
	for i := range pick(g, 1, 1, 2, 3) {
		name := numbered("req-", i)
		request, refs := g.request(name)
		requests.Items = append(requests.Items, request)
		names = append(names, refs...)
	}
	if g.chance(3) {
		g.grow(requests, pick(g, 32, 33), false)
	}
	devices.Set("requests", requests)
	if g.chance(40) {
		devices.Set("constraints", g.constraints(names))
	}
	if g.chance(40) {
		devices.Set("config", g.configs(names))
	}
	if g.chance(3) {
		return tree.Map("devices", tree.Map())
	}
	return tree.Map("devices", devices)
}

// request returns a request and the names by which others may refer to it.
func (g *Generator) request(name string) (*tree.Object, []string) {
	names := []string{name}
	if g.chance(25) {
		list := tree.List()
		for i := range g.between(1, 3) {
			sub := tree.Map("name", numbered("sub-", i))
			g.requestBody(sub, false)
			list.Items = append(list.Items, sub)
			names = append(names, name+"/"+numbered("sub-", i))
		}
		if g.chance(8) {
			g.grow(list, pick(g, 8, 9), false)
		}
		return tree.Map("name", name, "firstAvailable", list), names
	}
	request := tree.Map("name", name)
	if g.version == "v1beta1" {
		g.requestBody(request, true)
		return request, names
	}
	exactly := tree.Map()
	g.requestBody(exactly, true)
	request.Set("exactly", exactly)
	return request, names
}

func (g *Generator) requestBody(o *tree.Object, exactly bool) {
	o.Set("deviceClassName", pick(g, "gpu.example.com", "cpu", strings.Repeat("c", 63)))
	if g.chance(35) {
		o.Set("selectors", g.selectors())
	}
	switch g.r.IntN(5) {
	case 0:
		o.Set("allocationMode", "All")
	case 1:
		o.Set("allocationMode", "ExactCount")
		o.Set("count", pick(g, 1, 2, 1<<33))
	case 2:
		o.Set("count", pick(g, 1, 8))
	case 3:
		o.Set("allocationMode", "ExactCount")
	}
	if exactly && g.chance(12) {
		o.Set("adminAccess", g.chance(60))
	}
	if g.chance(30) {
		o.Set("tolerations", g.tolerations())
	}
	if g.chance(35) {
		requests := tree.Map()
		for _, name := range some(g, 1, "memory", "dra.example.com/cpu", "nri/cpus") {
			requests.Set(name, pick[any](g, "1", "8Gi", "500m", "0", tree.Raw("2"), "1e3"))
		}
		o.Set("capacity", tree.Map("requests", requests))
	}
}

func (g *Generator) selectors() *tree.Array {
	list := tree.List()
	for range g.between(1, 2) {
		list.Items = append(list.Items, tree.Map("cel", tree.Map("expression", g.expression())))
	}
	return list
}

// expression returns CEL that compiles.
func (g *Generator) expression() string {
	return pick(g, `device.driver == "dra.example.com"`,
		`device.attributes["dra.example.com"].model == "A100"`,
		`device.capacity["dra.example.com"].memory.compareTo(quantity("1Gi")) >= 0`, `true`)
}

func (g *Generator) tolerations() *tree.Array {
	list := tree.List()
	for range g.between(1, 2) {
		toleration := tree.Map()
		if g.chance(80) {
			toleration.Set("key", pick(g, "example.com/unhealthy", "broken"))
		}
		if g.chance(50) {
			toleration.Set("operator", "Exists")
		} else {
			if g.chance(60) {
				toleration.Set("operator", "Equal")
			}
			toleration.Set("value", pick(g, "yes", "", "a.b"))
		}
		if g.chance(60) {
			toleration.Set("effect", pick(g, "NoSchedule", "NoExecute", "None", ""))
		}
		if g.chance(25) {
			toleration.Set("tolerationSeconds", pick(g, 0, 300, -1))
		}
		list.Items = append(list.Items, toleration)
	}
	if g.chance(5) {
		g.grow(list, pick(g, 16, 17), false)
	}
	return list
}

func (g *Generator) constraints(names []string) *tree.Array {
	list := tree.List()
	for range g.between(1, 2) {
		constraint := tree.Map()
		if g.chance(60) {
			constraint.Set("requests", strings2list(some(g, 0, names...)))
		}
		attribute := pick(g, "dra.example.com/numa", standardNUMA, strings.Repeat("d", 63)+"/"+strings.Repeat("i", 32))
		constraint.Set(pick(g, "matchAttribute", "matchAttribute", "distinctAttribute"), attribute)
		list.Items = append(list.Items, constraint)
	}
	if g.chance(5) {
		g.grow(list, pick(g, 32, 33), false)
	}
	return list
}

func (g *Generator) configs(names []string) *tree.Array {
	list := tree.List()
	for range g.between(1, 2) {
		config := g.config()
		if len(names) > 0 && g.chance(50) {
			config.Set("requests", strings2list(some(g, 0, names...)))
		}
		list.Items = append(list.Items, config)
	}
	if g.chance(5) {
		g.grow(list, pick(g, 32, 33), false)
	}
	return list
}

func (g *Generator) config() *tree.Object {
	return tree.Map("opaque", tree.Map("driver", g.driver(), "parameters", g.parameters()))
}

// parameters returns what belongs to a driver alone: any JSON object.
func (g *Generator) parameters() any {
	return pick[any](g,
		tree.Map("apiVersion", "example.com/v1", "kind", "Config", "sharing", tree.Map("strategy", "TimeSlicing")),
		tree.Map(),
		tree.Raw(`{"a":1,"a":2}`),
		tree.Raw(`{"big":123456789012345678901234567890,"e":1e300}`),
		tree.Raw(`{"s":"\ud800","n":"\u0000","\u0000":1}`),
		tree.Raw(`{"deep":`+strings.Repeat("[", 40)+strings.Repeat("]", 40)+`}`),
		tree.Map("pad", strings.Repeat("p", 10*1024-10)),
		tree.Map("list", tree.List(1, "two", nil, true, tree.Raw("1.50"))))
}

// classSpec returns the spec of a valid DeviceClass.
func (g *Generator) classSpec() *tree.Object {
	spec := tree.Map()
	if g.chance(70) {
		spec.Set("selectors", g.selectors())
	}
	if g.chance(50) {
		list := tree.List()
		for range g.between(1, 2) {
			list.Items = append(list.Items, g.config())
		}
		spec.Set("config", list)
	}
	if g.chance(40) {
		spec.Set("extendedResourceName", pick(g, "example.com/gpu", "a.b.c/D_e.f-1", strings.Repeat("d", 63)+"/x"))
	}
	return spec
}

// claimStatus returns a status; it is dropped on creation, but decoded.
func (g *Generator) claimStatus() *tree.Object {
	result := tree.Map("request", "req-0", "driver", "dra.example.com", "pool", "w1", "device", "dev-0")
	if g.chance(40) {
		result.Set("consumedCapacity", tree.Map("memory", pick[any](g, "1Gi", "1", tree.Raw("1"))))
		result.Set("shareID", "a671734a-e8e5-11e4-8fde-42010af09327")
	}
	status := tree.Map("allocation", tree.Map("devices", tree.Map("results", tree.List(result)),
		"nodeSelector", g.nodeSelector(1)))
	if g.chance(50) {
		status.Set("reservedFor", tree.List(tree.Map("resource", "pods", "name", "p", "uid", "u-1")))
	}
	if g.chance(30) {
		status.Set("devices", tree.List(tree.Map("driver", "dra.example.com", "pool", "w1", "device", "dev-0",
			"conditions", tree.List(), "data", tree.Map("x", 1),
			"networkData", tree.Map("interfaceName", "eth0", "ips", tree.List("10.0.0.1/24")))))
	}
	return status
}
