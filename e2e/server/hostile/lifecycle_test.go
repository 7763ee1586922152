// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// mounted lays a pair out as the kubelet mounts a Secret: tls.crt → ..data/tls.crt, ..data → a folder of its own.
func mounted(t *testing.T, mount string, dir string, version int) {
	t.Helper()
	data := filepath.Join(mount, fmt.Sprintf("..version_%d", version))
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tls.crt", "tls.key"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(data, name), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = os.Symlink(filepath.Join("..data", name), filepath.Join(mount, name))
	}
	link := filepath.Join(mount, "..data_tmp")
	if err := os.Symlink(filepath.Base(data), link); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link, filepath.Join(mount, "..data")); err != nil {
		t.Fatal(err)
	}
	_ = os.RemoveAll(filepath.Join(mount, fmt.Sprintf("..version_%d", version-1)))
}

func (s *server) serving(config *tls.Config) string {
	conn, err := tls.Dial("tcp", s.address, config)
	if err != nil {
		s.t.Errorf("handshake: %v", err)
		return ""
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// R30, R31: the pair changes under load, three times, through the kubelet's double links. New handshakes get the
// new pair, established connections live on, no call fails.
func TestLifecycleCertificateSwap(t *testing.T) {
	dir, mount := t.TempDir(), t.TempDir()
	issue(t, dir)
	mounted(t, mount, dir, 0)
	s := startWith(t, dir, filepath.Join(mount, "tls.crt"), filepath.Join(mount, "tls.key"))
	established := s.connect()
	defer established.Close()
	body := goodClaim()
	whole := []byte(httpPost(jsonType+length(len(body)), body))
	var calls atomic.Int64
	stop := make(chan struct{})
	var load sync.WaitGroup
	for worker := range 8 {
		load.Go(func() {
			transport := &http.Transport{TLSClientConfig: s.tls(), DisableKeepAlives: worker%2 == 0}
			client := &http.Client{Transport: transport, Timeout: 20 * time.Second}
			defer transport.CloseIdleConnections()
			for {
				select {
				case <-stop:
					return
				default:
				}
				resp, err := client.Post("https://"+s.address+"/validate", "application/json", strings.NewReader(string(body)))
				if err != nil {
					t.Errorf("a call failed: %v", err)
					return
				}
				resp.Body.Close()
				if resp.StatusCode != 200 {
					t.Errorf("a call got %d", resp.StatusCode)
				}
				calls.Add(1)
			}
		})
	}
	for version := 1; version <= 3; version++ {
		before := s.serving(s.tls())
		issue(t, dir)
		mounted(t, mount, dir, version)
		s.eventually("new pair at new handshakes", 3*time.Second, func() bool { return s.serving(s.tls()) != before })
		if a, err := s.exchange(established, whole, 10*time.Second); err != nil || a.status != 200 {
			t.Errorf("the connection from before: %v %d", err, a.status)
		}
	}
	// A pair that does not match, and half a file: the old pair stays, and the log says so.
	before := s.serving(s.tls())
	other := t.TempDir()
	issue(t, other)
	_ = os.Rename(filepath.Join(dir, "tls.crt"), filepath.Join(other, "tls.crt"))
	mounted(t, mount, other, 4)
	s.eventually("told of the pair that does not match", 5*time.Second, func() bool { return s.logged("Certificate not taken") })
	if s.serving(s.tls()) != before {
		t.Error("a pair that does not match is served")
	}
	close(stop)
	load.Wait()
	if calls.Load() < 100 {
		t.Errorf("only %d calls", calls.Load())
	}
	if n := s.metric(`drawbridge_certificate_rotations_total`); n < 3 {
		t.Errorf("%v rotations counted", n)
	}
	if s.get("/readyz") != 200 {
		t.Error("not ready with a usable pair")
	}
	established.Close()
	s.alive()
}

// R35, G1: SIGTERM under load of keep-alive connections loses no call.
func TestLifecycleTermination(t *testing.T) {
	for round := range 3 {
		t.Run(fmt.Sprint(round), func(t *testing.T) { terminateUnderLoad(t) })
	}
}

func terminateUnderLoad(t *testing.T) {
	s := start(t, "--shutdown-delay", "2s", "--header-deadline", "4s", "--tls-begin-deadline", "4s")
	body := goodClaim()
	var calls, closes atomic.Int64
	var leave atomic.Bool // the endpoint is gone from the load balancer
	var load sync.WaitGroup
	for range 12 {
		load.Go(func() {
			var conn *tls.Conn
			for !leave.Load() {
				if conn == nil {
					var err error
					if conn, err = s.secure(); err != nil {
						t.Errorf("no new connection: %v", err)
						return
					}
				}
				a, err := s.exchange(conn, []byte(httpPost(jsonType+length(len(body)), body)), 20*time.Second)
				if err != nil || a.status != 200 {
					t.Errorf("a call was lost: %v %d", err, a.status)
					return
				}
				calls.Add(1)
				if a.close {
					closes.Add(1)
					conn.Close()
					conn = nil
				}
			}
			if conn != nil {
				conn.Close()
			}
		})
	}
	idle := s.connect()
	defer idle.Close()
	s.eventually("load", 10*time.Second, func() bool { return calls.Load() > 200 })
	terminated := time.Now()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	s.eventually("readyz 503", 2*time.Second, func() bool { return s.get("/readyz") == 503 })
	if s.get("/livez") != 200 {
		t.Error("not alive while draining")
	}
	s.eventually("answers close their connections", 2*time.Second, func() bool { return closes.Load() > 0 })
	time.Sleep(time.Until(terminated.Add(1500 * time.Millisecond)))
	leave.Store(true)
	load.Wait()
	s.ended(15 * time.Second)
	if took := time.Since(terminated); took < 2*time.Second || took > 9*time.Second {
		t.Errorf("it ended after %v", took)
	}
}

// stopped tells the rig's cleanup that the end was wanted.
func (s *server) stopped() bool {
	select {
	case <-s.exited:
		return s.exitErr == nil && s.logged(`"msg":"Ended"`)
	default:
		return false
	}
}

// Settings are read again at SIGHUP and when the file changes; a bad file keeps the old ones.
func TestLifecycleSettings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.yaml")
	write := func(lines string) {
		text := "apiVersion: drawbridge.dev/v1alpha1\nkind: DrawbridgeConfiguration\n" + lines
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	write("requestDeadline: 9s\n")
	s := start(t, "--config", file)
	write("requestDeadline: 8s\nport: 1\n")
	s.eventually("read again", 5*time.Second, func() bool { return s.logged(`"applied":"requestDeadline`) || s.logged("Settings read again") })
	write("requestDeadlin: 8s\n")
	s.eventually("refused", 5*time.Second, func() bool { return s.logged("Settings not taken") })
	s.mustAllow(goodClaim())
	write("requestDeadline: 7s\n")
	_ = s.cmd.Process.Signal(syscall.SIGHUP)
	s.eventually("read once more", 5*time.Second, func() bool { return strings.Count(s.logText(), "Settings read again") >= 2 })
	s.alive()
}

// Without a usable certificate nothing is served, and the server says so until there is one.
func TestLifecycleNoCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	issue(t, dir)
	later := t.TempDir()
	if err := os.WriteFile(filepath.Join(later, "ca.crt"), mustRead(t, filepath.Join(dir, "ca.crt")), 0o600); err != nil {
		t.Fatal(err)
	}
	s := launch(t, nil, later, filepath.Join(later, "tls.crt"), filepath.Join(later, "tls.key"))
	s.eventually("serving", 20*time.Second, s.readAddresses)
	if code := s.get("/readyz"); code != 503 {
		t.Errorf("readyz %d without a certificate", code)
	}
	if code := s.get("/livez"); code != 200 {
		t.Errorf("livez %d without a certificate", code)
	}
	if conn, err := tls.Dial("tcp", s.address, s.tls()); err == nil {
		conn.Close()
		t.Error("a handshake without a certificate")
	}
	for _, name := range []string{"tls.key", "tls.crt"} {
		if err := os.WriteFile(filepath.Join(later, name), mustRead(t, filepath.Join(dir, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.eventually("ready", 5*time.Second, func() bool { return s.get("/readyz") == 200 })
	s.mustAllow(goodClaim())
}

func mustRead(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// What `promtool check metrics` checks, and each family as Prometheus reads it.
func TestLifecycleMetrics(t *testing.T) {
	t.Parallel()
	s := start(t)
	bad := slice(1)
	device(bad)["nodeAllocatableResourceMappings"] = object{"memory": object{"allocationMultiplier": "500m"}}
	s.mustDeny(review(bad))
	s.mustPost([]byte("{"))
	text := s.metricsText()
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"drawbridge_admission_requests_total", "drawbridge_admission_duration_seconds", "drawbridge_admission_in_flight",
		"drawbridge_admission_errors_total", "drawbridge_rule_results_total", "drawbridge_certificate_not_after_timestamp_seconds",
		"drawbridge_certificate_rotations_total", "drawbridge_client_cert_rejections_total", "drawbridge_build_info",
		"process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds", "process_start_time_seconds"} {
		if families[name] == nil {
			t.Errorf("%s is not there", name)
		}
	}
	histogram := families["drawbridge_admission_duration_seconds"].GetMetric()[0].GetHistogram()
	if histogram.GetBucket()[0].GetUpperBound() != 0.0001 || histogram.GetSampleCount() < 3 {
		t.Errorf("histogram: %v", histogram)
	}
	if n := s.metric(`drawbridge_rule_results_total{rule="unit-bytes-fraction",result="deny"}`); n != 1 {
		t.Errorf("the denial counts %v times", n)
	}
}
