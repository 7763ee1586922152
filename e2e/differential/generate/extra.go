// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"strings"

	"drawbridge.dev/e2e/differential/tree"
)

// extraFields lists, by the role of an object, fields that it may have: adding
// one makes unions ambiguous, puts fields where they are not allowed, or is fine.
var extraFields = map[string][]string{
	"spec": {"nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection", "sharedCounters", "devices", "pool", "driver",
		"partitionTypeAttribute", "skipNodeOperations", "selectors", "config", "extendedResourceName", "suitableNodes", "controller", "metadata"},
	"devices[]": {"nodeName", "nodeSelector", "allNodes", "allowMultipleAllocations", "nodeAllocatableResources", "nodeAllocatableResourceMappings",
		"basic", "bindingConditions", "bindingFailureConditions", "consumesCounters", "taints", "attributes", "capacity", "bindsToNode"},
	"basic": {"nodeName", "nodeSelector", "allNodes", "allowMultipleAllocations", "nodeAllocatableResources", "nodeAllocatableResourceMappings",
		"bindingConditions", "bindingFailureConditions", "consumesCounters", "taints", "attributes", "capacity", "bindsToNode", "name"},
	"devices":                           {"requests", "constraints", "config"},
	"attributes{}":                      {"int", "bool", "string", "version", "ints", "bools", "strings", "versions", "quantity"},
	"capacity{}":                        {"requestPolicy", "value", "quantity"},
	"requestPolicy":                     {"default", "validValues", "validRange"},
	"validRange":                        {"min", "max", "step"},
	"requests[]":                        {"exactly", "firstAvailable", "deviceClassName", "allocationMode", "count", "adminAccess", "selectors", "tolerations", "capacity", "derivedAttributes"},
	"exactly":                           {"allocationMode", "count", "adminAccess", "selectors", "tolerations", "capacity", "firstAvailable", "name", "derivedAttributes"},
	"firstAvailable[]":                  {"allocationMode", "count", "adminAccess", "selectors", "tolerations", "capacity", "exactly", "derivedAttributes"},
	"constraints[]":                     {"matchAttribute", "distinctAttribute", "requests"},
	"config[]":                          {"requests", "opaque", "source"},
	"tolerations[]":                     {"key", "operator", "value", "effect", "tolerationSeconds"},
	"taints[]":                          {"key", "value", "effect", "timeAdded", "operator"},
	"consumesCounters[]":                {"counters", "counterSet", "compatibilityGroups"},
	"sharedCounters[]":                  {"counters", "name"},
	"mapping":                           {"capacityKey", "capacityMultiplier", "deviceMultiplier"},
	"overhead":                          {"perPod", "perContainer"},
	"nodeAllocatableResources{}":        {"mapping", "overhead", "capacityKey", "allocationMultiplier"},
	"nodeAllocatableResourceMappings{}": {"capacityKey", "allocationMultiplier", "mapping", "overhead"},
	"nodeSelectorTerms[]":               {"matchFields", "matchExpressions"},
	"matchExpressions[]":                {"values", "operator", "key"},
	"matchFields[]":                     {"values", "operator", "key"},
	"pool":                              {"name", "generation", "resourceSliceCount"},
	"metadata":                          {"namespace"},
}

// addKnown puts a field that fits, or nearly fits, into an object.
func (g *Generator) addKnown(at site) bool {
	o, ok := at.value().(*tree.Object)
	if !ok {
		return false
	}
	if freeKeys(at.role, o) {
		o.Fields = append(o.Fields, tree.Field{Name: pick(g, keyPool(at.role)...), Value: g.extraEntry(at.role)})
		return true
	}
	names := extraFields[at.role]
	if len(names) == 0 || at.role == "metadata" {
		return false
	}
	name := pick(g, names...)
	if o.Get(name) != nil {
		return false
	}
	o.Set(name, g.extraValue(name))
	return true
}

