// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const jsonType = "Content-Type: application/json\r\n"

func length(n int) string { return fmt.Sprintf("Content-Length: %d\r\n", n) }

// B1: headers that trickle are cut at an absolute deadline, and good callers are served meanwhile.
func TestHTTPSlowHeaders(t *testing.T) {
	s := start(t, "--header-deadline", "3s", "--tls-begin-deadline", "3s")
	slow(t, s, 400, 3*time.Second, func(conn net.Conn) error {
		_, err := conn.Write([]byte("POST /validate HTTP/1.1\r\nHost: localhost\r\nX: "))
		return err
	})
	if n := s.metric(`drawbridge_deadline_closes_total{phase="header"}`); n < 200 {
		t.Errorf("closed in phase header: %v", n)
	}
	s.alive()
}

// B2: bodies that trickle are cut at the request's deadline.
func TestHTTPSlowBodies(t *testing.T) {
	s := start(t, "--request-deadline", "3s")
	slow(t, s, 400, 3*time.Second, func(conn net.Conn) error {
		_, err := conn.Write([]byte("POST /validate HTTP/1.1\r\nHost: localhost\r\n" + jsonType + length(5000) + "\r\n{"))
		return err
	})
	s.alive()
}

// slow opens n connections that begin and then send one byte every half second.
func slow(t *testing.T, s *server, n int, deadline time.Duration, begin func(net.Conn) error) {
	var served, cut atomic.Int32
	stop := make(chan struct{})
	good := make(chan struct{})
	go func() {
		defer close(good)
		for {
			select {
			case <-stop:
				return
			default:
			}
			a, err := s.post("/validate", goodClaim())
			if err != nil || a.status != 200 {
				t.Errorf("a good caller was not served: %v %d", err, a.status)
				return
			}
			served.Add(1)
			time.Sleep(20 * time.Millisecond)
		}
	}()
	inParallel(n, n, func(int) {
		conn, err := s.secure()
		if err != nil {
			cut.Add(1) // cut before its handshake was over
			return
		}
		defer conn.Close()
		if begin(conn) != nil {
			cut.Add(1)
			return
		}
		begun := time.Now()
		for time.Since(begun) < deadline+10*time.Second {
			_ = conn.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
			_, err := conn.Read(make([]byte, 1))
			if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
				_, err = conn.Write([]byte("a"))
			}
			if err != nil {
				if _, ok := err.(net.Error); !ok || !err.(net.Error).Timeout() {
					cut.Add(1)
					return
				}
			}
		}
	})
	close(stop)
	<-good
	if int(cut.Load()) != n {
		t.Errorf("%d of %d slow connections were cut", cut.Load(), n)
	}
	if served.Load() < 10 {
		t.Errorf("only %d good calls were served meanwhile", served.Load())
	}
}

// B2: callers that send and send and never read are cut. They may not learn of it soon: their window is shut.
func TestHTTPNeverReads(t *testing.T) {
	s := start(t, "--request-deadline", "2s", "--max-request-deadline", "2s")
	bad := slice(128)
	for i := range 128 {
		at(bad, "spec", "devices", i).(object)["nodeAllocatableResourceMappings"] = object{"memory": object{"allocationMultiplier": "500m"}}
	}
	body := review(bad)
	request := []byte(httpPost(jsonType+length(len(body)), body))
	for range 2 {
		plain, err := s.dial()
		if err != nil {
			t.Fatal(err)
		}
		_ = plain.(*net.TCPConn).SetReadBuffer(4096)
		conn := tls.Client(plain, s.tls())
		defer plain.Close()
		go func() {
			for {
				if _, err := conn.Write(request); err != nil {
					return
				}
			}
		}()
	}
	s.eventually("both cut at the request's deadline", 90*time.Second, func() bool {
		return s.metric(`drawbridge_deadline_closes_total{phase="request"}`) == 2 && s.metric("drawbridge_connections ") == 0
	})
	s.alive()
}

