// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

func refused(code int, causes ...Cause) Verdict {
	return Verdict{Code: code, Causes: causes}
}

func TestDiffer(t *testing.T) {
	name, spec := Cause{Field: "metadata.name", Reason: "FieldValueInvalid"}, Cause{Field: "spec", Reason: "FieldValueRequired"}
	cel := Cause{Field: "spec.selectors[0].cel.expression", Reason: "FieldValueInvalid", Message: "compilation failed: x"}
	allowed := Verdict{Allowed: true}
	for _, c := range []struct {
		name         string
		server, ours Verdict
		same         bool
	}{
		{"both allow", allowed, allowed, true},
		{"we deny more", allowed, refused(0, name), false},
		{"we allow more", refused(422, name), allowed, false},
		{"order does not count", refused(422, name, spec), refused(0, spec, name), true},
		{"repeats do not count", refused(422, name, name), refused(0, name), true},
		{"a cause is missing", refused(422, name, spec), refused(0, name), false},
		{"a cause too many", refused(422, name), refused(0, name, spec), false},
		{"another reason", refused(422, name), refused(0, Cause{Field: name.Field, Reason: "FieldValueTooLong"}), false},
		{"causes of decoding do not count", refused(400), refused(0, name), true},
		{"decoding: still not allowed", refused(400), allowed, false},
		{"CEL may be refused by us too", refused(422, name, cel), refused(0, name, Cause{Field: cel.Field, Reason: cel.Reason}), true},
		{"CEL that the server takes", refused(422, name), refused(0, name, Cause{Field: cel.Field, Reason: cel.Reason}), false},
		{"CEL is left out", refused(422, name, cel), refused(0, name), true},
	} {
		if how := Differ(c.server, c.ours); (how == "") != c.same {
			t.Errorf("%s: %q", c.name, how)
		}
	}
}

func TestCompareSkips(t *testing.T) {
	cel := refused(422, Cause{Field: "spec.selectors[0].cel.expression", Reason: "FieldValueInvalid"})
	cel.Message = "compilation failed: x"
	s := Compare([]string{"a", "b", "c", "d"}, make([][]byte, 4),
		[]Verdict{cel, {Code: 500}, {Allowed: true}, {Allowed: true}},
		[]Verdict{{Allowed: true}, {Allowed: true}, {Allowed: true}, {}})
	if s.Skipped != 1 || s.NoVerdict != 1 || s.Compared != 2 || len(s.Differences) != 1 || s.Differences[0].ID != "d" {
		t.Errorf("%s: %+v", s, s.Differences)
	}
}

// An object keeps its duplicate keys and its spelling of numbers.
func TestCorpusKeepsBytes(t *testing.T) {
	object := `{"a":1,"a":1.0,"b":"<\ud800>","c":1e2}`
	var text bytes.Buffer
	err := WriteCorpus(&text, []Line{{ID: "x", Object: json.RawMessage(object), Verdict: map[string]Verdict{"1.36": {Allowed: true}}}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"x","object":` + object + `,"verdict":{"1.36":{"allowed":true}}}` + "\n"
	if text.String() != want {
		t.Errorf("have %s want %s", text.String(), want)
	}
	file := filepath.Join(t.TempDir(), "corpus.jsonl")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	lines, err := ReadCorpus(file)
	if err != nil || len(lines) != 1 || string(lines[0].Object) != object || !lines[0].Verdict["1.36"].Allowed {
		t.Errorf("read back %v: %+v", err, lines)
	}
}
