// SPDX-License-Identifier: Apache-2.0

package generate

import (
	"strings"

	"drawbridge.dev/e2e/differential/tree"
)

// mutate makes that many mistakes in the object. One object in five has such
// that its decoding fails; they hide what validation would say.
func (g *Generator) mutate(o *tree.Object, count int) {
	change := g.mutateValue
	if g.chance(20) {
		change = g.mutateStructure
	}
	for range count {
		if g.chance(10) {
			g.mutateMetadata(o)
			continue
		}
		// Some mistakes do not fit the place chosen: then another is tried.
		for range 40 {
			at, ok := g.chooseSite(o)
			if !ok {
				return
			}
			if !keepNamespace(at) && change(at) {
				break
			}
		}
	}
}

// keepNamespace tells whether the place is the namespace of the object. What
// the server makes of it depends on the address that was posted to.
func keepNamespace(at site) bool {
	return at.role == "namespace" && at.owner == "metadata"
}

// mutateStructure makes a mistake that mostly ends decoding: a wrong type, an
// unknown or repeated field. False when it does not fit the place.
func (g *Generator) mutateStructure(at site) bool {
	switch g.r.IntN(10) {
	case 0, 1, 2:
		at.set(g.wrongType(at.value()))
	case 3:
		at.set(nil)
	case 4, 5:
		return g.rename(at)
	case 6:
		return g.addUnknown(at)
	case 7:
		at.repeat()
	default:
		values := pool(at)
		if len(values) == 0 {
			return false
		}
		at.set(pick(g, values...))
	}
	return true
}

// mutateValue makes a mistake that mostly can be decoded. False when it does
// not fit the place.
func (g *Generator) mutateValue(at site) bool {
	inMap := strings.HasSuffix(at.role, "{}")
	switch g.r.IntN(24) {
	case 0, 1:
		at.remove()
		return true
	case 2:
		at.set(nil)
		return true
	case 3, 4, 5:
		return g.similar(at)
	case 6, 7:
		if at.array == nil {
			return false
		}
		at.repeat()
		return true
	case 8, 9, 10:
		if !inMap {
			return false
		}
		return g.rename(at)
	case 11, 12, 13:
		return g.addKnown(at)
	case 15, 16:
		return g.soup(at)
	case 14:
		list, ok := at.value().(*tree.Array)
		if ok {
			g.growNear(list, at.role)
			return true
		}
		return g.growMap(at)
	}
	values := likeTyped(at.value(), pool(at))
	if len(values) == 0 {
		return false
	}
	at.set(pick(g, values...))
	return true
}

// likeTyped returns the values that decode where the value in place does.
func likeTyped(v any, values []any) []any {
	if n, ok := v.(int); ok && len(values) == len(numbers) {
		return append(append([]any{}, integers...), n+1)
	}
	var like []any
	for _, candidate := range values {
		if jsonType(candidate) == jsonType(v) {
			like = append(like, candidate)
		}
	}
	return like
}

// wrongType returns a value of another JSON type.
func (g *Generator) wrongType(v any) any {
	other := []any{"text", "", 1, 0, -1, tree.Raw("1.5"), true, false, tree.Map(), tree.List(),
		tree.Map("a", 1), tree.List("a"), tree.List(1), tree.List(nil), tree.List(tree.Map())}
	for {
		candidate := other[g.r.IntN(len(other))]
		if jsonType(candidate) != jsonType(v) {
			return tree.Clone(candidate)
		}
	}
}

func jsonType(v any) string {
	switch v.(type) {
	case *tree.Object:
		return "object"
	case *tree.Array:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case nil:
		return "null"
	}
	return "number"
}

// similar replaces the value by another of the same type.
func (g *Generator) similar(at site) bool {
	switch v := at.value().(type) {
	case string:
		if at.role == "expression" {
			return false
		}
		at.set(g.similarText(v))
	case int:
		at.set(pick(g, integers...))
	case tree.Raw:
		at.set(pick(g, numbers...))
	case bool:
		at.set(!v)
	case *tree.Object:
		at.set(tree.Map())
	case *tree.Array:
		at.set(tree.List())
	default:
		return false
	}
	return true
}