// B3, R39: bodies at the limit, and memory that is flat over three rounds.
func TestHTTPBodySizes(t *testing.T) {
	t.Parallel()
	s := start(t)
	const limit = 8 << 20
	padded := func(n int) []byte { return append(goodClaim(), bytes.Repeat([]byte(" "), n-len(goodClaim()))...) }
	for range 3 {
		s.mustAllow(padded(limit - 1))
		s.mustAllow(padded(limit))
		conn := s.connect()
		// The whole body is never asked for: the answer comes at the headers.
		a, err := s.exchange(conn, []byte(httpPost(jsonType+length(limit+1), nil)), 10*time.Second)
		if err != nil || a.status != 413 {
			t.Errorf("one byte above the limit: %v %d", err, a.status)
		}
		conn.Close()
		s.alive()
	}
	if s.errors("too_large") != 3 {
		t.Errorf("too_large counted %v times", s.errors("too_large"))
	}
	big := slice(128)
	for i := range 128 {
		attributes := object{}
		for k := range 24 {
			attributes[fmt.Sprintf("a%d", k)] = object{"string": strings.Repeat("x", 60)}
		}
		at(big, "spec", "devices", i).(object)["attributes"] = attributes
	}
	big["metadata"].(object)["annotations"] = object{"example.com/note": strings.Repeat("n", 200<<10)}
	before := clone(big)
	before["spec"].(object)["devices"] = before["spec"].(object)["devices"].([]any)[:1]
	body := update(big, before)
	if len(body) < 500<<10 {
		t.Fatalf("only %d bytes", len(body))
	}
	s.mustAllow(body)
	s.alive()
}

// B4: lengths that disagree, and nothing of a body is read as the next request.
func TestHTTPLengths(t *testing.T) {
	t.Parallel()
	s := start(t)
	body := goodClaim()
	smuggled := "0\r\n\r\nPOST /validate HTTP/1.1\r\nHost: localhost\r\n" + jsonType + length(len(body)) + "\r\n" + string(body)
	cases := map[string]struct {
		headers string
		body    string
		want    []int
	}{
		"length and chunked":     {jsonType + length(4) + "Transfer-Encoding: chunked\r\n", smuggled, []int{400}},
		"chunked and length":     {jsonType + "Transfer-Encoding: chunked\r\n" + length(len(smuggled)), smuggled, []int{400}},
		"chunked":                {jsonType + "Transfer-Encoding: chunked\r\n", smuggled, []int{411}},
		"gzip, chunked":          {jsonType + "Transfer-Encoding: gzip, chunked\r\n", smuggled, []int{400, 411, 501}},
		"xchunked":               {jsonType + "Transfer-Encoding: xchunked\r\n", smuggled, []int{400, 411, 501}},
		"blank before the colon": {jsonType + "Transfer-Encoding : chunked\r\n" + length(4), smuggled, []int{400}},
		"two lengths":            {jsonType + length(4) + length(len(smuggled)), smuggled, []int{400}},
		"the same length twice":  {jsonType + length(4) + length(4), smuggled, []int{400}},
		"list of lengths":        {jsonType + "Content-Length: 4, 4\r\n", smuggled, []int{400}},
		"negative":               {jsonType + "Content-Length: -1\r\n", smuggled, []int{400}},
		"2^64":                   {jsonType + "Content-Length: 18446744073709551616\r\n", smuggled, []int{400, 413}},
		"2^63":                   {jsonType + "Content-Length: 9223372036854775808\r\n", smuggled, []int{400, 413}},
		"plus":                   {jsonType + "Content-Length: +4\r\n", smuggled, []int{400}},
		"hexadecimal":            {jsonType + "Content-Length: 0x4\r\n", smuggled, []int{400}},
		"empty":                  {jsonType + "Content-Length: \r\n", smuggled, []int{400, 411}},
		"none":                   {jsonType, "", []int{411}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			conn := s.connect()
			defer conn.Close()
			before := s.metric("drawbridge_admission_requests_total")
			_ = conn.SetDeadline(time.Now().Add(15 * time.Second))
			_, _ = conn.Write([]byte(httpPost(c.headers, []byte(c.body))))
			all, _ := io.ReadAll(conn)
			resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(all)), nil)
			if err != nil {
				t.Fatalf("%v: %q", err, all)
			}
			ok := false
			for _, want := range c.want {
				ok = ok || resp.StatusCode == want
			}
			// MHD writes the head of its own refusals twice; what counts is that nothing else is answered.
			other := strings.Count(string(all), "HTTP/1.1 ") != strings.Count(string(all), fmt.Sprintf("HTTP/1.1 %d ", resp.StatusCode))
			if !ok || other || strings.Contains(string(all), "AdmissionReview") {
				t.Errorf("status %d, not %v: %q", resp.StatusCode, c.want, all)
			}
			if after := s.metric("drawbridge_admission_requests_total"); after != before {
				t.Error("a review was judged")
			}
		})
	}
	s.alive()
}

