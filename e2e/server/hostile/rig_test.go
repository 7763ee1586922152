// SPDX-License-Identifier: Apache-2.0

// Package hostile attacks a running `drawbridge serve` and looks each time
// whether it is alive and well afterwards.
//
//	DRAWBRIDGE=… go test ./server/hostile -count=1 [-run TestHTTP]
package hostile

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// sanitized: memory figures of such a build say nothing, and everything is slower.
var sanitized = os.Getenv("DRAWBRIDGE_SANITIZED") != ""

// server is one running drawbridge.
type server struct {
	t             *testing.T
	cmd           *exec.Cmd
	exited        chan struct{} // closed when the process has ended
	exitErr       error         // read it after exited
	dir           string        // the pair: ca.crt, tls.crt, tls.key
	address       string        // of reviews
	status        string        // base URL of health and metrics
	log           *os.File
	roots         *x509.CertPool
	client        *http.Client
	fdsBefore     int
	rssBefore     int64
	answers       sync.Mutex
	answerProblem string
}

func program(t *testing.T) string {
	t.Helper()
	path := os.Getenv("DRAWBRIDGE")
	if path == "" {
		t.Fatal("set DRAWBRIDGE to the program drawbridge")
	}
	return path
}

func issue(t *testing.T, dir string) {
	t.Helper()
	out, err := exec.Command(program(t), "certs", "issue", "--dir", dir, "--host", "localhost", "--host", "127.0.0.1").CombinedOutput()
	if err != nil {
		t.Fatalf("certs issue: %v: %s", err, out)
	}
}

func readRoots(t *testing.T, file string) *x509.CertPool {
	t.Helper()
	pem, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		t.Fatalf("%s has no certificate", file)
	}
	return pool
}

// start runs a server on free ports of loopback with a pair of its own, and
// ends it in order when the test is over.
func start(t *testing.T, flags ...string) *server {
	t.Helper()
	dir := t.TempDir()
	issue(t, dir)
	return startWith(t, dir, filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"), flags...)
}

func startWith(t *testing.T, dir, certFile, keyFile string, flags ...string) *server {
	t.Helper()
	return startAs(t, nil, dir, certFile, keyFile, flags...)
}

// startAs also says which certificate the test's own client has.
func startAs(t *testing.T, own *tls.Certificate, dir, certFile, keyFile string, flags ...string) *server {
	t.Helper()
	s := launch(t, own, dir, certFile, keyFile, flags...)
	s.eventually("serving", 20*time.Second, s.readAddresses)
	s.eventually("ready", 20*time.Second, func() bool { return s.get("/readyz") == 200 })
	s.mustAllow(goodClaim())
	s.client.CloseIdleConnections()
	s.eventually("idle", 5*time.Second, func() bool { return s.metric("drawbridge_admission_in_flight ") == 0 })
	s.fdsBefore = s.fds()
	s.rssBefore = s.rss()
	return s
}

// launch only starts the process.
func launch(t *testing.T, own *tls.Certificate, dir, certFile, keyFile string, flags ...string) *server {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, dir: dir, log: log, exited: make(chan struct{}), roots: readRoots(t, filepath.Join(dir, "ca.crt"))}
	config := s.tls()
	if own != nil {
		config.Certificates = []tls.Certificate{*own}
	}
	args := append([]string{"serve", "--bind-address", "127.0.0.1", "--port", "0", "--status-bind-address", "127.0.0.1:0",
		"--tls-cert-file", certFile, "--tls-private-key-file", keyFile, "--logging-format", "json", "--shutdown-delay", "0s"}, flags...)
	s.cmd = exec.Command(program(t), args...)
	s.cmd.Stderr = log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		s.exitErr = s.cmd.Wait()
		close(s.exited)
	}()
	t.Cleanup(s.stop)
	s.client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		TLSClientConfig: config, MaxIdleConnsPerHost: 25, IdleConnTimeout: 60 * time.Second, Proxy: nil}}
	return s
}

// stop asks for the orderly end. Whatever a test did, that must succeed.
func (s *server) stop() {
	if s.stopped() {
		return
	}
	select {
	case <-s.exited:
		s.t.Errorf("the server had ended by itself: %v\n%s", s.exitErr, s.logTail())
		return
	default:
	}
	s.client.CloseIdleConnections()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	s.ended(45 * time.Second)
}

func (s *server) ended(within time.Duration) {
	select {
	case <-s.exited:
		if s.exitErr != nil {
			s.t.Errorf("the server ended with %v\n%s", s.exitErr, s.logTail())
		}
	case <-time.After(within):
		s.t.Errorf("the server did not end within %v\n%s", within, s.logTail())
		_ = s.cmd.Process.Kill()
	}
}

