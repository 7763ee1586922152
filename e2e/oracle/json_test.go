// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

var (
	jsonSeed  = flag.Int64("json-seed", 0, "seed of the mutations; 0 takes the time")
	jsonCases = flag.Int("json-cases", 100000, "mutated objects")
)

const minor = 37 // of the Go types

// decoder is the C program program/decode_json.c.
type decoder struct{ *program }

func startDecoder(t *testing.T) decoder {
	t.Helper()
	return decoder{startProgram(t, "decode_json", []string{"validators/core/*.c", "validators/model/*.c",
		"server/codec/decode*.c", "server/codec/hints.c"}, nil)}
}

// outcome is what one side made of a document.
type outcome struct {
	known  bool            // a kind that is judged
	failed bool            // cannot be decoded at all: syntax, types
	strict map[string]bool // paths of unknown and duplicate fields
	fields map[string]string
	why    string
}

func (o *outcome) accepted() bool {
	return !o.failed && len(o.strict) == 0
}

// unescape undoes what the program does to line ends.
func unescape(text string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n").Replace(text)
}

func (d decoder) ask(t *testing.T, document []byte) *outcome {
	t.Helper()
	_, answer := d.exchange(t, []byte{minor}, document, 0)
	ours := &outcome{known: true, strict: map[string]bool{}, fields: map[string]string{}}
	for number, line := range strings.Split(strings.TrimSuffix(string(answer), "\n"), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case number == 0 && word == "fault":
			ours.failed, ours.why = true, rest
		case number == 0:
			ours.known = rest != "0"
		case word == "error":
			ours.failed, ours.why = true, ours.why+" "+rest
		case word == "strict":
			ours.strict[unescape(rest)] = true
		default:
			path, value, _ := cutEscaped(line)
			ours.fields[unescape(path)] = unescape(value)
		}
	}
	return ours
}

// cutEscaped cuts a line at the = that ends its path: the first one outside of brackets.
func cutEscaped(line string) (path, value string, found bool) {
	depth := 0
	for i, c := range line {
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		case '=':
			if depth <= 0 {
				return line[:i], line[i+1:], true
			}
		}
	}
	return strings.Cut(line, "=")
}

// newObject gives the Go type of a document, nil for one that nobody judges.
func newObject(apiVersion, kind string) any {
	switch apiVersion + " " + kind {
	case "resource.k8s.io/v1 ResourceSlice":
		return &resourcev1.ResourceSlice{}
	case "resource.k8s.io/v1 ResourceClaim":
		return &resourcev1.ResourceClaim{}
	case "resource.k8s.io/v1 ResourceClaimTemplate":
		return &resourcev1.ResourceClaimTemplate{}
	case "resource.k8s.io/v1 DeviceClass":
		return &resourcev1.DeviceClass{}
	case "resource.k8s.io/v1beta2 ResourceSlice":
		return &resourcev1beta2.ResourceSlice{}
	case "resource.k8s.io/v1beta2 ResourceClaim":
		return &resourcev1beta2.ResourceClaim{}
	case "resource.k8s.io/v1beta2 ResourceClaimTemplate":
		return &resourcev1beta2.ResourceClaimTemplate{}
	case "resource.k8s.io/v1beta2 DeviceClass":
		return &resourcev1beta2.DeviceClass{}
	case "resource.k8s.io/v1beta1 ResourceSlice":
		return &resourcev1beta1.ResourceSlice{}
	case "resource.k8s.io/v1beta1 ResourceClaim":
		return &resourcev1beta1.ResourceClaim{}
	case "resource.k8s.io/v1beta1 ResourceClaimTemplate":
		return &resourcev1beta1.ResourceClaimTemplate{}
	case "resource.k8s.io/v1beta1 DeviceClass":
		return &resourcev1beta1.DeviceClass{}
	}
	return nil
}

var strictMessage = regexp.MustCompile(`^(unknown|duplicate) field (".*")$`)