func (g *Generator) similarText(s string) string {
	switch g.r.IntN(12) {
	case 0:
		return ""
	case 1:
		return strings.ToUpper(s)
	case 2:
		return s + s
	case 3:
		return s + pick(g, " ", ".", "-", "_", "/", "/x", "\n", "\u0000", "ä", "\u2028", "é́", "%s", "\"", "\\")
	case 4:
		return pick(g, " ", ".", "-", "_", "/", "x/", "*", "1", "\t") + s
	case 5:
		return strings.Repeat("a", g.length())
	case 6:
		return dotted(g.length())
	case 7:
		return "a/" + strings.Repeat("b", g.length())
	case 8:
		return dotted(g.length()) + "/b"
	case 9:
		return strings.Repeat("ä", g.between(15, 130))
	case 10:
		return pick(g, odd...)
	}
	if s == "" {
		return "x"
	}
	// One byte of ASCII text is changed.
	b := []byte(s)
	i := g.r.IntN(len(b))
	if b[i] < 0x80 {
		b[i] = pick(g, []byte("A-_./ @0:,")...)
	}
	return strings.ToValidUTF8(string(b), "?")
}

// length returns a length near one of the limits that the API knows.
func (g *Generator) length() int {
	return pick(g, 15, 16, 32, 63, 64, 65, 96, 97, 128, 253, 256, 316, 317) + g.between(-1, 1)
}

// dotted returns a valid DNS subdomain (but for its length) of n bytes.
func dotted(n int) string {
	s := strings.Repeat(strings.Repeat("a", 62)+".", n/63+1)[:n]
	if strings.HasSuffix(s, ".") {
		s = s[:n-1] + "b"
	}
	return s
}

// rename changes the key: of a map by one of its own pool, of a field by a slip.
func (g *Generator) rename(at site) bool {
	if at.object == nil {
		return false
	}
	f := &at.object.Fields[at.index]
	if strings.HasSuffix(at.role, "{}") {
		names := keyPool(at.owner)
		if g.chance(40) {
			f.Name = g.similarText(f.Name)
		} else {
			f.Name = pick(g, names...)
		}
		return true
	}
	switch g.r.IntN(4) {
	case 0:
		f.Name = strings.ToUpper(f.Name[:1]) + f.Name[1:]
	case 1:
		f.Name = strings.ToLower(f.Name) + "x"
	case 2:
		f.Name = strings.TrimSuffix(f.Name, "s") + "Name"
	default:
		f.Name = pick(g, "quantity", "driverName", "resourceName", "value", "name", "basic", "exactly", "")
	}
	return true
}

// addUnknown puts a field that no version knows into an object.
func (g *Generator) addUnknown(at site) bool {
	o, ok := at.value().(*tree.Object)
	if !ok || freeKeys(at.role, o) || at.role == "parameters" {
		return false
	}
	name := pick(g, "unknown", "x", "", "a.b", "a[0]", "ä", "Name", "apiVersion", "kind", "metadata", "spec", "with \"quotes\"")
	o.Fields = append(o.Fields, tree.Field{Name: name, Value: pick[any](g, 1, "a", nil, tree.Map("b", 1), tree.List(1))})
	return true
}

// growNear makes a list as long as its limit, or one longer.
func (g *Generator) growNear(list *tree.Array, role string) {
	limit, known := limits[role]
	if !known {
		limit = pick(g, 2, 4, 8, 16, 32)
	}
	g.grow(list, limit+g.between(0, 1), g.chance(15))
}

// grow appends copies of the last item until there are n, each with a name of
// its own unless equal ones are wanted.
func (g *Generator) grow(list *tree.Array, n int, equal bool) {
	if len(list.Items) == 0 {
		return
	}
	last := list.Items[len(list.Items)-1]
	for i := len(list.Items); i < n; i++ {
		item := tree.Clone(last)
		if !equal {
			switch v := item.(type) {
			case string:
				item = numbered(v, i)
			case int:
				item = v + i
			case *tree.Object:
				for _, name := range []string{"name", "counterSet", "key", "uid"} {
					if text, ok := v.Get(name).(string); ok {
						v.Set(name, numbered(text, i))
						break
					}
				}
			}
		}
		list.Items = append(list.Items, item)
	}
}

// growMap gives a map as many entries as its limit, or one more.
func (g *Generator) growMap(at site) bool {
	o, ok := at.value().(*tree.Object)
	if !ok || !freeKeys(at.role, o) || len(o.Fields) == 0 {
		return false
	}
	last := o.Fields[len(o.Fields)-1].Value
	n := pick(g, 31, 32, 33)
	for i := len(o.Fields); i < n; i++ {
		o.Fields = append(o.Fields, tree.Field{Name: numbered("more", i), Value: tree.Clone(last)})
	}
	return true
}
