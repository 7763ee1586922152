// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
)

const gate = "drawbridge.dev/ledger"

// A freeze of the cluster: no node would be fresh for a Pod with guarded claims.
const frozen = `apiVersion: drawbridge.dev/v1alpha1
kind: LedgerPolicy
metadata: {name: default, uid: 00000000-0000-4000-8000-0000000000f1}
spec:
  freezes: [{cluster: true, reason: test, at: "2026-01-01T00:00:00Z", expires: "2999-01-01T00:00:00Z"}]
`

type webhook struct {
	url    string
	client *http.Client
}

func run(t *testing.T, name string, arguments ...string) {
	t.Helper()
	if out, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, arguments, err, out)
	}
}

// startWebhook serves the sample cluster, frozen.
func startWebhook(t *testing.T) webhook {
	t.Helper()
	program := os.Getenv("DRAWBRIDGE")
	if program == "" {
		t.Fatal("set DRAWBRIDGE to the program drawbridge")
	}
	dir := t.TempDir()
	cluster := filepath.Join(dir, "cluster")
	if err := os.CopyFS(cluster, os.DirFS("../../server/sample/cluster")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cluster, "policy.yaml"), []byte(frozen), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, program, "certs", "issue", "--dir", dir, "--host", "localhost")
	command := exec.Command(program, "serve", "--bind-address", "127.0.0.1", "--port", "0",
		"--status-bind-address", "127.0.0.1:0", "--tls-cert-file", filepath.Join(dir, "tls.crt"),
		"--tls-private-key-file", filepath.Join(dir, "tls.key"), "--shutdown-delay", "0s", "--logging-format", "json",
		"--feed", "dir:"+cluster, "--kubernetes-version", "1.36")
	log, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		if err := command.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	address, status := addresses(t, bufio.NewScanner(log))
	go func() { _, _ = io.Copy(io.Discard, log) }()
	waitReady(t, "http://"+status+"/readyz")
	authority, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost"}}
	return webhook{"https://" + address + "/mutate", &http.Client{Transport: transport, Timeout: 20 * time.Second}}
}

func addresses(t *testing.T, log *bufio.Scanner) (address, status string) {
	t.Helper()
	for log.Scan() {
		var line struct{ Msg, Address, Status string }
		if json.Unmarshal(log.Bytes(), &line) != nil || line.Msg != "Serving" {
			continue
		}
		if line.Address != "" {
			address = line.Address
		}
		if line.Status != "" {
			status = line.Status
		}
		if address != "" && status != "" {
			return address, status
		}
	}
	t.Fatal("the server does not serve")
	return "", ""
}

func waitReady(t *testing.T, url string) {
	t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if answer, err := http.Get(url); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-deadline:
			t.Fatal("the server does not become ready")
		case <-tick.C:
		}
	}
}

// mutate asks as an API server does and returns the answer; the Pod goes as its bytes are.
func (w webhook) mutate(t *testing.T, pod []byte) *admissionv1.AdmissionResponse {
	t.Helper()
	body := fmt.Sprintf(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",`+
		`"kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},`+
		`"requestKind":{"group":"","version":"v1","kind":"Pod"},`+
		`"requestResource":{"group":"","version":"v1","resource":"pods"},"name":"p","namespace":"training",`+
		`"operation":"CREATE","userInfo":{"username":"someone"},"object":%s,"oldObject":null,"dryRun":false,`+
		`"options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1"}}}`, pod)
	answer, err := w.client.Post(w.url, "application/json", bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(answer.Body).Decode(&review); err != nil {
		t.Fatal(err)
	}
	if review.Response == nil || !review.Response.Allowed || review.Response.UID != "u" {
		t.Fatalf("answer %+v to %s", review.Response, pod)
	}
	if (review.Response.Patch == nil) != (review.Response.PatchType == nil) {
		t.Fatalf("patch and patchType do not come together: %+v", review.Response)
	}
	return review.Response
}

// apply does what the API server does with an answer. A nil Pod: there was no patch.
func apply(t *testing.T, answer *admissionv1.AdmissionResponse, pod []byte) []byte {
	t.Helper()
	if len(answer.Patch) == 0 {
		return nil
	}
	if *answer.PatchType != admissionv1.PatchTypeJSONPatch {
		t.Fatalf("patchType %s", *answer.PatchType)
	}
	patch, err := jsonpatch.DecodePatch(answer.Patch)
	if err != nil {
		t.Fatalf("%v: %s", err, answer.Patch)
	}
	patched, err := patch.Apply(pod)
	if err != nil {
		t.Fatalf("%v: %s does not apply to %s", err, answer.Patch, pod)
	}
	return patched
}

func read(t *testing.T, pod []byte) (whole map[string]any, typed corev1.Pod) {
	t.Helper()
	if err := json.Unmarshal(pod, &whole); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(pod, &typed); err != nil {
		t.Fatal(err)
	}
	return whole, typed
}

func gatesOf(pod corev1.Pod) []string {
	names := []string{}
	for _, gate := range pod.Spec.SchedulingGates {
		names = append(names, gate.Name)
	}
	return names
}

// corpusPods are the specs of the corpus, each as a new Pod that uses a guarded claim.
func corpusPods(t *testing.T) []map[string]any {
	t.Helper()
	file := "../../../shared/corpus/pod-requests.jsonl"
	if _, err := os.Stat(file); err != nil {
		file = "../../unit/testdata/corpus/pod-requests.jsonl"
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var pods []map[string]any
	for line := range bytes.Lines(text) {
		var entry struct {
			Pod struct{ Spec map[string]any }
		}
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatal(err)
		}
		entry.Pod.Spec["resourceClaims"] = []any{map[string]any{"name": "c", "resourceClaimName": "trainer-0-cpus"}}
		pods = append(pods, map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": entry.Pod.Spec,
			"metadata": map[string]any{"name": "p", "namespace": "training"}})
	}
	if len(pods) < 100 {
		t.Fatalf("%d Pods in the corpus", len(pods))
	}
	return pods
}

