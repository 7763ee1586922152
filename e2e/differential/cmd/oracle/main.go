// SPDX-License-Identifier: Apache-2.0

// Command oracle writes a corpus: fresh objects, and what live API servers make
// of them. Others can then work against thousands of verdicts without a server.
//
//	go run ./differential/cmd/oracle -kubernetes-version 1.36,1.37 -n 2000 -seed 1 -out FILE
//
// With more than one version each object is judged by all, and is made in turn
// for one of them.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"drawbridge.dev/e2e/differential/generate"
	"drawbridge.dev/e2e/differential/kube"
	"drawbridge.dev/e2e/differential/tree"
	"drawbridge.dev/e2e/differential/verdict"
)

var (
	minors   = flag.String("kubernetes-version", "1.36,1.37", "minors to ask, separated by commas")
	count    = flag.Int("n", 2000, "number of objects")
	seed     = flag.Uint64("seed", 0, "seed; 0 takes one from the clock")
	out      = flag.String("out", "", "file to write; standard output when empty")
	kinds    = flag.String("kinds", strings.Join(generate.Kinds, ","), "kinds to make")
	versions = flag.String("api-versions", strings.Join(generate.Versions, ","), "API versions to make")
	updates  = flag.Bool("updates", false, "make updates: each line has the stored object too; one minor at a time")
	only     = flag.Bool("valid", false, "make no mistakes")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	fmt.Fprintf(os.Stderr, "oracle: seed %d\n", *seed)

	if *updates {
		lines, err := askUpdates(ctx)
		if err != nil {
			return err
		}
		return write(lines)
	}
	lines := makeLines(strings.Split(*minors, ","))
	objects := make([][]byte, len(lines))
	for i := range lines {
		objects[i] = lines[i].Object
	}
	for minor := range strings.SplitSeq(*minors, ",") {
		if err := ask(ctx, minor, objects, lines); err != nil {
			return fmt.Errorf("%s: %w", minor, err)
		}
	}
	return write(lines)
}

func makeLines(minors []string) []verdict.Line {
	var makers []*generate.Generator
	for i, minor := range minors {
		makers = append(makers, generate.New(*seed+uint64(i)<<32, minor))
	}
	kindList, versionList := strings.Split(*kinds, ","), strings.Split(*versions, ",")
	lines := make([]verdict.Line, *count)
	for i := range lines {
		g := makers[i%len(makers)]
		kind := kindList[i/len(makers)%len(kindList)]
		version := versionList[i/len(makers)/len(kindList)%len(versionList)]
		var object []byte
		if *only {
			object = tree.Encode(g.Valid(kind, version))
		} else {
			// A line feed between tokens would end the corpus line.
			object = bytes.ReplaceAll(g.NextText(kind, version), []byte("\n"), []byte(" "))
		}
		lines[i] = verdict.Line{
			ID:      fmt.Sprintf("%s-%s-%d-%06d", strings.ToLower(kind), version, *seed, i),
			Object:  object,
			Verdict: map[string]verdict.Verdict{},
		}
	}
	return lines
}

func ask(ctx context.Context, minor string, objects [][]byte, lines []verdict.Line) error {
	server, stop, err := kube.Connect(minor)
	if err != nil {
		return err
	}
	defer stop()
	verdicts, err := server.JudgeAll(ctx, objects)
	if err != nil {
		return err
	}
	summary := map[int]int{}
	for i, v := range verdicts {
		summary[v.Code]++
		// A message may hold the whole annotation of 256 KiB.
		const most = 2000
		if len(v.Message) > most {
			v.Message = strings.ToValidUTF8(v.Message[:most], "")
		}
		lines[i].Verdict[minor] = v
	}
	fmt.Fprintf(os.Stderr, "oracle: %s: %d allowed, %d of code 422, %d of code 400, %d others\n", minor, summary[0], summary[422], summary[400],
		len(verdicts)-summary[0]-summary[422]-summary[400])
	return nil
}

// askUpdates creates objects, asks about an update of each, and removes them.
// Objects that the server does not store are left out.
func askUpdates(ctx context.Context) ([]verdict.Line, error) {
	server, stop, err := kube.Connect(*minors)
	if err != nil {
		return nil, err
	}
	defer stop()
	g := generate.New(*seed, *minors)
	kindList, versionList := strings.Split(*kinds, ","), strings.Split(*versions, ",")
	var lines []verdict.Line
	allowed := 0
	for i := range *count {
		kind, version := kindList[i%len(kindList)], versionList[i/len(kindList)%len(versionList)]
		name := fmt.Sprintf("update-%d-%d", *seed, i)
		before, after := g.NextUpdate(kind, version, name)
		update := tree.Encode(after)
		stored, v, err := server.JudgeUpdate(ctx, name, tree.Encode(before), update)
		if err != nil {
			return nil, err
		}
		if stored == nil {
			continue
		}
		if v.Allowed {
			allowed++
		}
		lines = append(lines, verdict.Line{
			ID:        fmt.Sprintf("%s-%s-%s", strings.ToLower(kind), version, name),
			OldObject: stored,
			Object:    update,
			Verdict:   map[string]verdict.Verdict{*minors: v},
		})
	}
	fmt.Fprintf(os.Stderr, "oracle: %s: %d updates, %d allowed\n", *minors, len(lines), allowed)
	return lines, nil
}

func write(lines []verdict.Line) error {
	file := os.Stdout
	if *out != "" {
		var err error
		if file, err = os.Create(*out); err != nil {
			return err
		}
	}
	if err := verdict.WriteCorpus(file, lines); err != nil {
		return err
	}
	return file.Close()
}
