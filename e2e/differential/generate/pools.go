// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"strings"

	"drawbridge.dev/e2e/differential/tree"
)

// Text that has surprised some parser before.
var odd = []string{"", " ", "null", "true", "0", "-", ".", "/", "//", "*", "a b", "A", "a_b", "-a", "a-", ".a", "a.",
	"a..b", "a/b/c", "ä", "\u0000", "\n", "\u2028", "\ufeffa", "😀", "٣", "a:b", "%00", "<a>", "&", "'", "kubernetes.io", "kubernetes.io/x"}

// Numbers as JSON may hold them, for fields that want an integer.
var numbers = []any{0, 1, -1, 2, tree.Raw("1.0"), tree.Raw("1.5"), tree.Raw("1e2"), tree.Raw("-0"), tree.Raw("1E0"),
	tree.Raw("2147483647"), tree.Raw("2147483648"), tree.Raw("9223372036854775807"), tree.Raw("9223372036854775808"),
	tree.Raw("-9223372036854775808"), tree.Raw("-9223372036854775809"), tree.Raw("1e400"), tree.Raw("123456789012345678901234567890"), "1", true, nil}

// Integers that every decoder takes.
var integers = []any{0, 1, -1, 2, 3, 100, tree.Raw("2147483648"), tree.Raw("9223372036854775807"), tree.Raw("-9223372036854775808")}

var quantities = []any{"", " ", "0", "1", "-1", "+1", "-0", "500m", "1m", "-1m", "0.5m", "1n", "0.1n", "1u", "1k", "1K", "1Ki", "1Mi", "1MI", "1mi",
	"1M", "1G", "1Gi", "1gi", "1T", "1Ti", "1P", "1Pi", "1E", "1Ei", "7Ei", "8Ei", "9E", "10E", "1.5Gi", "0.1Gi", "-1Gi", ".5", "5.", "-.5", ".", "-", "+",
	"1e3", "1E3", "1e-3", "1e+3", "1e", "1e3k", "1e18", "1e19", "1e-9", "1e-10", "1 Gi", " 1", "1 ", "1Gib", "1KiB", "1_000", "1,5", "0x10", "NaN", "inf",
	"9223372036854775807", "9223372036854775808", "-9223372036854775809", "123456789012345678901234567890", "0.0000000001", "1.0000000001",
	"00001", "1.50", "1ki", "1mm", "m", "Gi", "٣", "1\n", "1\u0000", "16", "128", "64Gi", "65Gi", "129", "1000m", "1023Mi",
	1, 0, -1, tree.Raw("1.5"), tree.Raw("1e3"), tree.Raw("-0.5"), tree.Raw("0.1"), tree.Raw("1E2"), tree.Raw("123456789012345678901234567890"),
	true, nil, tree.Map(), tree.List(), tree.List("1")}

var labelNames = texts("", "A", "a.b", "a_b", "-a", "a-", "a/b", "0", "0a", "a b", "a\n", "ä", "a--b", "*", "req-0", "req-0/sub-0",
	strings.Repeat("a", 62), strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 300))

var subdomains = texts("", "A", "a.b", "a..b", ".a", "a.", "a_b", "-a", "a-", "a-.b", "a/b", "0", "a b", "ä", "Dra.Example.com", "*.a",
	dotted(62), dotted(63), dotted(64), dotted(252), dotted(253), dotted(254), strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 253))

var poolNames = texts("", "/", "a/", "/a", "a//b", "a/b/c", "A/b", "a_b", "a.b/c.d", "a/-b", "ä", dotted(253), dotted(254),
	dotted(125)+"/"+dotted(127), dotted(125)+"/"+dotted(128), strings.Repeat("a/", 126)+"a", strings.Repeat("a/", 127)+"a")