// judge decodes as the API server does under strict field validation.
func judge(document []byte) (*outcome, error) {
	theirs := &outcome{strict: map[string]bool{}, fields: map[string]string{}}
	var meta struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	err := kjson.UnmarshalCaseSensitivePreserveInts(document, &meta)
	if syntax, _ := kjson.SyntaxErrorOffset(err); syntax {
		theirs.failed, theirs.why = true, err.Error()
		return theirs, nil
	}
	object := newObject(meta.APIVersion, meta.Kind)
	if err != nil || object == nil {
		return theirs, nil
	}
	theirs.known = true
	strict, err := kjson.UnmarshalStrict(document, object)
	if err != nil {
		theirs.failed, theirs.why = true, err.Error()
		return theirs, nil
	}
	for _, one := range strict {
		match := strictMessage.FindStringSubmatch(one.Error())
		if match == nil {
			return nil, fmt.Errorf("not a strict error: %v", one)
		}
		path, err := strconv.Unquote(match[2])
		if err != nil {
			return nil, err
		}
		if match[1] == "duplicate" {
			return nil, errDuplicate
		}
		theirs.strict[path] = true
	}
	flatten("", reflect.ValueOf(object).Elem(), theirs.fields)
	return theirs, nil
}

var errDuplicate = errors.New("duplicate field")

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// flatten writes what a Go value holds as path and value, in the form that the program writes.
func flatten(path string, value reflect.Value, fields map[string]string) {
	switch typed := value.Interface().(type) {
	case metav1.Time, []metav1.ManagedFieldsEntry:
		return // the program keeps their texts
	case resource.Quantity:
		if !typed.IsZero() {
			fields[path] = typed.String()
		}
		return
	case runtime.RawExtension:
		if len(typed.Raw) > 0 {
			fields[path] = string(typed.Raw)
		}
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		flattenPointer(path, value, fields)
	case reflect.Struct:
		for i := range value.NumField() {
			field := value.Type().Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if field.Anonymous && name == "" {
				flatten(path, value.Field(i), fields)
			} else {
				flatten(join(path, name), value.Field(i), fields)
			}
		}
	case reflect.Slice:
		if value.Len() > 0 {
			fields[path+".#"] = strconv.Itoa(value.Len())
		}
		for i := range value.Len() {
			flatten(fmt.Sprintf("%s[%d]", path, i), value.Index(i), fields)
		}
	case reflect.Map:
		if value.Len() > 0 {
			fields[path+".#"] = strconv.Itoa(value.Len())
		}
		for _, key := range value.MapKeys() {
			flatten(path+"["+key.String()+"]", value.MapIndex(key), fields)
		}
	case reflect.String, reflect.Int64, reflect.Bool:
		if !value.IsZero() {
			fields[path] = fmt.Sprint(value.Interface())
		}
	default:
		panic("a field of another kind: " + path)
	}
}

func flattenPointer(path string, value reflect.Value, fields map[string]string) {
	if value.IsNil() {
		return
	}
	switch value.Elem().Interface().(type) {
	case metav1.Time, resource.Quantity, runtime.RawExtension:
		flatten(path, value.Elem(), fields)
		return
	}
	if value.Elem().Kind() == reflect.Struct {
		fields[path] = "{}"
		flatten(path, value.Elem(), fields)
		return
	}
	fields[path] = fmt.Sprint(value.Elem().Interface())
}

// difference tells in which way the two outcomes differ; empty when they agree.
func difference(document []byte, ours *outcome) string {
	theirs, err := judge(document)
	if errors.Is(err, errDuplicate) {
		// Of a repeated field the program reads the first value and Go all of them: only the refusal is compared.
		if ours.accepted() {
			return "Go refuses a duplicate field"
		}
		return ""
	}
	if err != nil {
		return err.Error()
	}
	if !theirs.known && !theirs.failed {
		return "" // the program may take it or refuse its names
	}
	if theirs.failed != ours.failed {
		// A repeated field whose later value is of a wrong type: refused by both, for one or the other reason.
		if theirs.failed && len(ours.strict) > 0 && duplicates(document) {
			return ""
		}
		return fmt.Sprintf("failed: ours %v (%s), Go %v (%s)", ours.failed, ours.why, theirs.failed, theirs.why)
	}
	if ours.failed {
		return ""
	}
	if len(ours.strict) < 60 && !reflect.DeepEqual(ours.strict, theirs.strict) {
		return fmt.Sprintf("strict errors: ours %v, Go %v", ours.strict, theirs.strict)
	}
	if !ours.known {
		return "not known as a kind"
	}
	return differentField(ours.fields, theirs.fields)
}