// Fields of extraFields that not every version knows: they end decoding, so a
// soup is made without them.
var uncertain = map[string]bool{
	"quantity": true, "basic": true, "derivedAttributes": true, "partitionTypeAttribute": true, "skipNodeOperations": true, "compatibilityGroups": true,
	"suitableNodes": true, "controller": true, "source": true, "metadata": true, "exactly": true, "deviceClassName": true,
}

// soup replaces an object by any choice of its fields with any values of the
// right type: combinations that no list of mistakes would hold.
func (g *Generator) soup(at site) bool {
	names := extraFields[at.role]
	old, isObject := at.value().(*tree.Object)
	if !isObject || len(names) == 0 || at.role == "spec" || at.role == "metadata" || freeKeys(at.role, old) {
		return false
	}
	o := tree.Map()
	for _, f := range old.Fields {
		if !uncertain[f.Name] && g.chance(60) || f.Name == "name" && g.chance(95) {
			o.Set(f.Name, f.Value)
		}
	}
	for _, name := range names {
		// A field that the object did not have may be of another version.
		if uncertain[name] && old.Get(name) == nil || g.chance(55) {
			continue
		}
		value := g.extraValue(name)
		if values := likeTyped(value, pool(site{object: o, role: name, owner: at.role})); len(values) > 0 && g.chance(70) {
			value = pick(g, values...)
		}
		o.Set(name, value)
	}
	at.set(o)
	return true
}

// extraEntry returns a value for one more key of a map.
func (g *Generator) extraEntry(role string) any {
	switch role {
	case "attributes":
		return tree.Map("int", 1)
	case "capacity", "counters":
		return tree.Map("value", "1")
	case "nodeAllocatableResourceMappings":
		return tree.Map("allocationMultiplier", "1")
	case "nodeAllocatableResources":
		return tree.Map("mapping", tree.Map("deviceMultiplier", "1"))
	case "labels", "annotations":
		return "x"
	}
	return "1"
}

// extraValue returns a valid value of the field.
func (g *Generator) extraValue(name string) any {
	switch name {
	case "nodeSelector":
		return g.nodeSelector(g.between(1, 2))
	case "sharedCounters":
		return g.counterSets()
	case "devices":
		return g.devices("dra.example.com", false)
	case "nodeAllocatableResources", "nodeAllocatableResourceMappings":
		return tree.Map(pick(g, resourceKeys...), g.extraEntry(name))
	case "basic", "mapping", "overhead", "exactly", "opaque":
		return cloned(valuePools[name])[g.r.IntN(2)+len(valuePools[name])-2]
	case "pool":
		return tree.Map("name", "w1", "generation", 1, "resourceSliceCount", 1)
	case "attributes":
		return g.attributes("dra.example.com")
	case "capacity":
		return pick(g, tree.Map("requests", tree.Map("memory", "1")), tree.Map("memory", tree.Map("value", "1")))
	case "consumesCounters":
		return g.consumesCounters()
	case "taints":
		return g.taints()
	case "tolerations":
		return g.tolerations()
	case "selectors":
		return g.selectors()
	case "constraints":
		return g.constraints([]string{"req-0"})
	case "config":
		return g.configs([]string{"req-0"})
	case "firstAvailable":
		return tree.List(tree.Map("name", "s", "deviceClassName", "c"))
	case "counters":
		return g.counters("memory")
	case "requests":
		return pick[any](g, tree.List("req-0"), tree.List(tree.Map("name", "more", "exactly", tree.Map("deviceClassName", "a"))), tree.Map("a", "1"))
	case "derivedAttributes":
		return tree.List(tree.Map("name", "dra.example.com/numa", "expression", "1"))
	case "partitionTypeAttribute":
		return pick(g, "dra.example.com/model", "model", "")
	case "skipNodeOperations":
		return tree.List(pick(g, "*", "NodePrepareResources", "NodeUnprepareResources", "x"))
	case "compatibilityGroups":
		return tree.List("a", "b")
	case "ints", "bools", "strings", "versions":
		return pick(g, tree.List(), map[string]*tree.Array{"ints": tree.List(1), "bools": tree.List(true), "strings": tree.List("a"), "versions": tree.List("1.0.0")}[name])
	case "suitableNodes":
		return g.nodeSelector(1)
	case "matchFields", "matchExpressions":
		return tree.List(g.nodeExpression())
	case "metadata":
		return tree.Map("labels", tree.Map("a", "b"))
	case "name", "key", "source", "controller", "quantity", "counterSet":
		return "more"
	}
	if values := valuePools[name]; len(values) > 0 {
		return tree.Clone(values[g.r.IntN(len(values))])
	}
	return "1"
}