var qualifiedKeys = []string{"", "a", "A", "_a", "1a", "a-b", "a.b", "a b", "ä", "/", "a/", "/a", "a/b", "a/b/c", "A.B/c", "a_b/c", "-a/b", "a/1b", "a/b-c",
	"a.b.c/d_e", "resource.kubernetes.io/numaNode", "dra.example.com/cpu", "cpu", "memory", "dra.example.com/memory",
	strings.Repeat("i", 32), strings.Repeat("i", 33), strings.Repeat("d", 63) + "/" + strings.Repeat("i", 32),
	strings.Repeat("d", 64) + "/i", dotted(63) + "/i", dotted(64) + "/i", "d/" + strings.Repeat("i", 33), strings.Repeat("x", 97), strings.Repeat("ä", 60),
	dotted(64) + "/" + strings.Repeat("i", 33), strings.Repeat("d", 200) + "/" + strings.Repeat("i", 200), "true", "null"}

var labelKeys = []string{"", "a", "A", "a.b", "a_b", "-a", "a-", "a b", "ä", "/", "a/", "/a", "a/b", "a/b/c", "A.B/c", "a_b/c", "example.com/A_b.c-d",
	strings.Repeat("a", 63), strings.Repeat("a", 64), dotted(253) + "/a", dotted(254) + "/a", "a/" + strings.Repeat("b", 63), "a/" + strings.Repeat("b", 64)}

var labelValues = texts("", "a", "A", "a.b", "-a", "a-", "a b", "ä", "a/b", "0", "_", "a_b", strings.Repeat("a", 63), strings.Repeat("a", 64))

