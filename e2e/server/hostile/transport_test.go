// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// hello builds a TLS ClientHello of this version that offers these suites and compression methods.
func hello(version uint16, suites []uint16, compression []byte) []byte {
	u16 := func(out []byte, v int) []byte { return binary.BigEndian.AppendUint16(out, uint16(v)) }
	var ext []byte
	add := func(kind int, body []byte) { ext = append(u16(u16(ext, kind), len(body)), body...) }
	add(0, append([]byte{0, 12, 0, 0, 9}, "localhost"...))
	add(10, []byte{0, 8, 0, 23, 0, 24, 0, 25, 0, 29})
	add(11, []byte{1, 0})
	add(13, []byte{0, 20, 4, 3, 5, 3, 6, 3, 8, 4, 8, 5, 8, 6, 4, 1, 5, 1, 6, 1, 2, 1})
	body := append(u16(nil, int(version)), make([]byte, 32)...)
	body = append(body, 0)
	body = u16(body, 2*len(suites))
	for _, suite := range suites {
		body = u16(body, int(suite))
	}
	body = append(append(body, byte(len(compression))), compression...)
	body = append(u16(body, len(ext)), ext...)
	handshake := append([]byte{1, 0, byte(len(body) >> 8), byte(len(body))}, body...)
	return append(u16([]byte{22, 3, 1}, len(handshake)), handshake...)
}

// greet sends a ClientHello and returns the type of the first record, and its body.
func (s *server) greet(hello []byte) (byte, []byte) {
	conn, err := s.dial()
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = conn.Write(hello)
	head := make([]byte, 5)
	if _, err := io.ReadFull(conn, head); err != nil {
		return 0, nil
	}
	body := make([]byte, binary.BigEndian.Uint16(head[3:]))
	_, _ = io.ReadFull(conn, body)
	return head[0], body
}

// A1: only TLS 1.2 and 1.3.
func TestTransportVersions(t *testing.T) {
	t.Parallel()
	s := start(t)
	for version, want := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		config := s.tls()
		config.MinVersion, config.MaxVersion = version, version
		conn, err := tls.Dial("tcp", s.address, config)
		if (err == nil) != want {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
		if err == nil {
			conn.Close()
		}
	}
	for _, version := range []uint16{0x0300, 0x0301, 0x0302} {
		if kind, body := s.greet(hello(version, []uint16{0xc02b, 0xc009, 0xc00a, 0x002f}, []byte{0})); kind == 22 {
			t.Errorf("version %#x is answered: %x", version, body[:6])
		}
	}
	ssl2 := []byte{0x80, 0x2e, 1, 0, 2, 0, 0x15, 0, 0, 0, 0x10, 1, 0, 0x80, 2, 0, 0x80, 3, 0, 0x80, 4, 0, 0x80, 5, 0, 0x80, 6, 0, 0x40, 7, 0, 0xc0}
	if kind, _ := s.greet(append(ssl2, make([]byte, 16)...)); kind == 22 {
		t.Error("a greeting of SSL 2 is answered")
	}
	s.alive()
}

// A2: with TLS 1.2 only AEAD suites with ECDHE; the rest is refused one by one.
func TestTransportSuites(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, suite := range []uint16{0xc02b, 0xc02c, 0xcca9} {
		kind, body := s.greet(hello(tls.VersionTLS12, []uint16{suite}, []byte{0}))
		if kind != 22 || body[0] != 2 {
			t.Errorf("%s is refused: %d %x", tls.CipherSuiteName(suite), kind, body)
		}
	}
	refused := map[string][]uint16{
		"NULL":   {0x0001, 0x0002, 0x003b, 0xc006, 0xc010, 0xc015},
		"export": {0x0003, 0x0006, 0x0008, 0x000b, 0x000e, 0x0011, 0x0014, 0x0017, 0x0019},
		"anon":   {0x0018, 0x001b, 0x0034, 0x003a, 0x006c, 0x006d, 0x00a6, 0x00a7, 0xc016, 0xc017, 0xc018, 0xc019},
		"RC4":    {0x0004, 0x0005, 0xc007, 0xc011},
		"DES":    {0x0009, 0x000a, 0x0015, 0x0016, 0xc008, 0xc012},
		"CBC":    {0x002f, 0x0033, 0x0035, 0x0039, 0x003c, 0x003d, 0x0067, 0x006b, 0xc009, 0xc00a, 0xc013, 0xc014, 0xc023, 0xc024, 0xc027, 0xc028, 0xc073},
		"RSA":    {0x009c, 0x009d, 0xc09c, 0xc09d},
		"DHE":    {0x009e, 0x009f, 0xccaa},
		"PSK":    {0x008c, 0x00a8, 0x00a9, 0xccab},
	}
	for name, suites := range refused {
		for _, suite := range suites {
			if kind, body := s.greet(hello(tls.VersionTLS12, []uint16{suite}, []byte{0})); kind == 22 {
				t.Errorf("%s %#04x is accepted: %x", name, suite, body[:min(8, len(body))])
			}
		}
	}
	s.alive()
}