func differentField(ours, theirs map[string]string) string {
	if strings.HasSuffix(theirs["apiVersion"], "v1beta1") && theirs["kind"] != "DeviceClass" {
		return "" // another form, converted by the program
	}
	for path, value := range theirs {
		if mine, found := ours[path]; !found || (mine != value && mine != "?") {
			return fmt.Sprintf("%s: ours %q (%v), Go %q", path, mine, found, value)
		}
	}
	for path, value := range ours {
		if _, found := theirs[path]; !found {
			return fmt.Sprintf("%s: ours %q, Go nothing", path, value)
		}
	}
	return ""
}

// jsonSeeds are the objects that mutations start from.
func jsonSeeds(t *testing.T) [][]byte {
	t.Helper()
	var seeds [][]byte
	files, _ := filepath.Glob("../../unit/fuzz/corpus/fuzz_decode/*")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil || len(data) < 2 {
			t.Fatalf("%s: %v", file, err)
		}
		seeds = append(seeds, data[1:]) // behind the byte for the minor
	}
	corpus := os.Getenv("DRAWBRIDGE_CORPUS")
	if corpus == "" {
		corpus = "../../../shared/corpus"
	}
	if lines, err := os.ReadFile(filepath.Join(corpus, "schema.jsonl")); err == nil {
		for _, line := range strings.Split(strings.TrimSpace(string(lines)), "\n") {
			var record struct{ Object json.RawMessage }
			if err := json.Unmarshal([]byte(line), &record); err != nil {
				t.Fatal(err)
			}
			seeds = append(seeds, record.Object)
		}
	}
	if len(seeds) == 0 {
		t.Fatal("no objects to start from")
	}
	return seeds
}

// tokens gives where the strings, numbers and words of a document begin and end.
func tokens(text string) [][2]int {
	var found [][2]int
	for at := 0; at < len(text); {
		begin := at
		switch c := text[at]; {
		case c == '"':
			for at++; at < len(text) && text[at] != '"'; at++ {
				if text[at] == '\\' {
					at++
				}
			}
			at = min(at+1, len(text))
		case strings.IndexByte("-0123456789", c) >= 0:
			for at < len(text) && strings.IndexByte("+-.eE0123456789", text[at]) >= 0 {
				at++
			}
		case c >= 'a' && c <= 'z':
			for at < len(text) && text[at] >= 'a' && text[at] <= 'z' {
				at++
			}
		default:
			at++
			continue
		}
		found = append(found, [2]int{begin, at})
	}
	return found
}

// members gives where keys with a value that is one token begin and end.
func members(text string) [][2]int {
	var found [][2]int
	all := tokens(text)
	for i := 1; i < len(all); i++ {
		if all[i][0] == all[i-1][1]+1 && text[all[i-1][1]] == ':' {
			found = append(found, [2]int{all[i-1][0], all[i][1]})
		}
	}
	return found
}

var (
	pool = []string{`0`, `-0`, `1`, `1.0`, `1e3`, `1E-2`, `-5`, `9223372036854775807`, `9223372036854775808`,
		`-9223372036854775809`, `1e999`, `0.1`, `01`, `+1`, `.5`, `1.`, `true`, `false`, `null`, `[]`, `{}`, `[null]`,
		`{"value":null}`, `""`, `" "`, `"1"`, `" 1Gi"`, `"1Gi "`, "\"\u00a01\u2003\"", `"1e3"`, `"100m"`, `"1.5Gi"`, `"x"`,
		`"\u0031"`, `"\u0000"`, `"\ud800"`, `"\ud83d\ude00"`, `"\u00e9"`, "\"\xff\"", "\"\xc3\xa9\"", "\"\xed\xa0\x80\"",
		`"\n"`, "\"\x01\"", "\"\t\"", `"\x"`, `"\'"`, `"\/"`, `"2025-01-02T03:04:05Z"`, `"2025-01-02T3:04:05,5+24:60"`,
		`"2025-02-30T00:00:00Z"`, `"name"`, `"Name"`, `"bogus"`, `"requests"`, `"capacityKey"`, `"kind"`, `"spec"`}
)