var counterKeys = []string{"", "a", "A", "a.b", "a_b", "-a", "a-", "a/b", "ä", "memory", strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a", 70)}

var resourceKeys = []string{"", "cpu", "memory", "CPU", "Memory", "mem", "ephemeral-storage", "storage", "pods", "gpu", "hugepages-", "hugepages-2Mi", "hugepages-1Gi",
	"hugepages-3Ki", "hugepages-2048Ki", "hugepages-x", "hugepages-2MB", "hugepages-0", "hugepages--2Mi", "requests.cpu", "limits.memory", "attachable-volumes-x", "example.com/gpu",
	"foo.kubernetes.io/x", "kubernetes.io/x", "kubernetes.io/", "/x", "a/b/c", "a b", "-", "cpu ", "ä", strings.Repeat("a", 63), strings.Repeat("a", 64),
	dotted(253) + "/x", dotted(254) + "/x", "notkubernetes.io/x", "requests.example.com/x"}

var nodeValues = []any{tree.List(), tree.List(""), tree.List("a"), tree.List("1"), tree.List("-1"), tree.List("x", "y"), tree.List("1", "2"),
	tree.List("-a"), tree.List("1.5"), tree.List("99999999999999999999"), tree.List(strings.Repeat("v", 63)), tree.List(strings.Repeat("v", 64)),
	tree.List("a", "a"), tree.List(1), tree.List(nil), tree.List("ä"), "a"}

var times = []any{"", "x", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123456789Z", "2026-01-02t03:04:05z",
	"2026-13-02T03:04:05Z", "2026-02-30T03:04:05Z", "2026-01-02T24:00:00Z", "2026-01-02T03:04:60Z", "0001-01-01T00:00:00Z", "2026-01-02T03:04:05+25:00",
	"2026-01-02T03:04:05,5Z", "2026-01-02 03:04:05Z", "20260-01-02T03:04:05Z", 5, nil, true, tree.Map()}

var versions = texts("", "1", "1.2", "v1.2.3", "1.2.3.4", "01.2.3", "1.02.3", "1.2.3-", "1.2.3+", "1.2.3-01", "1.2.3-0a", "1.2.3-a..b", "1.2.3-a.b+c.d",
	"1.2.3+a+b", "1.2.3 ", "1.2.3-ä", "99999999999999999999.0.0", "-1.2.3", "1.2.3\n", "1.0.0-"+strings.Repeat("a", 58), "1.0.0-"+strings.Repeat("a", 59), strings.Repeat("x", 65))

var attributeTexts = texts("", "a", strings.Repeat("s", 64), strings.Repeat("s", 65), strings.Repeat("ä", 32), strings.Repeat("ä", 33), "a\nb", "\u0000", strings.Repeat("s", 1000))

// No number beyond float64: the API server itself ends such a request by a panic
// (1e999, seen on both minors), so it gives no verdict to compare.
var parameterValues = []any{nil, "text", 1, tree.List(), tree.Map(), true, tree.Raw("1.5"), tree.List(tree.Map()), tree.Raw(`{"a":{"a":1,"a":2}}`),
	tree.Map("pad", strings.Repeat("p", 10240-10)), tree.Map("pad", strings.Repeat("p", 10240-9)), tree.Map("pad", strings.Repeat("ä", 5115)), tree.Map("pad", strings.Repeat("ä", 5116)),
	tree.Raw(`{ "spaced" :  [ 1 , 2 ] }`), tree.Raw(`{"s":"\ud83d\ude00 \udc00"}`), ""}

// CEL that compiles, but for the blank text: what does not compile, only the server can tell.
var expressions = texts("", " ", "true", "true"+strings.Repeat(" ", 10*1024-4), "true"+strings.Repeat(" ", 10*1024-3), strings.Repeat("ä", 5121),
	`device.driver == "x"`, `device.attributes["a.b"].c == 1`)

var extendedNames = texts("", "cpu", "memory", "a", "a/b", "example.com/gpu", "example.com/", "/gpu", "example.com/a/b", "example.com/a b", "Example.com/gpu", "example.com/GPU_x.y",
	"kubernetes.io/x", "foo.kubernetes.io/x", "requests.example.com/x", "limits.example.com/x", "hugepages-2Mi", "deviceclass.resource.kubernetes.io/x", "ä.com/x",
	dotted(253)+"/x", dotted(254)+"/x", "example.com/"+strings.Repeat("x", 63), "example.com/"+strings.Repeat("x", 64), dotted(244)+"/x", dotted(245)+"/x")

var effects = texts("", "NoSchedule", "NoExecute", "None", "PreferNoSchedule", "noschedule", " NoSchedule", "x")

var conditionLists = []any{tree.List(), tree.List("a"), tree.List("a", "a"), tree.List("ready"), tree.List("failed"), tree.List("a", "b", "c", "d"), tree.List("a", "b", "c", "d", "e"),
	tree.List(""), tree.List("-a"), tree.List("a/b/c"), tree.List("example.com/x"), tree.List(strings.Repeat("c", 63)), tree.List(strings.Repeat("c", 64)), tree.List(1), nil}

var selectorsOfNodes = []any{tree.Map(), tree.Map("nodeSelectorTerms", tree.List()), tree.Map("nodeSelectorTerms", nil), tree.Map("nodeSelectorTerms", tree.List(tree.Map())),
	tree.Map("nodeSelectorTerms", tree.List(tree.Map(), tree.Map())),
	tree.Map("nodeSelectorTerms", tree.List(tree.Map("matchFields", tree.List(tree.Map("key", "metadata.name", "operator", "In", "values", tree.List("a", "b")))))),
	tree.Map("nodeSelectorTerms", tree.List(tree.Map("matchFields", tree.List(tree.Map("key", "spec.x", "operator", "Exists"))))),
	tree.Map("nodeSelectorTerms", tree.List(tree.Map("matchFields", tree.List(tree.Map("key", "metadata.name", "operator", "In", "values", tree.List("A_"))))))}

var references = []any{tree.List(), nil, tree.List("req-0"), tree.List("req-0", "req-0"), tree.List("nope"), tree.List(""), tree.List("req-0/sub-0"), tree.List("req-0/nope"),
	tree.List("req-0/sub-0/x"), tree.List("/"), tree.List("req-0/"), tree.List("A"), tree.List("req-1"), tree.List(strings.Repeat("a", 64)), tree.List(1)}

// valuePools says which values a field may get, by role.
var valuePools = map[string][]any{
	"counterSet": labelNames, "deviceClassName": subdomains, "nodeName": append(subdomains, nil), "driver": subdomains, "pool": poolNames,
	"generation": numbers, "resourceSliceCount": numbers, "count": numbers, "tolerationSeconds": numbers, "int": numbers, "ints[]": numbers,
	"default": quantities, "min": quantities, "max": quantities, "step": quantities, "validValues[]": quantities,
	"allocationMultiplier": quantities, "capacityMultiplier": quantities, "deviceMultiplier": quantities, "perPod": quantities, "perContainer": quantities,
	"requests{}": quantities, "consumedCapacity{}": quantities,
	"capacityKey":       append(fromKeys(qualifiedKeys), "nri/cpus", "bandwidth"),
	"matchAttribute":    fromKeys(qualifiedKeys),
	"distinctAttribute": fromKeys(qualifiedKeys),
	"key":               fromKeys(append(labelKeys, "metadata.name")),
	"operator":          texts("", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal", "Equals", "in", "EXISTS", "x"),
	"effect":            effects,
	"allocationMode":    texts("", "All", "ExactCount", "all", "None", "exactcount"),
	"values":            nodeValues, "values[]": append(labelValues, "1", "-1", "x"),
	"timeAdded": times, "allocationTimestamp": times,
	"version": versions, "versions[]": versions, "string": attributeTexts, "strings[]": attributeTexts,
	"bool":       {true, false, nil, "true", 1},
	"parameters": parameterValues, "expression": expressions, "extendedResourceName": extendedNames,
	"bindingConditions": conditionLists, "bindingFailureConditions": conditionLists,
	"bindingConditions[]": fromKeys(labelKeys), "bindingFailureConditions[]": append(fromKeys(labelKeys), "ready"),
	"nodeSelector": selectorsOfNodes, "nodeSelectorTerms": {tree.List(), nil, tree.List(tree.Map()), tree.List(nil)},
	"matchFields": {tree.List(), tree.List(tree.Map()), nil}, "matchExpressions": {tree.List(), tree.List(tree.Map()), nil},
	"allNodes": {true, false, nil, "true", 0}, "perDeviceNodeSelection": {true, false, nil, "true"},
	"allowMultipleAllocations": {true, false, nil, "true", 1}, "adminAccess": {true, false, nil, "true"}, "bindsToNode": {true, false, nil, 1},
	"devices": {tree.List(), nil, tree.Map(), tree.List(nil)}, "sharedCounters": {tree.List(), nil, tree.List(tree.Map())},
	"requests[]": fromKeys([]string{"", "req-0", "req-1", "req-0/sub-0", "req-0/sub-1", "req-0/x", "nope", "A", "a/b/c", "/"}),
	"validRange": {nil, tree.Map(), tree.Map("min", "1"), tree.Map("max", "1"), tree.Map("min", "2", "max", "1"), tree.Map("min", "1", "max", "16", "step", "3")},
	"validValues": {nil, tree.List(), tree.List("1"), tree.List("2", "1"), tree.List("1", "1"), tree.List("1", "1000m"), tree.List("1", "1.5"), tree.List("1", "1.2", "1.4"),
		tree.List("1", "2", "3", "4", "5", "6", "7", "8", "9", "10"), tree.List("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11")},
	"requestPolicy": {nil, tree.Map(), tree.Map("default", "1"), tree.Map("validValues", tree.List("1")), tree.Map("validRange", tree.Map("min", "1")),
		tree.Map("default", "3", "validValues", tree.List("1", "2")), tree.Map("default", "1", "validRange", tree.Map()),
		tree.Map("default", "1500m", "validRange", tree.Map("min", "1", "step", "1")), tree.Map("default", "1.5", "validRange", tree.Map("min", "0.5", "max", "2", "step", "500m"))},
	"mapping":  {nil, tree.Map(), tree.Map("deviceMultiplier", "1"), tree.Map("capacityKey", "memory"), tree.Map("capacityMultiplier", "1"), tree.Map("capacityKey", "memory", "deviceMultiplier", "1")},
	"overhead": {nil, tree.Map(), tree.Map("perPod", "1"), tree.Map("perContainer", "-1"), tree.Map("perPod", "0", "perContainer", "0")},
	"opaque":   {nil, tree.Map(), tree.Map("driver", "a"), tree.Map("parameters", tree.Map())}, "cel": {nil, tree.Map(), tree.Map("expression", "true")},
	"exactly": {nil, tree.Map(), tree.Map("deviceClassName", "a")}, "firstAvailable": {nil, tree.List(), tree.List(tree.Map())},
	"constraints[]": {tree.Map(), nil, tree.Map("requests", tree.List("req-0"))}, "config[]": {tree.Map(), nil, tree.Map("requests", tree.List("req-0"))},
	"selectors[]":                       {tree.Map(), nil, tree.Map("cel", tree.Map())},
	"tolerations[]":                     {tree.Map(), nil, tree.Map("operator", "Exists"), tree.Map("key", "a", "operator", "Exists", "value", "x"), tree.Map("operator", "Equal")},
	"taints[]":                          {tree.Map(), nil, tree.Map("key", "a"), tree.Map("effect", "NoSchedule")},
	"attributes{}":                      {tree.Map(), nil, "text", 3, tree.Map("int", 1, "string", "a"), tree.Map("int", nil), tree.Map("ints", tree.List(1)), tree.Map("int", 1, "ints", tree.List(1)), tree.Map("strings", tree.List())},
	"capacity{}":                        {tree.Map(), nil, "128", 128, tree.Map("value", "1"), tree.Map("quantity", "1")},
	"counters{}":                        {tree.Map(), nil, "1", tree.Map("value", nil)},
	"nodeAllocatableResourceMappings{}": {tree.Map(), nil, tree.Map("allocationMultiplier", "0"), tree.Map("capacityKey", ""), "1Gi"},
	"nodeAllocatableResources{}":        {tree.Map(), nil, tree.Map("mapping", tree.Map()), tree.Map("overhead", tree.Map()), "1Gi"},
	"labels{}":                          append(append([]any{}, labelValues...), nil, 1), "annotations{}": {"", "any", nil, 1},
	"basic": {nil, tree.Map()}, "metadata": {nil, tree.Map()}, "spec": {nil, tree.Map()},
}

// pool returns the values that fit the place, some of them wrong on purpose.
func pool(at site) []any {
	switch at.role {
	case "name":
		switch at.owner {
		case "pool":
			return poolNames
		case "metadata":
			return subdomains
		}
		return labelNames
	case "value":
		if at.object != nil && (at.object.Get("key") != nil || at.object.Get("effect") != nil) {
			return labelValues
		}
		return quantities
	case "requests":
		if at.owner == "capacity" {
			return []any{nil, tree.Map(), tree.Map("a", "1"), tree.Map("a", "-1")}
		}
		return cloned(references)
	}
	return cloned(valuePools[at.role])
}

// keyPool returns keys for the map of that role.
func keyPool(role string) []string {
	switch role {
	case "counters":
		return counterKeys
	case "labels", "annotations":
		return labelKeys
	case "nodeAllocatableResources", "nodeAllocatableResourceMappings":
		return resourceKeys
	}
	return qualifiedKeys
}

// limits are the longest valid lists, by role.
var limits = map[string]int{
	"devices": 128, "taints": 16, "tolerations": 16, "selectors": 32, "requests": 32, "constraints": 32, "config": 32, "firstAvailable": 8,
	"bindingConditions": 4, "bindingFailureConditions": 4, "sharedCounters": 8, "consumesCounters": 2, "validValues": 10,
}

func texts(items ...string) []any {
	return fromKeys(items)
}

func fromKeys(items []string) []any {
	list := make([]any, len(items))
	for i, item := range items {
		list[i] = item
	}
	return list
}

// cloned returns copies: a tree that is handed out may be changed later.
func cloned(values []any) []any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = tree.Clone(v)
	}
	return list
}
