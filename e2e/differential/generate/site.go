// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"slices"

	"drawbridge.dev/e2e/differential/tree"
)

// site is one place in a document: a field of an object or an item of an array.
type site struct {
	object *tree.Object
	array  *tree.Array
	index  int
	// What the value is: the field's name; "NAME[]" for an item of the array
	// NAME; "NAME{}" for a value of the map NAME, whose keys are free.
	role string
	// Role of the object or array that holds the value.
	owner string
}

func (s site) value() any {
	if s.object != nil {
		return s.object.Fields[s.index].Value
	}
	return s.array.Items[s.index]
}

func (s site) set(v any) {
	if s.object != nil {
		s.object.Fields[s.index].Value = v
	} else {
		s.array.Items[s.index] = v
	}
}

func (s site) remove() {
	if s.object != nil {
		s.object.Fields = append(s.object.Fields[:s.index:s.index], s.object.Fields[s.index+1:]...)
	} else {
		s.array.Items = append(s.array.Items[:s.index:s.index], s.array.Items[s.index+1:]...)
	}
}

// repeat puts a copy of the value behind it: an equal item, or a field twice.
func (s site) repeat() {
	if s.object != nil {
		f := s.object.Fields[s.index]
		s.object.Fields = append(s.object.Fields, tree.Field{Name: f.Name, Value: tree.Clone(f.Value)})
	} else {
		s.array.Items = append(s.array.Items, tree.Clone(s.array.Items[s.index]))
	}
}

// freeKeys tells whether the keys of the object are names, not fields.
func freeKeys(role string, o *tree.Object) bool {
	switch role {
	case "attributes", "counters", "labels", "annotations", "consumedCapacity", "requests",
		"nodeAllocatableResources", "nodeAllocatableResourceMappings":
		return true
	case "capacity":
		// In a claim this is an object with the one field `requests`.
		return o.Get("requests") == nil
	}
	return false
}

// sites lists all places but those that say what the object is.
func sites(root *tree.Object) []site {
	var all []site
	for i, f := range root.Fields {
		if f.Name != "apiVersion" && f.Name != "kind" {
			all = append(all, site{object: root, index: i, role: f.Name, owner: ""})
			all = appendSites(all, f.Value, f.Name)
		}
	}
	return all
}

func appendSites(all []site, v any, role string) []site {
	switch v := v.(type) {
	case *tree.Object:
		for i, f := range v.Fields {
			child := f.Name
			if freeKeys(role, v) {
				child = role + "{}"
			}
			all = append(all, site{object: v, index: i, role: child, owner: role})
			all = appendSites(all, f.Value, child)
		}
	case *tree.Array:
		for i, item := range v.Items {
			all = append(all, site{array: v, index: i, role: role + "[]", owner: role})
			all = appendSites(all, item, role+"[]")
		}
	}
	return all
}

// Objects with rules of their own between their fields.
var intricate = map[string]bool{
	"requestPolicy": true, "validRange": true, "validValues": true, "capacity": true, "capacity{}": true, "requests": true,
	"nodeAllocatableResources": true, "nodeAllocatableResources{}": true, "mapping": true, "overhead": true,
	"nodeAllocatableResourceMappings": true, "nodeAllocatableResourceMappings{}": true,
	"matchExpressions[]": true, "matchFields[]": true, "taints[]": true, "tolerations[]": true, "consumesCounters[]": true,
	"counters": true, "sharedCounters[]": true, "bindingConditions": true, "bindingFailureConditions": true,
	"exactly": true, "firstAvailable[]": true, "constraints[]": true, "opaque": true, "attributes{}": true,
}

// chooseSite picks a place: each as likely as any other, or one inside an
// intricate object, or by a walk from the root, so that wide lists do not take
// everything.
func (g *Generator) chooseSite(root *tree.Object) (site, bool) {
	all := sites(root)
	if len(all) == 0 {
		return site{}, false
	}
	switch g.r.IntN(4) {
	case 0:
		return all[g.r.IntN(len(all))], true
	case 1, 2:
		inside := slices.DeleteFunc(slices.Clone(all), func(s site) bool { return !intricate[s.owner] })
		if len(inside) > 0 {
			return inside[g.r.IntN(len(inside))], true
		}
	}
	return g.walk(root, all)
}

func (g *Generator) walk(root *tree.Object, all []site) (site, bool) {
	var at site
	var node any = root
	found := false
	for {
		var children []site
		if found {
			children = childrenOf(node, at.role)
		} else {
			for _, s := range all {
				if s.object == root {
					children = append(children, s)
				}
			}
		}
		stop := 20
		if at.object == root {
			stop = 3
		}
		if len(children) == 0 || (found && g.chance(stop)) {
			return at, found
		}
		at = children[g.r.IntN(len(children))]
		node = at.value()
		found = true
	}
}

func childrenOf(v any, role string) []site {
	var children []site
	switch v := v.(type) {
	case *tree.Object:
		for i, f := range v.Fields {
			child := f.Name
			if freeKeys(role, v) {
				child = role + "{}"
			}
			children = append(children, site{object: v, index: i, role: child, owner: role})
		}
	case *tree.Array:
		for i := range v.Items {
			children = append(children, site{array: v, index: i, role: role + "[]", owner: role})
		}
	}
	return children
}