// B5, G15: only POST, only two paths.
func TestHTTPMethodsAndPaths(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, method := range []string{"GET", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "PATCH", "CONNECT", "post", "BREW"} {
		conn := s.connect()
		_ = conn.SetDeadline(time.Now().Add(15 * time.Second))
		fmt.Fprintf(conn, "%s /validate HTTP/1.1\r\nHost: localhost\r\nX-Secret: tell-tale\r\n%s\r\n", method, length(0))
		all, _ := io.ReadAll(conn)
		conn.Close()
		head := string(all)
		if !strings.HasPrefix(head, "HTTP/1.1 405 ") || !strings.Contains(head, "\r\nAllow: POST\r\n") {
			t.Errorf("%s: %q", method, head)
		}
		if strings.Contains(head, "tell-tale") {
			t.Errorf("%s echoes the request", method)
		}
	}
	conn := s.connect()
	fmt.Fprintf(conn, "%s /validate HTTP/1.1\r\nHost: localhost\r\n\r\n", strings.Repeat("A", 8000))
	if err := closedBy(conn, 15*time.Second); err != nil {
		t.Errorf("a method of 8 KB: %v", err)
	}
	conn.Close()
	for _, path := range []string{"/", "/validate/", "//validate", "/VALIDATE", "/validate%2f", "/validate/../mutate", "/metrics", "/readyz", "/livez",
		"/debug/pprof", "/ledger", "/validate;x", "/v1/admit", "/" + strings.Repeat("a", 4000)} {
		a, err := s.post(path, goodClaim())
		if err != nil || a.status != 404 {
			t.Errorf("%.40s: %v %d", path, err, a.status)
		}
	}
	for _, path := range []string{"/validate", "/validate?timeout=3s", "/validate?timeout=", "/validate?timeout=banana&x=%00", "/validate?timeout=-1s&timeout=99999999999999h"} {
		a, err := s.post(path, goodClaim())
		if err != nil || !s.judged(a, goodUID).Response.Allowed {
			t.Errorf("%s: %v", path, err)
		}
	}
	a, err := s.post("/mutate", goodClaim())
	if err != nil || !s.judged(a, goodUID).Response.Allowed {
		t.Errorf("/mutate: %v %s", err, a.body)
	}
	for _, path := range []string{"/validate", "/debug/pprof/", "/ledger", "/"} {
		if code := s.get(path); code != 404 {
			t.Errorf("status port, %s: %d", path, code)
		}
	}
	s.alive()
}

