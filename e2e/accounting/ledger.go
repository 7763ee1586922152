// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sort"

	corev1 "k8s.io/api/core/v1"
)

// ledger is what `drawbridge ledger show -o json` prints, as far as it is compared.
type ledger struct {
	Nodes []struct {
		Name   string   `json:"name"`
		State  string   `json:"state"`
		Causes []string `json:"causes"`
		Totals map[string]struct {
			Ordinary string `json:"ordinary"`
			DRA      string `json:"dra"`
		} `json:"totals"`
		NUMA []struct {
			ID  *int              `json:"id"`
			DRA map[string]string `json:"dra"`
		} `json:"numa"`
		Divergence []struct {
			Pod      string            `json:"pod"`
			Claim    string            `json:"claim"`
			Class    string            `json:"class"`
			Expected map[string]string `json:"expected"`
			Reported map[string]string `json:"reported"`
		} `json:"divergence"`
	} `json:"nodes"`
	Rejections []json.RawMessage `json:"rejections"`
}

// showLedger asks the running server through its socket.
func showLedger(program, folder string) (*ledger, error) {
	var stderr bytes.Buffer
	command := exec.Command(program, "ledger", "show", "--ledger-dir", folder, "-o", "json")
	command.Stderr = &stderr
	out, err := command.Output()
	// 1 says that something diverges, which is compared here.
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
		return nil, fmt.Errorf("%v: %w: %s", command.Args, err, stderr.String())
	}
	shown := &ledger{}
	return shown, json.Unmarshal(out, shown)
}

// compare returns what differs between the ledger and what is expected.
func (l *ledger) compare(want *expectation) ([]string, error) {
	var differences []string
	differ := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }
	var found []divergence
	for _, node := range l.Nodes {
		account := want.accounts[node.Name]
		if account == nil {
			differ("node %s should not be there", node.Name)
			continue
		}
		dra, ordinary := map[string]string{}, map[string]string{}
		for name, total := range node.Totals {
			dra[name], ordinary[name] = total.DRA, total.Ordinary
		}
		delete(ordinary, string(corev1.ResourcePods)) // a count of Pods, which PodRequests does not give
		numa := map[string]map[string]string{}
		for _, part := range node.NUMA {
			id := "none"
			if part.ID != nil {
				id = fmt.Sprint(*part.ID)
			}
			numa[id] = part.DRA
		}
		for what, pair := range map[string]struct {
			have map[string]string
			want corev1.ResourceList
		}{
			"dra": {dra, account.dra}, "ordinary": {ordinary, account.ordinary}, "NUMA 0": {numa["0"], account.numa["0"]},
			"NUMA 1": {numa["1"], account.numa["1"]}, "no NUMA": {numa["none"], account.numa["none"]},
		} {
			have, err := parse(pair.have)
			if err != nil {
				return nil, err
			}
			if text(have) != text(pair.want) {
				differ("node %s, %s: the ledger has %q, it should be %q", node.Name, what, text(have), text(pair.want))
			}
		}
		for _, d := range node.Divergence {
			expected, err := parse(d.Expected)
			if err != nil {
				return nil, err
			}
			reported, err := parse(d.Reported)
			if err != nil {
				return nil, err
			}
			found = append(found, divergence{Pod: d.Pod, Claim: d.Claim, Class: d.Class, Expected: text(expected), Reported: text(reported)})
		}
	}
	sort.Slice(found, func(i, k int) bool { return fmt.Sprint(found[i]) < fmt.Sprint(found[k]) })
	if have, expected := fmt.Sprintf("%+v", found), fmt.Sprintf("%+v", want.divergences); have != expected {
		differ("divergences: the ledger has %s, it should be %s", have, expected)
	}
	if len(l.Nodes) != len(want.accounts) {
		differ("the ledger has %d nodes of %d", len(l.Nodes), len(want.accounts))
	}
	for _, rejection := range l.Rejections {
		differ("the ledger rejected something: %s", rejection)
	}
	return differences, nil
}

// denials reads from the server's log what it denied, but for the probe that shows that a denial is seen.
func denials(log string) ([]string, error) {
	file, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var denied []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var line struct {
			Decision  string `json:"decision"`
			Operation string `json:"operation"`
			Resource  string `json:"resource"`
			Rules     string `json:"rules"`
			Object    struct {
				Namespace string `json:"namespace"`
				Name      string `json:"name"`
			} `json:"object"`
		}
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Decision == "denied" && line.Object.Name != "probe" {
			denied = append(denied, fmt.Sprintf("%s of %s %s/%s by %s", line.Operation, line.Resource, line.Object.Namespace, line.Object.Name, line.Rules))
		}
	}
	return denied, lines.Err()
}