// A3: no compression, no renegotiation, no early data, no session that outlives a change of keys.
func TestTransportExtras(t *testing.T) {
	t.Parallel()
	s := start(t)
	kind, body := s.greet(hello(tls.VersionTLS12, []uint16{0xc02b}, []byte{1, 0}))
	if kind == 22 {
		// version, random, session id, suite, compression
		if compression := body[4+2+32+1+int(body[4+2+32])+2]; compression != 0 {
			t.Errorf("compression %d is chosen", compression)
		}
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		config := s.tls()
		config.MinVersion, config.MaxVersion = version, version
		config.ClientSessionCache = tls.NewLRUClientSessionCache(8)
		for range 3 {
			conn, err := tls.Dial("tcp", s.address, config)
			if err != nil {
				t.Fatal(err)
			}
			body := goodClaim()
			if a, err := s.exchange(conn, []byte(httpPost(jsonType+length(len(body)), body)), 10*time.Second); err != nil || a.status != 200 {
				t.Errorf("%v %d", err, a.status)
			}
			if conn.ConnectionState().DidResume {
				t.Error("a session is resumed: its caller would not be verified again")
			}
			conn.Close()
		}
	}
	// `R` asks s_client to renegotiate.
	command := exec.Command("openssl", "s_client", "-connect", s.address, "-tls1_2", "-servername", "localhost")
	command.Stdin = io.MultiReader(strings.NewReader("R\n"), slowReader{time.Now().Add(2 * time.Second)})
	out, _ := command.CombinedOutput()
	if !strings.Contains(string(out), "RENEGOTIATING") || strings.Count(string(out), "verify return") > 3 {
		t.Errorf("renegotiation: %s", out)
	}
	early, _ := exec.Command("openssl", "s_client", "-connect", s.address, "-tls1_3", "-servername", "localhost").CombinedOutput()
	if strings.Contains(string(early), "Max Early Data: ") && !strings.Contains(string(early), "Max Early Data: 0") {
		t.Errorf("early data is offered: %s", early)
	}
	s.alive()
}

// slowReader ends at a time, so that a program that reads it stays.
type slowReader struct{ until time.Time }

func (r slowReader) Read([]byte) (int, error) {
	time.Sleep(time.Until(r.until))
	return 0, io.EOF
}

// A11: a caller that speaks nothing but HTTP/2 does not get it.
func TestTransportALPN(t *testing.T) {
	t.Parallel()
	s := start(t)
	config := s.tls()
	config.NextProtos = []string{"h2"}
	conn, err := tls.Dial("tcp", s.address, config)
	if err == nil {
		if conn.ConnectionState().NegotiatedProtocol == "h2" {
			t.Error("HTTP/2 is negotiated")
		}
		conn.Close()
	}
	s.alive()
}

// A7: connections that never start TLS are closed at their deadline; whoever is connected is served, and a new
// caller within four times the deadline.
func TestTransportSilentConnections(t *testing.T) {
	deadline := 2 * time.Second
	s := start(t, "--tls-begin-deadline", "2s")
	open := s.connect()
	defer open.Close()
	body := goodClaim()
	request := []byte(httpPost(jsonType+length(len(body)), body))
	var closed atomic.Int32
	begun := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		var started atomic.Int32
		inParallel(2000, 2000, func(int) {
			conn, err := s.dial()
			if started.Add(1) == 2000 {
				close(begun)
			}
			if err != nil {
				closed.Add(1) // refused or reset is closed too
				return
			}
			defer conn.Close()
			if err := closedBy(conn, 30*time.Second); err == nil {
				closed.Add(1)
			}
		})
	}()
	<-begun
	for range 5 {
		if a, err := s.exchange(open, request, 5*time.Second); err != nil || a.status != 200 {
			t.Fatalf("the open connection: %v %d", err, a.status)
		}
	}
	late := time.Now()
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: 30 * time.Second}, "tcp", s.address, s.tls())
	if err != nil {
		t.Fatalf("a new caller: %v", err)
	}
	if a, err := s.exchange(conn, request, 10*time.Second); err != nil || a.status != 200 {
		t.Errorf("a new caller: %v %d", err, a.status)
	}
	if took := time.Since(late); took > 4*deadline+time.Second {
		t.Errorf("a new caller waited %v", took)
	}
	conn.Close()
	<-done
	if closed.Load() != 2000 {
		t.Errorf("%d of 2000 silent connections were closed", closed.Load())
	}
	open.Close()
	s.alive()
}

// A9: resets in every phase.
func TestTransportResets(t *testing.T) {
	s := start(t)
	body := goodClaim()
	whole := []byte(httpPost(jsonType+length(len(body)), body))
	greeting := hello(tls.VersionTLS12, []uint16{0xc02b}, []byte{0})
	reset := func(conn net.Conn) {
		_ = conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}
	phases := []func() error{
		func() error { // after the connection is there
			conn, err := s.dial()
			if err != nil {
				return err
			}
			reset(conn)
			return nil
		},
		func() error { // in the greeting
			conn, err := s.dial()
			if err != nil {
				return err
			}
			_, _ = conn.Write(greeting[:40])
			reset(conn)
			return nil
		},
		func() error { // in the handshake
			conn, err := s.dial()
			if err != nil {
				return err
			}
			_, _ = conn.Write(greeting)
			_, _ = conn.Read(make([]byte, 5))
			reset(conn)
			return nil
		},
		func() error { return s.resetAfter(whole[:20]) },
		func() error { return s.resetAfter(whole[:len(whole)-100]) },
		func() error { return s.resetAfter(whole) }, // before the answer is read
	}
	n := 10000
	if sanitized {
		n = 2000
	}
	var failed atomic.Int32
	inParallel(n, 12, func(i int) {
		if phases[i%len(phases)]() != nil {
			failed.Add(1)
		}
	})
	if failed.Load() > int32(n/100) {
		t.Errorf("%d of %d connections were not even accepted", failed.Load(), n)
	}
	s.alive()
}

// resetAfter opens TLS, sends these bytes and resets the connection.
func (s *server) resetAfter(bytes []byte) error {
	conn, err := s.dial()
	if err != nil {
		return err
	}
	defer func() {
		_ = conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}()
	secure := tls.Client(conn, s.tls())
	_ = secure.SetDeadline(time.Now().Add(20 * time.Second))
	if err := secure.Handshake(); err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	_, err = secure.Write(bytes)
	return err
}