// B7, B8: what a body is said to be.
func TestHTTPContentTypes(t *testing.T) {
	t.Parallel()
	s := start(t)
	body := goodClaim()
	for headers, want := range map[string]int{
		"":                                   415,
		"Content-Type: text/plain\r\n":       415,
		"Content-Type: application/yaml\r\n": 415,
		"Content-Type: application/vnd.kubernetes.protobuf\r\n":                415,
		"Content-Type: application/jsonx\r\n":                                  415,
		"Content-Type: application/json\r\nContent-Type: text/plain\r\n":       415,
		"Content-Type: application/json; charset=utf-8\r\n":                    200,
		"content-type: APPLICATION/JSON\r\n":                                   200,
		"Content-Type: application/json\r\nContent-Encoding: gzip\r\n":         415,
		"Content-Type: application/json\r\nContent-Encoding: deflate, br\r\n":  415,
		"Content-Type: application/json\r\nContent-Encoding: identity\r\n":     200,
		"Content-Type: application/json\r\nAccept-Encoding: gzip, deflate\r\n": 200,
	} {
		if a := s.raw(httpPost(headers+length(len(body)), body)); a.status != want {
			t.Errorf("%q: %d, not %d", headers, a.status, want)
		}
	}
	// The type is judged before any of the body comes.
	if a := s.raw(httpPost("Content-Type: text/plain\r\n"+length(1<<20), nil)); a.status != 415 {
		t.Errorf("415 did not come at the headers: %d", a.status)
	}
	bomb := bytes.Repeat([]byte{0x1f, 0x8b, 8, 0}, 1000)
	if a := s.raw(httpPost(jsonType+"Content-Encoding: gzip\r\n"+length(len(bomb)), bomb)); a.status != 415 {
		t.Errorf("a gzip bomb: %d", a.status)
	}
	s.alive()
}

// B9: too many and too long headers.
func TestHTTPHeaderSizes(t *testing.T) {
	t.Parallel()
	s := start(t)
	for name, headers := range map[string]string{
		"10,000 headers": strings.Repeat("X-A: b\r\n", 10000),
		"one of 70 KB":   "X-A: " + strings.Repeat("b", 70<<10) + "\r\n",
		"one of 10 MB":   "X-A: " + strings.Repeat("b", 10<<20) + "\r\n",
		"cookies":        strings.Repeat("Cookie: a=b; c=d\r\n", 8000),
	} {
		conn := s.connect()
		a, err := s.exchange(conn, []byte(httpPost(headers, nil)), 15*time.Second)
		// Who still sends may see the connection reset in place of the answer.
		if err == nil && a.status != 431 && a.status != 413 && a.status != 414 {
			t.Errorf("%s: %d", name, a.status)
		}
		conn.Close()
	}
	long := "/validate?x=" + strings.Repeat("y", 100<<10)
	conn := s.connect()
	a, err := s.exchange(conn, []byte("POST "+long+" HTTP/1.1\r\nHost: localhost\r\n\r\n"), 15*time.Second)
	if err == nil && a.status != 414 && a.status != 431 {
		t.Errorf("a long URL: %d", a.status)
	}
	conn.Close()
	s.alive()
}