// mutateMetadata makes one mistake in the object's metadata.
func (g *Generator) mutateMetadata(o *tree.Object) {
	m := o.Object("metadata")
	if m == nil {
		o.Set("metadata", g.metadata(o.Get("kind").(string)))
		return
	}
	switch g.r.IntN(14) {
	case 0, 1:
		m.Set("name", pick(g, subdomains...))
	case 2:
		m.Set("generateName", pick(g, texts("", "A", "a_", "-", "a.", "a-", dotted(246)+"-", dotted(247)+"-", dotted(248)+"-", dotted(253), dotted(254), strings.Repeat("a", 300), "a b")...))
		if g.chance(70) {
			m.Set("name", "")
		}
	case 3:
		m.Set("labels", tree.Map(pick(g, labelKeys...), pick(g, labelValues...), "ok", pick(g, labelValues...)))
	case 4:
		size := pick(g, 1, 2, 3, 4, 5, 6, 7, 262143-len("k"), 262144-len("k"), 262145-len("k"))
		m.Set("annotations", tree.Map(pick(g, "k", "k", "k", pick(g, labelKeys...)), strings.Repeat("x", size)))
	case 5, 6:
		m.Set("ownerReferences", g.wrongOwners())
	case 7, 8:
		m.Set("finalizers", pick(g, tree.List(), tree.List(""), tree.List("a"), tree.List("kubernetes"), tree.List("orphan"), tree.List("orphan", "foregroundDeletion"),
			tree.List("a/b", "a/b"), tree.List("A/b"), tree.List("a/b/c"), tree.List("example.com/"+strings.Repeat("x", 63)), tree.List("example.com/"+strings.Repeat("x", 64)), tree.List(1)))
	case 9:
		m.Set(pick(g, "creationTimestamp", "deletionTimestamp"), pick(g, times...))
	case 10:
		m.Set("generation", pick(g, numbers...))
	case 11:
		m.Set("deletionGracePeriodSeconds", pick(g, numbers...))
	case 12:
		m.Set(pick(g, "uid", "selfLink"), pick[any](g, "", "x", "a671734a-e8e5-11e4-8fde-42010af09327", 1, nil))
	default:
		m.Set("managedFields", pick(g, tree.List(), tree.List(tree.Map()),
			tree.List(tree.Map("manager", "m", "operation", pick(g, "Apply", "Update", "x", ""), "apiVersion", "resource.k8s.io/v1", "fieldsType", pick(g, "FieldsV1", "x", ""), "fieldsV1", tree.Map())),
			tree.List(tree.Map("manager", strings.Repeat("m", 129), "operation", "Update", "fieldsType", "FieldsV1"))))
	}
}

func (g *Generator) wrongOwners() any {
	owner := g.owner()
	switch g.r.IntN(8) {
	case 0:
		owner.Set(pick(g, "apiVersion", "kind", "name", "uid"), "")
	case 1:
		owner.Set("apiVersion", pick(g, "", "/", "/v1", "a/b/c", "v1/", "apps/v1"))
	case 2:
		owner.Set("kind", "Event")
	case 3:
		owner.Set("controller", true)
		second := g.owner()
		second.Set("controller", true)
		second.Set("uid", "other")
		return tree.List(owner, second)
	case 4:
		return tree.List(owner, tree.Clone(owner))
	case 5:
		return tree.List(tree.Map())
	case 6:
		owner.Set("namespace", "default")
	default:
		owner.Set("controller", pick[any](g, "true", nil, 1))
	}
	return tree.List(owner)
}