// The only patch adds our gate and nothing else, whatever list was there; what comes out needs no patch.
func TestMutatePatchAppliesAsInTheAPIServer(t *testing.T) {
	webhook := startWebhook(t)
	named := func(names ...string) []any {
		list := []any{}
		for _, name := range names {
			list = append(list, map[string]any{"name": name})
		}
		return list
	}
	cases := []struct {
		name string
		set  func(spec map[string]any)
		want []string // nil: no patch
	}{
		{"no list", func(spec map[string]any) { delete(spec, "schedulingGates") }, []string{gate}},
		{"null", func(spec map[string]any) { spec["schedulingGates"] = nil }, []string{gate}},
		{"empty", func(spec map[string]any) { spec["schedulingGates"] = named() }, []string{gate}},
		{"another", func(spec map[string]any) { spec["schedulingGates"] = named("example.com/other") },
			[]string{"example.com/other", gate}},
		{"two others", func(spec map[string]any) { spec["schedulingGates"] = named("a", "b") }, []string{"a", "b", gate}},
		{"ours", func(spec map[string]any) { spec["schedulingGates"] = named(gate) }, nil},
		{"ours and another", func(spec map[string]any) { spec["schedulingGates"] = named(gate, "a") }, nil},
	}
	for number, pod := range corpusPods(t) {
		for _, c := range cases {
			spec := pod["spec"].(map[string]any)
			c.set(spec)
			before, err := json.Marshal(pod)
			if err != nil {
				t.Fatal(err)
			}
			after := apply(t, webhook.mutate(t, before), before)
			if (after == nil) != (c.want == nil) {
				t.Fatalf("Pod %d, %s: patched %v", number, c.name, after != nil)
			}
			if after == nil {
				continue
			}
			whole, typed := read(t, after)
			if got := gatesOf(typed); !reflect.DeepEqual(got, c.want) {
				t.Fatalf("Pod %d, %s: gates %q", number, c.name, got)
			}
			original, _ := read(t, before)
			delete(whole["spec"].(map[string]any), "schedulingGates")
			delete(original["spec"].(map[string]any), "schedulingGates")
			if !reflect.DeepEqual(whole, original) {
				t.Fatalf("Pod %d, %s: something else has changed: %s", number, c.name, after)
			}
			if again := apply(t, webhook.mutate(t, after), after); again != nil {
				t.Fatalf("Pod %d, %s: a second run patches again: %s", number, c.name, again)
			}
		}
	}
}

// A Pod without claims, and one with claims that nobody guards, get no patch.
func TestMutateLeavesOtherPodsAlone(t *testing.T) {
	webhook := startWebhook(t)
	for _, claims := range []string{`[]`, `[{"name":"c","resourceClaimName":"unknown"}]`} {
		pod := []byte(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"training"},` +
			`"spec":{"containers":[{"name":"m"}],"resourceClaims":` + claims + `}}`)
		if patched := apply(t, webhook.mutate(t, pod), pod); patched != nil {
			t.Fatalf("patched: %s", patched)
		}
	}
}