// B11 and a length larger than what comes: cut at the deadline.
func TestHTTPSilence(t *testing.T) {
	t.Parallel()
	s := start(t, "--request-deadline", "2s", "--tls-begin-deadline", "2s", "--header-deadline", "2s", "--idle-connection-deadline", "2s")
	for name, request := range map[string]string{
		"expect and silence": "POST /validate HTTP/1.1\r\nHost: localhost\r\n" + jsonType + length(5000) + "Expect: 100-continue\r\n\r\n",
		"half a body":        httpPost(jsonType+length(5000), []byte("{\"kind\":")),
		"half a header":      "POST /validate HTTP/1.1\r\nHost: loc",
		"nothing":            "",
		"only line ends":     strings.Repeat("\r\n", 20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := s.connect()
			defer conn.Close()
			_, _ = conn.Write([]byte(strings.Replace(request, "?timeout=10s", "", 1)))
			if err := closedBy(conn, 6*time.Second); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("idle after an answer", func(t *testing.T) {
		t.Parallel()
		conn := s.connect()
		defer conn.Close()
		body := goodClaim()
		if a, err := s.exchange(conn, []byte(httpPost(jsonType+length(len(body)), body)), 5*time.Second); err != nil || a.status != 200 {
			t.Fatalf("%v %d", err, a.status)
		}
		if err := closedBy(conn, 7*time.Second); err != nil {
			t.Error(err)
		}
	})
	t.Run("the caller's own timeout counts", func(t *testing.T) {
		t.Parallel()
		conn := s.connect()
		defer conn.Close()
		_, _ = conn.Write([]byte("POST /validate?timeout=1s HTTP/1.1\r\nHost: localhost\r\n" + jsonType + length(5000) + "\r\n{"))
		if err := closedBy(conn, 3*time.Second); err != nil {
			t.Error(err)
		}
	})
}

// The deadlines that hold when nobody sets any: 5 s until TLS begins, 10 s until the headers are there.
func TestHTTPDefaultDeadlines(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("tls", func(t *testing.T) {
		t.Parallel()
		conn, err := s.dial()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := closedBy(conn, 8*time.Second); err != nil {
			t.Error(err)
		}
	})
	t.Run("header", func(t *testing.T) {
		t.Parallel()
		conn := s.connect()
		defer conn.Close()
		_, _ = conn.Write([]byte("POST /validate HTTP/1.1\r\n"))
		if err := closedBy(conn, 13*time.Second); err != nil {
			t.Error(err)
		}
	})
}

// A10, A11: another protocol than the one of the port.
func TestHTTPWrongProtocol(t *testing.T) {
	t.Parallel()
	s := start(t, "--tls-begin-deadline", "2s", "--header-deadline", "3s")
	noise := make([]byte, 8<<20)
	_, _ = rand.Read(noise)
	for name, bytes := range map[string][]byte{
		"plain HTTP":    []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		"noise":         noise,
		"zeros":         make([]byte, 1<<20),
		"ssh":           []byte("SSH-2.0-x\r\n"),
		"half a record": {22, 3, 1, 2, 0, 1},
	} {
		conn, err := s.dial()
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = conn.Write(bytes) }()
		if err := closedBy(conn, 8*time.Second); err != nil {
			t.Errorf("%s on the TLS port: %v", name, err)
		}
		conn.Close()
	}
	for range 3 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.status, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = conn.Write(noise[:1<<20]) }()
		if err := closedBy(conn, 15*time.Second); err != nil {
			t.Errorf("noise on the status port: %v", err)
		}
		conn.Close()
	}
	conn := s.connect()
	a, err := s.exchange(conn, []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 10*time.Second)
	if err == nil && a.status != 505 && a.status != 400 {
		t.Errorf("the preface of HTTP/2: %d", a.status)
	}
	conn.Close()
	for request, want := range map[string]int{
		"POST /validate HTTP/1.1\r\n" + jsonType + length(2) + "\r\n{}":            400,
		"POST /validate HTTP/9.9\r\nHost: a\r\n" + jsonType + length(2) + "\r\n{}": 505,
		"POST\r\n\r\n": 400,
		"POST  /validate  HTTP/1.1  x\r\nHost: a\r\n\r\n": 400,
	} {
		conn := s.connect()
		a, err := s.exchange(conn, []byte(request), 10*time.Second)
		if err == nil && a.status != want && a.status < 400 {
			t.Errorf("%q: %d", request, a.status)
		}
		conn.Close()
	}
	s.alive()
}

// G5: when bodies fill what may be in flight, large ones are shed before they are read and small ones go on.
func TestHTTPShedding(t *testing.T) {
	t.Parallel()
	s := start(t, "--max-in-flight-bytes", "16Mi", "--request-deadline", "4s")
	const big = 7 << 20
	held := s.connect()
	defer held.Close()
	_, _ = held.Write([]byte("POST /validate HTTP/1.1\r\nHost: localhost\r\n" + jsonType + length(big) + "\r\n{"))
	s.eventually("one in flight", 5*time.Second, func() bool { return s.metric("drawbridge_admission_in_flight ") == 1 })
	a := s.raw("POST /validate HTTP/1.1\r\nHost: localhost\r\n" + jsonType + length(big) + "\r\n")
	if a.status != 503 || !a.close {
		t.Errorf("a large review: %d %v", a.status, a.header)
	}
	s.mustAllow(goodClaim())
	if s.errors("shed") != 1 {
		t.Errorf("shed counted %v times", s.errors("shed"))
	}
	if err := closedBy(held, 8*time.Second); err != nil {
		t.Error(err)
	}
	s.mustAllow(append(goodClaim(), bytes.Repeat([]byte(" "), 1<<20)...))
	s.alive()
}
