// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	yamlv2 "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"
)

var (
	seed  = flag.Int64("yaml-seed", 0, "seed of the mutations; 0 takes the time")
	cases = flag.Int("yaml-cases", 20000, "mutated documents")
)

func start(t *testing.T) *program {
	t.Helper()
	return startProgram(t, "yaml_json", []string{"server/codec/yaml*.c", "validators/core/arena.c",
		"validators/core/text.c", "validators/core/fault.c"}, []string{"-lyaml", "-lm"})
}

// ask gives the JSON that the program made of a document, or its fault.
func (p *program) ask(t *testing.T, document []byte) (fine bool, answer []byte) {
	t.Helper()
	head, answer := p.exchange(t, nil, document, 1)
	return head[0] == 1, answer
}

// decode reads JSON with the texts of its numbers kept; of equal keys the last one stands.
func decode(data []byte) (any, error) {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err := decoder.Decode(&value)
	return value, err
}

// duplicates tells whether an object in the JSON has a key twice.
func duplicates(data []byte) bool {
	type frame struct {
		object bool
		key    bool
		seen   map[string]bool
	}
	var stack []frame
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		if err != nil {
			return false
		}
		switch value := token.(type) {
		case json.Delim:
			if value == '{' || value == '[' {
				stack = append(stack, frame{object: value == '{', key: true, seen: map[string]bool{}})
				continue
			}
			stack = stack[:len(stack)-1]
		case string:
			if n := len(stack); n > 0 && stack[n-1].object && stack[n-1].key {
				if stack[n-1].seen[value] {
					return true
				}
				stack[n-1].seen[value] = true
				stack[n-1].key = false
				continue
			}
		}
		if n := len(stack); n > 0 {
			stack[n-1].key = true
		}
	}
}

var tagAtIndicator = regexp.MustCompile(`!\S*[,\[\]{}]`)

// left says why a document is left out: the differences that are meant or that libyaml makes.
func left(document []byte) string {
	text := string(document)
	switch {
	case strings.Contains(text, "binary"):
		return "!!binary is refused"
	case strings.Contains("\n"+text, "\n---"), strings.Contains("\n"+text, "\n..."):
		return "cut into documents before"
	case strings.Contains(text, `\/`):
		return "libyaml takes this escape of JSON in YAML, too"
	case strings.Contains(strings.ToLower(text), ".nan"):
		return "as a key it is equal to nothing, itself included, in Go"
	case strings.Contains(text, `\'`):
		return "go-yaml takes this escape, which no YAML has"
	case strings.LastIndex(text, "\ufeff") > 0:
		return "a byte order mark inside the text"
	case tagAtIndicator.Match(document):
		return "what ends a tag in brackets differs"
	}
	return ""
}

// ignored tells whether kubectl's library leaves a part of the document unread: it stops behind the first document
// of a text, whatever follows. A lint must not do so.
func ignored(document []byte) bool {
	decoder := yamlv2.NewDecoder(bytes.NewReader(document))
	var value any
	if decoder.Decode(&value) != nil {
		return false
	}
	return decoder.Decode(&value) != io.EOF
}

// compare tells in which way the two readings differ; empty when they agree.
func compare(document []byte, fine bool, ours []byte) string {
	theirs, err := yaml.YAMLToJSON(document)
	if (err == nil) != fine {
		if fine {
			return fmt.Sprintf("Go refuses: %v\nours: %s", err, ours)
		}
		// libyaml wants a blank behind a colon in brackets, where go-yaml sees plain text.
		// And {?a: b} is an explicit key in go-yaml and plain text in libyaml.
		if ignored(document) || bytes.Contains(ours, []byte("found unexpected ':'")) ||
			bytes.Contains(ours, []byte("question mark")) {
			return ""
		}
		// Refused at once, though a later value of the same key would have replaced it.
		if bytes.Contains(ours, []byte("infinite")) ||
			bytes.Contains(ours, []byte("a key is empty")) && replaces(document) {
			return ""
		}
		return fmt.Sprintf("we refuse: %s\nGo: %s", ours, theirs)
	}
	if err != nil {
		return ""
	}
	ourValue, err := decode(ours)
	if err != nil {
		return fmt.Sprintf("our JSON does not parse: %v\nours: %s", err, ours)
	}
	theirValue, err := decode(theirs)
	if err != nil {
		return ""
	}
	if !reflect.DeepEqual(ourValue, theirValue) {
		return fmt.Sprintf("ours: %s\nGo:   %s", ours, theirs)
	}
	_, strict := yaml.YAMLToJSONStrict(document)
	if !bytes.Contains(document, []byte("<<")) && strict != nil && !duplicates(ours) {
		return fmt.Sprintf("a key that is there twice was lost: %v\nours: %s", strict, ours)
	}
	return ""
}

// replaces tells whether a key is there twice, so that a value of it is not in what Go gives.
func replaces(document []byte) bool {
	_, err := yaml.YAMLToJSONStrict(document)
	return err != nil && strings.Contains(err.Error(), "already set in map")
}

