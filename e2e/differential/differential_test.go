// SPDX-License-Identifier: Apache-2.0

// Package differential holds drawbridge's verdicts against those of real API
// servers.
//
//	DRAWBRIDGE=… go test ./differential -count=1 [-seed N] [-objects N] [-minors 1.36,1.37]
package differential

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"drawbridge.dev/e2e/differential/drawbridge"
	"drawbridge.dev/e2e/differential/generate"
	"drawbridge.dev/e2e/differential/kube"
	"drawbridge.dev/e2e/differential/verdict"
)

var (
	seed   = flag.Uint64("seed", seedFromEnv(), "seed of the fresh objects; 0 takes one from the clock")
	count  = flag.Int("objects", 2400, "fresh objects of each minor")
	minors = flag.String("minors", "1.36,1.37", "minors to test, separated by commas")
)

// How many differences are printed; all are counted.
const printed = 15

func seedFromEnv() uint64 {
	n, err := strconv.ParseUint(os.Getenv("DRAWBRIDGE_SEED"), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// eachMinor runs the test against a live server of each minor.
func eachMinor(t *testing.T, test func(t *testing.T, server *kube.Server)) {
	for minor := range strings.SplitSeq(*minors, ",") {
		t.Run(minor, func(t *testing.T) {
			server, stop, err := kube.Connect(minor)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			test(t, server)
		})
	}
}

func program(t *testing.T) string {
	path, err := drawbridge.Program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// corpus reads schema.jsonl of the folder shared with the repository, else the
// copy in the repository.
func corpus(t *testing.T) []verdict.Line {
	shared := os.Getenv("DRAWBRIDGE_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
		if _, err := os.Stat(filepath.Join(shared, "corpus", "schema.jsonl")); err != nil {
			shared = filepath.Join("..", "..", "unit", "testdata")
		}
	}
	lines, err := verdict.ReadCorpus(filepath.Join(shared, "corpus", "schema.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func recorded(lines []verdict.Line, minor string) (ids []string, objects [][]byte, verdicts []verdict.Verdict) {
	for _, line := range lines {
		ids = append(ids, line.ID)
		objects = append(objects, line.Object)
		verdicts = append(verdicts, line.Verdict[minor])
	}
	return ids, objects, verdicts
}

// TestCorpusHolds: the live server still says what was recorded.
func TestCorpusHolds(t *testing.T) {
	lines := corpus(t)
	eachMinor(t, func(t *testing.T, server *kube.Server) {
		ids, objects, want := recorded(lines, server.Minor)
		have, err := server.JudgeAll(t.Context(), objects)
		if err != nil {
			t.Fatal(err)
		}
		for i := range ids {
			if want[i].Allowed != have[i].Allowed || want[i].Code != have[i].Code || !slices.Equal(want[i].Set(), have[i].Set()) {
				t.Errorf("%s: recorded %v %d %q, live %v %d %q\n%s", ids[i], want[i].Allowed, want[i].Code, want[i].Set(),
					have[i].Allowed, have[i].Code, have[i].Set(), have[i].Message)
			}
		}
		t.Logf("%d verdicts hold", len(ids))
	})
}

// TestCorpus: drawbridge says of each object what was recorded.
func TestCorpus(t *testing.T) {
	path := program(t)
	lines := corpus(t)
	for minor := range strings.SplitSeq(*minors, ",") {
		t.Run(minor, func(t *testing.T) {
			ids, objects, want := recorded(lines, minor)
			have, err := drawbridge.JudgeAll(t.Context(), path, minor, objects)
			if err != nil {
				t.Fatal(err)
			}
			report(t, verdict.Compare(ids, objects, want, have), len(ids))
		})
	}
}

// TestFresh: drawbridge and the live server agree on objects never seen before.
func TestFresh(t *testing.T) {
	path := program(t)
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d: repeat with -seed %d", *seed, *seed)
	eachMinor(t, func(t *testing.T, server *kube.Server) {
		ids, objects := fresh(server.Minor)
		want, err := server.JudgeAll(t.Context(), objects)
		if err != nil {
			t.Fatal(err)
		}
		have, err := drawbridge.JudgeAll(t.Context(), path, server.Minor, objects)
		if err != nil {
			t.Fatal(err)
		}
		report(t, verdict.Compare(ids, objects, want, have), len(ids))
	})
}

// fresh makes objects of each kind and API version; half of them are slices.
func fresh(minor string) (ids []string, objects [][]byte) {
	g := generate.New(*seed, minor)
	kinds := append([]string{"ResourceSlice", "ResourceSlice"}, generate.Kinds...)
	for i := range *count {
		kind := kinds[i%len(kinds)]
		version := generate.Versions[i/len(kinds)%len(generate.Versions)]
		ids = append(ids, fmt.Sprintf("%s %s %s seed %d object %d", minor, kind, version, *seed, i))
		objects = append(objects, g.NextText(kind, version))
	}
	return ids, objects
}

// TestMalformed: what is no JSON passes neither.
func TestMalformed(t *testing.T) {
	path := program(t)
	eachMinor(t, func(t *testing.T, server *kube.Server) {
		g := generate.New(1, server.Minor)
		var objects [][]byte
		for i := range 400 {
			objects = append(objects, g.Malformed(generate.Kinds[i%len(generate.Kinds)], "v1"))
		}
		want, err := server.JudgeAll(t.Context(), objects)
		if err != nil {
			t.Fatal(err)
		}
		have, err := drawbridge.JudgeAll(t.Context(), path, server.Minor, objects)
		if err != nil {
			t.Fatal(err)
		}
		for i := range objects {
			if want[i].Allowed || have[i].Allowed {
				t.Errorf("allowed: server %v, ours %v: %.2000q", want[i].Allowed, have[i].Allowed, objects[i])
			}
		}
	})
}

func report(t *testing.T, s verdict.Summary, total int) {
	for i, d := range s.Differences {
		if i == printed {
			t.Errorf("and %d more differences", len(s.Differences)-printed)
			break
		}
		t.Error(d)
	}
	t.Log(s)
	// A comparison of few objects would pass whatever drawbridge says.
	if s.Compared < total*9/10 {
		t.Errorf("only %d of %d objects could be compared", s.Compared, total)
	}
}
