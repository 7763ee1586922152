// SPDX-License-Identifier: Apache-2.0

// Command compare holds `drawbridge check` against recorded verdicts of real API
// servers. It needs no server.
//
//	DRAWBRIDGE=… go run ./differential/cmd/compare [-kubernetes-version 1.36,1.37] [-show 10] CORPUS...
//
// Exit code 1 when some verdict differs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"drawbridge.dev/e2e/differential/drawbridge"
	"drawbridge.dev/e2e/differential/verdict"
)

var (
	minors = flag.String("kubernetes-version", "1.36,1.37", "minors to compare, separated by commas")
	show   = flag.Int("show", 10, "how many differences to print of each corpus and minor")
)

func main() {
	flag.Parse()
	same, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	}
	if !same {
		os.Exit(1)
	}
}

func run() (same bool, err error) {
	program, err := drawbridge.Program()
	if err != nil {
		return false, err
	}
	same = true
	for _, file := range flag.Args() {
		lines, err := verdict.ReadCorpus(file)
		if err != nil {
			return false, err
		}
		for minor := range strings.SplitSeq(*minors, ",") {
			if !slices.ContainsFunc(lines, func(l verdict.Line) bool { _, ok := l.Verdict[minor]; return ok && l.OldObject == nil }) {
				continue
			}
			summary, err := compare(program, minor, lines)
			if err != nil {
				return false, fmt.Errorf("%s: %w", file, err)
			}
			for i, d := range summary.Differences {
				same = false
				if i < *show {
					fmt.Printf("--- %s\n%s\n", minor, d)
				}
			}
			fmt.Printf("%s %s: %s\n", file, minor, summary)
		}
	}
	return same, nil
}

// compare judges the lines that have a verdict of this minor. Updates are left
// out: `drawbridge check` judges objects as new ones.
func compare(program, minor string, lines []verdict.Line) (verdict.Summary, error) {
	var ids []string
	var objects [][]byte
	var server []verdict.Verdict
	for _, line := range lines {
		if v, ok := line.Verdict[minor]; ok && line.OldObject == nil {
			ids = append(ids, line.ID)
			objects = append(objects, line.Object)
			server = append(server, v)
		}
	}
	ours, err := drawbridge.JudgeAll(context.Background(), program, minor, objects)
	if err != nil {
		return verdict.Summary{}, err
	}
	return verdict.Compare(ids, objects, server, ours), nil
}