func check(t *testing.T, p *program, document []byte) bool {
	t.Helper()
	if left(document) != "" {
		return true
	}
	fine, ours := p.ask(t, document)
	difference := compare(document, fine, ours)
	if difference != "" {
		t.Errorf("%q\n%s", document, difference)
	}
	return difference == ""
}

// scalars in every spelling that YAML 1.1, 1.2 or go-yaml alone know.
var scalars = []string{
	"yes", "no", "on", "off", "y", "n", "Y", "N", "YES", "True", "TRUE", "tRUE", "~", "null", "Null", "NULL", "nULL", "",
	"0", "00", "07", "08", "0777", "0o17", "0O17", "0o8", "0x1F", "0XaB", "0x", "0b101", "0B1", "0b2", "0b-1", "0b+1",
	"-0b11", "-0b-1", "1_000", "1__0", "_1", "1_", "0_7", "0x_1", "-1", "+1", "--1", "+-1", "-", "+", "-0", "+0", "0.0",
	".0_7e1", "._7", ".7_", ".7_e1", ".7e1_0", ".7e_1", ".7__1", "-.7_1", "-0.0", "1.", ".5", "-.5", "+.5", ".", "..", "1e3", "1E3", "1e+3", "1e-3", "1e", "e1", ".e1", "1.5e300", "1e400",
	"-1e400", "1e-400", "1e21", "1e20", "1e-6", "1e-7", "1.5e-9", "123456789012345678", "1234567890123456789",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "+9223372036854775808",
	"18446744073709551615", "18446744073709551616", "340282366920938463463374607431768211456", "0xffffffffffffffff",
	"0x10000000000000000", "01777777777777777777777", ".inf", "-.inf", "+.inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN",
	"inf", "nan", "Infinity", "2001-12-14", "2001-1-1", "2001-12-14T21:59:43.10-05:00", "2001-12-14 21:59:43", "190:20:30",
	"1:30", "12h", "500m", "1Gi", "1.1Gi", "16777217.0", "0.1", "3.14159", "1e6", "100000.5", "1234567.5", "0.00001",
	"1.7976931348623157e308", "5e-324", "0x1p4", "1,000", "<<", "=", "!", "!!str 1", "!!int 5", "!!int '5'", "!!int x",
	"!!float 5", "!!float 0x10", "!!float 18446744073709551615", "!!bool yes", "!!bool 'no'", "!!bool 1", "!!null ''", "!!null ~", "!!null x",
	"!!timestamp 2001-12-14", "!!timestamp x", "!!timestamp '2001-02-30'", "!!map {}", "!!seq []", "!foo 1", "! 1", "! '1'", "'1'", "\"1\"",
	"'yes'", "\"\\u00e9\"", "\"\\x41\\0\\e\"", "\"\\ud83d\\ude00\"", "\"\\U0001F600\"", "\"a\\\n  b\"", "é", "日本", "\"\\/\"",
	"a b", "a: b", "a:b", "a #b", "a#b", "[", "]", "{", "}", "[]", "{}", "[a, b]", "{a: b}", "{a: b, c}", "{a:b}", "[a,,b]", "[a, b,]", "{a: b,}",
	"[? a : b]", "{? a : b}", "{? a}", "[a: b]", "{\"a\":b}", "{'a':1}", "|\n  x\n  y", ">\n  x\n  y", "|-\n  x", "|+\n  x\n\n", "|2\n   x", "*a", "&a 1", "&a", "&a {b: 1}",
	"@a", "`a", "%a", "-a", "- a", "? a", "?a", ":a", ": a", "a:", "'it''s'", "'a\n\n b'",
}

var shapes = []string{"a: %s", "- %s", "%s: a", "{a: %s}", "[%s]", "{%s: a}", "? %s", "? %s\n: %s", "%s", "a: &x %s\nb: *x",
	"&x %s: 1\n*x : 2", "a: &x %s\n*x : c", "a:\n  - %s\n  - b: %s", "- - %s\n- a\n", "a: %s # c\nb: 1", "a: %s\na: %s", "a: {<<: %s, b: 1}",
	"x: &x {a: %s, b: 2}\ny: {<<: *x, a: %s}", "x: &x {a: 1}\ny: {a: %s, <<: *x}", "<<: %s", "x: &x {a: %s}\ny:\n  <<: [*x, {a: 2, c: 3}]\n  z: 1"}

func TestScalarsInEveryShape(t *testing.T) {
	p := start(t)
	for _, shape := range shapes {
		for _, scalar := range scalars {
			document := strings.ReplaceAll(shape, "%s", scalar)
			check(t, p, []byte(document))
			check(t, p, []byte(document+"\n"))
		}
	}
}