func (s *server) logText() string {
	text, err := os.ReadFile(s.log.Name())
	if err != nil {
		s.t.Error(err)
	}
	return string(text)
}

func (s *server) logged(words string) bool { return strings.Contains(s.logText(), words) }

func (s *server) logTail() string {
	text := s.logText()
	return text[max(0, len(text)-4000):]
}

func (s *server) readAddresses() bool {
	for line := range strings.SplitSeq(s.logText(), "\n") {
		var entry struct{ Msg, Address, Status string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "Serving" {
			s.address, s.status = entry.Address, "http://"+entry.Status
			return true
		}
	}
	return false
}

// eventually tries until it holds; what is a word for the failure.
func (s *server) eventually(what string, within time.Duration, holds func() bool) {
	s.t.Helper()
	until := time.Now().Add(within)
	for !holds() {
		if time.Now().After(until) {
			s.t.Fatalf("not within %v: %s\n%s", within, what, s.logTail())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (s *server) tls() *tls.Config {
	return &tls.Config{RootCAs: s.roots, ServerName: "localhost"}
}

func (s *server) dial() (net.Conn, error) {
	return net.DialTimeout("tcp", s.address, 10*time.Second)
}

func (s *server) secure() (*tls.Conn, error) {
	return tls.DialWithDialer(&net.Dialer{Timeout: 30 * time.Second}, "tcp", s.address, s.tls())
}

// connect opens a TLS connection or fails the test.
func (s *server) connect() *tls.Conn {
	s.t.Helper()
	conn, err := s.secure()
	if err != nil {
		s.t.Fatal(err)
	}
	return conn
}

func (s *server) get(path string) int {
	resp, err := http.Get(s.status + path)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	return resp.StatusCode
}

func (s *server) metricsText() string {
	resp, err := http.Get(s.status + "/metrics")
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return string(body)
}

// metric sums the series whose name and labels begin with this text.
func (s *server) metric(prefix string) float64 {
	text := s.metricsText()
	if text == "" {
		return -1
	}
	sum := 0.0
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, prefix) {
			value, _ := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			sum += value
		}
	}
	return sum
}

func (s *server) errors(reason string) float64 {
	return s.metric(fmt.Sprintf("drawbridge_admission_errors_total{reason=%q}", reason))
}

func (s *server) fds() int {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	if err != nil {
		return -1
	}
	return len(entries)
}

func (s *server) rss() int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	match := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(text)
	if match == nil {
		return -1
	}
	kib, _ := strconv.ParseInt(string(match[1]), 10, 64)
	return kib << 10
}

// alive: the same process answers the next good review, and gave everything back.
func (s *server) alive() {
	s.t.Helper()
	select {
	case <-s.exited:
		s.t.Fatalf("the server ended: %v\n%s", s.exitErr, s.logTail())
	default:
	}
	s.mustAllow(goodClaim())
	s.client.CloseIdleConnections()
	http.DefaultClient.CloseIdleConnections()
	s.eventually("in-flight gauge back to 0", 40*time.Second, func() bool { return s.metric("drawbridge_admission_in_flight ") == 0 })
	s.eventually("open files back", 40*time.Second, func() bool {
		http.DefaultClient.CloseIdleConnections()
		return s.fds() <= s.fdsBefore+4
	})
	if !sanitized {
		s.eventually("memory back", 40*time.Second, func() bool { return s.rss() <= s.rssBefore+s.rssBefore/20+(12<<20) })
	}
	s.answers.Lock()
	defer s.answers.Unlock()
	if s.answerProblem != "" {
		s.t.Error(s.answerProblem)
	}
}

// answer is what came back for one request.
type answer struct {
	status int
	header http.Header
	body   []byte
	close  bool // the server says that it closes the connection
}

var forbidden = regexp.MustCompile(`(?i)\.c:\d|/usr/|/home/|/tmp/|0x[0-9a-f]{6,}|backtrace|microhttpd|gnutls`)

// note looks at each answer of the server for what no answer may hold.
func (s *server) note(a answer) answer {
	s.answers.Lock()
	defer s.answers.Unlock()
	switch {
	case a.status >= 300 && a.status < 400:
		s.answerProblem = fmt.Sprintf("an answer redirects: %d %q", a.status, a.body)
	case a.header.Get("Server") != "" || a.header.Get("Location") != "" || a.header.Get("X-Powered-By") != "":
		s.answerProblem = fmt.Sprintf("an answer tells of the server: %v", a.header)
	case forbidden.Match(a.body):
		s.answerProblem = fmt.Sprintf("an answer holds inner words: %q", a.body)
	}
	return a
}

// exchange writes raw bytes on a connection and reads one answer.
func (s *server) exchange(conn net.Conn, request []byte, within time.Duration) (answer, error) {
	_ = conn.SetDeadline(time.Now().Add(within))
	written := make(chan error, 1)
	go func() {
		_, err := conn.Write(request)
		written <- err
	}()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return s.note(answer{resp.StatusCode, resp.Header, body, resp.Close}), err
}

// raw sends bytes on a connection of their own.
func (s *server) raw(request string) answer {
	s.t.Helper()
	conn := s.connect()
	defer conn.Close()
	a, err := s.exchange(conn, []byte(request), 20*time.Second)
	if err != nil {
		s.t.Fatalf("%.200q: %v", request, err)
	}
	return a
}

// post sends a body as the API server does.
func (s *server) post(path string, body []byte) (answer, error) {
	return s.postAs(path, "application/json", body)
}

func (s *server) postAs(path, contentType string, body []byte) (answer, error) {
	resp, err := s.client.Post("https://"+strings.Replace(s.address, "127.0.0.1", "localhost", 1)+path, contentType, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(resp.Body)
	return s.note(answer{resp.StatusCode, resp.Header, read, resp.Close}), err
}

func (s *server) mustPost(body []byte) answer {
	s.t.Helper()
	a, err := s.post("/validate?timeout=10s", body)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.logTail())
	}
	return a
}