// mutateObject changes a document at one place: a token, a member, or a byte.
func mutateObject(random *rand.Rand, document []byte) []byte {
	text := string(document)
	replace := func(place [2]int, instead string) string { return text[:place[0]] + instead + text[place[1]:] }
	switch choice := random.Intn(10); {
	case choice < 5:
		places := tokens(text)
		if len(places) == 0 {
			return document
		}
		place := places[random.Intn(len(places))]
		return []byte(replace(place, pool[random.Intn(len(pool))]))
	case choice < 6:
		places := members(text)
		if len(places) == 0 {
			return document
		}
		place := places[random.Intn(len(places))]
		repeated := text[place[0]:place[1]] + "," + text[place[0]:place[1]]
		return []byte(replace(place, repeated))
	case choice < 7:
		places := tokens(text)
		if len(places) == 0 {
			return document
		}
		place := places[random.Intn(len(places))]
		word := text[place[0]:place[1]]
		if at := 1 + random.Intn(len(word)); at < len(word)-1 && word[0] == '"' {
			return []byte(replace(place, word[:at]+fmt.Sprintf(`\u%04x`, word[at])+word[at+1:]))
		}
		return []byte(replace(place, " "+word+"\n"))
	case choice < 8 && len(document) > 0:
		at := random.Intn(len(document))
		return append(append([]byte{}, document[:at]...), document[at+1:]...)
	case choice < 9 && len(document) > 0:
		changed := append([]byte{}, document...)
		changed[random.Intn(len(changed))] = byte(random.Intn(256))
		return changed
	default:
		bytes := "{}[]\",:\\ 0nte-.\x00\xff"
		at := random.Intn(len(document) + 1)
		return []byte(text[:at] + string(bytes[random.Intn(len(bytes))]) + text[at:])
	}
}

func TestDecoderAgreesWithTheServersDecoder(t *testing.T) {
	program := startDecoder(t)
	seeds := jsonSeeds(t)
	start := *jsonSeed
	if start == 0 {
		start = time.Now().UnixNano()
	}
	t.Logf("seed %d", start)
	random := rand.New(rand.NewSource(start))
	differences, accepted, failed := 0, 0, 0
	compare := func(document []byte) {
		ours := program.ask(t, document)
		if found := difference(document, ours); found != "" {
			if differences++; differences <= 10 {
				t.Errorf("%s\n%q", found, document)
			}
		}
		if ours.accepted() {
			accepted++
		}
		if ours.failed {
			failed++
		}
	}
	for _, seed := range seeds {
		compare(seed)
	}
	for range *jsonCases {
		document := seeds[random.Intn(len(seeds))]
		for range 1 + random.Intn(3) {
			document = mutateObject(random, document)
		}
		compare(document)
	}
	t.Logf("%d accepted, %d failed, %d differences", accepted, failed, differences)
	if accepted < *jsonCases/50 || failed < *jsonCases/50 {
		t.Error("the mutations are too tame or too wild to tell anything")
	}
}

func TestEveryFieldOfTheGoTypesIsFlattened(t *testing.T) {
	fields := map[string]string{}
	flatten("", reflect.ValueOf(resourcev1.ResourceSlice{}), fields)
	slice := resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Driver: "d",
		Devices: []resourcev1.Device{{Name: "n", Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
			"c": {Value: resource.MustParse("2")}}}}}}
	flatten("", reflect.ValueOf(slice), fields)
	var lines []string
	for path, value := range fields {
		lines = append(lines, path+"="+value)
	}
	sort.Strings(lines)
	want := "spec.devices.#=1 spec.devices[0].capacity.#=1 spec.devices[0].capacity[c].value=2 " +
		"spec.devices[0].name=n spec.driver=d"
	if got := strings.Join(lines, " "); got != want {
		t.Errorf("got %s", got)
	}
}
