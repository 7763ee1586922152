// SPDX-License-Identifier: Apache-2.0

// Package drawbridge asks the program drawbridge what it makes of objects.
package drawbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"drawbridge.dev/e2e/differential/verdict"
)

// Program returns the program to test: the environment variable DRAWBRIDGE.
func Program() (string, error) {
	program := os.Getenv("DRAWBRIDGE")
	if program == "" {
		return "", errors.New("set DRAWBRIDGE to the program drawbridge")
	}
	return exec.LookPath(program)
}

// report is what `drawbridge check -o json` prints, as far as it is used here.
type report struct {
	Results []struct {
		File     string `json:"file"`
		Allowed  bool   `json:"allowed"`
		Skipped  string `json:"skipped"`
		Error    string `json:"error"`
		Findings []struct {
			Rule     string `json:"rule"`
			Severity string `json:"severity"`
			Reason   string `json:"reason"`
			Field    string `json:"field"`
			Message  string `json:"message"`
		} `json:"findings"`
	} `json:"results"`
}

// JudgeAll judges all objects in one run of the program. Only findings of the
// rule `schema` count: the others go beyond what an API server checks.
func JudgeAll(ctx context.Context, program, minor string, objects [][]byte) ([]verdict.Verdict, error) {
	folder, err := os.MkdirTemp("", "differential")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	for i, object := range objects {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%08d.json", i)), object, 0o600); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "check", "-o", "json", "--kubernetes-version", minor, folder)
	var out, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errors
	runErr := cmd.Run()
	// Exit codes tell what was found (1) or could not be read (3): so do the results.
	var r report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return nil, fmt.Errorf("drawbridge check: %w; %v; %.2000s", err, runErr, errors.String())
	}
	return r.verdicts(len(objects))
}

func (r report) verdicts(count int) ([]verdict.Verdict, error) {
	verdicts := make([]verdict.Verdict, count)
	seen := make([]bool, count)
	for i := range verdicts {
		verdicts[i].Allowed = true
	}
	for _, result := range r.Results {
		i, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(result.File), ".json"))
		if err != nil || i < 0 || i >= count {
			return nil, fmt.Errorf("unexpected result for file %q", result.File)
		}
		seen[i] = true
		if result.Skipped != "" {
			return nil, fmt.Errorf("%s was skipped: %s", result.File, result.Skipped)
		}
		// What follows the object in its file is a document of its own.
		v := &verdicts[i]
		if result.Error != "" {
			v.Allowed, v.Message = false, result.Error
		}
		for _, f := range result.Findings {
			if f.Rule != "schema" {
				continue
			}
			if f.Severity == "deny" {
				v.Allowed = false
			}
			v.Causes = append(v.Causes, verdict.Cause{Field: f.Field, Reason: f.Reason, Message: f.Message})
		}
	}
	for i := range seen {
		if !seen[i] {
			return nil, fmt.Errorf("no result for object %d of %d", i, count)
		}
	}
	return verdicts, nil
}