// verdict of an answer: what the API server would read.
type verdict struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Response   *struct {
		UID     string `json:"uid"`
		Allowed bool   `json:"allowed"`
		Status  *struct {
			Status  string `json:"status"`
			Code    int    `json:"code"`
			Reason  string `json:"reason"`
			Message string `json:"message"`
			Details struct {
				Causes []struct{ Reason, Message, Field string } `json:"causes"`
			} `json:"details"`
		} `json:"status"`
		Warnings         []string          `json:"warnings"`
		Patch            *string           `json:"patch"`
		PatchType        *string           `json:"patchType"`
		AuditAnnotations map[string]string `json:"auditAnnotations"`
	} `json:"response"`
}

// judged reads an answer and holds it against the contract that the API server checks.
func (s *server) judged(a answer, uid string) verdict {
	s.t.Helper()
	var v verdict
	if a.status != 200 {
		s.t.Fatalf("status %d: %s", a.status, a.body)
	}
	if err := json.Unmarshal(a.body, &v); err != nil || v.Response == nil {
		s.t.Fatalf("%v: %s", err, a.body)
	}
	switch {
	case v.APIVersion != "admission.k8s.io/v1" || v.Kind != "AdmissionReview":
		s.t.Fatalf("not a v1 AdmissionReview: %s", a.body)
	case v.Response.UID != uid:
		s.t.Fatalf("uid %q, not %q", v.Response.UID, uid)
	case v.Response.Patch != nil || v.Response.PatchType != nil:
		s.t.Fatalf("a patch: %s", a.body)
	case v.Response.Allowed && v.Response.Status != nil:
		s.t.Fatalf("allowed with a status: %s", a.body)
	case !v.Response.Allowed && (v.Response.Status == nil || v.Response.Status.Status != "Failure" || v.Response.Status.Message == "" ||
		v.Response.Status.Code != 422 && v.Response.Status.Code != 403):
		s.t.Fatalf("denied without a proper status: %s", a.body)
	}
	for _, warning := range v.Response.Warnings {
		if len(warning) > 256 || strings.ContainsAny(warning, "\r\n") || strings.HasPrefix(warning, "Warning") {
			s.t.Fatalf("a warning that the API server would cut: %q", warning)
		}
	}
	return v
}

func (s *server) mustAllow(body []byte) verdict {
	s.t.Helper()
	v := s.judged(s.mustPost(body), goodUID)
	if !v.Response.Allowed {
		s.t.Fatalf("denied: %s", v.Response.Status.Message)
	}
	return v
}

func (s *server) mustDeny(body []byte, words ...string) verdict {
	s.t.Helper()
	v := s.judged(s.mustPost(body), goodUID)
	if v.Response.Allowed {
		s.t.Fatalf("allowed: %.2000s", body)
	}
	for _, word := range words {
		if !strings.Contains(v.Response.Status.Message, word) {
			s.t.Errorf("%q is not in: %s", word, v.Response.Status.Message)
		}
	}
	return v
}

// closedBy: the peer closes the connection, and no later than this.
func closedBy(conn net.Conn, within time.Duration) error {
	_ = conn.SetReadDeadline(time.Now().Add(within))
	_, err := io.Copy(io.Discard, conn)
	if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
		return fmt.Errorf("still open after %v", within)
	}
	return nil
}

// inParallel runs n calls, at most width at a time.
func inParallel(n, width int, call func(i int)) {
	var group sync.WaitGroup
	turns := make(chan int)
	for range width {
		group.Go(func() {
			for i := range turns {
				call(i)
			}
		})
	}
	for i := range n {
		turns <- i
	}
	close(turns)
	group.Wait()
}
