// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"fmt"
	"strings"
)

// Summary counts what a comparison met.
type Summary struct {
	Compared    int // objects whose verdicts were compared
	Skipped     int // refused by the server for CEL expressions alone
	NoVerdict   int // the server failed inside
	Differences []Difference
}

// Difference is one object on which two judges do not agree.
type Difference struct {
	ID      string
	Object  []byte
	How     string
	Message string // what the server said
}

func (d Difference) String() string {
	const most = 3000
	return fmt.Sprintf("%s\n%s\nserver said: %s\nobject: %s", d.ID, d.How, cut(d.Message, most), cut(string(d.Object), most))
}

func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Compare holds our verdicts against the server's.
func Compare(ids []string, objects [][]byte, server, ours []Verdict) Summary {
	var s Summary
	for i := range objects {
		switch {
		case server[i].None():
			s.NoVerdict++
			continue
		case server[i].OnlyCEL():
			s.Skipped++
			continue
		}
		s.Compared++
		if how := Differ(server[i], ours[i]); how != "" {
			s.Differences = append(s.Differences, Difference{ids[i], objects[i], how, server[i].Message})
		}
	}
	return s
}

func (s Summary) String() string {
	return fmt.Sprintf("%d compared, %d differ; %d skipped (CEL alone), %d without a verdict of the server",
		s.Compared, len(s.Differences), s.Skipped, s.NoVerdict)
}