var documents = []string{
	"apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata:\n  name: w1-gpu\n  labels: {a: \"b\"}\nspec:\n  driver: gpu.example.com\n  pool: {name: w1, generation: 1, resourceSliceCount: 1}\n  nodeName: w1\n  devices:\n  - name: gpu-0\n    attributes:\n      numaNode: {int: 0}\n      version: {version: 1.2.3}\n      big: {bool: yes}\n    capacity:\n      memory: {value: 80Gi}\n    nodeAllocatableResourceMappings:\n      memory:\n        allocationMultiplier: 500m\n",
	"base: &base\n  name: a\n  list: &list [1, 2.5, 0x10, ~]\nother:\n  <<: *base\n  name: b\n  more: *list\nthird:\n  <<: [*base, {name: c, x: 1}]\n",
	"text: |\n  line one\n    line two\n\n  line three\nfolded: >-\n  a\n  b\n\n  c\nquoted: \"a\\tb\\\n  c\"\nsingle: 'it''s'\n",
	"- a\n- - b\n  - c\n- {d: e, f: [g, h]}\n- ? i\n  : j\n-\n- ~\n",
	"# comment\na: 1 # one\n\nb:\n  # two\n  c: 2\n",
	"{\"apiVersion\": \"resource.k8s.io/v1\", \"kind\": \"ResourceClaim\", \"spec\": {\"devices\": {\"requests\": [{\"name\": \"r\", \"exactly\": {\"deviceClassName\": \"x\", \"count\": 2}}]}}}\n",
	"a: [b, &b <<: {c: d}]\ne: *b\nf: {*b : g}\n",
	"%YAML 1.1\n", "a: &a [b, &b {c: d}]\ne: *b\nf: {<<: *b, c: *a}\n", "\ufeffa: b\n", "a:\r\n  b: c\r\n",
}

var pieces = append([]string{" ", "  ", "\n", "\n  ", "\t", ":", ": ", "- ", "? ", ", ", "[", "]", "{", "}", "#", " #", "&x ", "*x", "<<: ", "!!str ", "'", "\"", "|", ">", "%", "@", "\\", "\r", "\x00", "\x7f", "\u0085", "\u2028", "\xff", "é", "\ufeff"}, scalars...)

func mutate(random *rand.Rand, document []byte) []byte {
	for rounds := 1 + random.Intn(4); rounds > 0; rounds-- {
		at := random.Intn(len(document) + 1)
		switch random.Intn(5) {
		case 0: // put something in
			document = bytes.Join([][]byte{document[:at], []byte(pieces[random.Intn(len(pieces))]), document[at:]}, nil)
		case 1: // take something out
			end := min(at+1+random.Intn(4), len(document))
			document = bytes.Join([][]byte{document[:at], document[end:]}, nil)
		case 2: // put a line twice or take it out
			lines := bytes.SplitAfter(document, []byte("\n"))
			line := random.Intn(len(lines))
			again := bytes.Repeat(lines[line], random.Intn(3))
			document = bytes.Join([][]byte{bytes.Join(lines[:line], nil), again, bytes.Join(lines[line+1:], nil)}, nil)
		case 3: // change a value
			lines := bytes.SplitAfter(document, []byte("\n"))
			line := random.Intn(len(lines))
			if colon := bytes.Index(lines[line], []byte(": ")); colon >= 0 {
				lines[line] = []byte(string(lines[line][:colon+2]) + pieces[random.Intn(len(pieces))] + "\n")
			}
			document = bytes.Join(lines, nil)
		case 4: // change a byte
			if at < len(document) {
				document = bytes.Clone(document)
				document[at] = pieces[random.Intn(len(pieces)-len(scalars))][0]
			}
		}
	}
	return document
}

func TestMutatedDocuments(t *testing.T) {
	p := start(t)
	if *seed == 0 {
		*seed = time.Now().UnixNano()
	}
	t.Logf("-yaml-seed %d", *seed)
	random := rand.New(rand.NewSource(*seed))
	for _, document := range documents {
		check(t, p, []byte(document))
	}
	for i, failures := 0, 0; i < *cases && failures < 20; i++ {
		if !check(t, p, mutate(random, []byte(documents[random.Intn(len(documents))]))) {
			failures++
		}
	}
}

func TestBombs(t *testing.T) {
	p := start(t)
	var billion strings.Builder
	billion.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&billion, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	bombs := map[string]string{
		"aliases of aliases": billion.String(),
		"brackets":           strings.Repeat("[", 1<<20),
		"braces":             strings.Repeat("{a: ", 1<<18),
		"dashes":             strings.Repeat("- ", 1<<19),
		"questions":          strings.Repeat("? ", 1<<19),
		"long text":          "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 1000) + "]\n",
		"anchors":            strings.Repeat("- &a 1\n", 100000),
	}
	for name, bomb := range bombs {
		begin := time.Now()
		fine, answer := p.ask(t, []byte(bomb))
		if fine || len(answer) == 0 {
			t.Errorf("%s: let through", name)
		}
		// The program runs with sanitizers, and the machine may be busy: many times a second would be a fault.
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
	}
}
