// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// pair is a certificate with its key, and the chain that is sent with it.
type pair struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	chain       [][]byte
}

var serial atomic.Int64

// sign makes a certificate below an issuer; nil signs itself.
func sign(t *testing.T, issuer *pair, name string, change func(*x509.Certificate)) *pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial.Add(1) + 1<<40), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true}
	if issuer == nil {
		template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
	} else {
		template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	if change != nil {
		change(template)
	}
	parent, signer := template, key
	if issuer != nil {
		parent, signer = issuer.certificate, issuer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &pair{certificate: certificate, key: key, chain: [][]byte{der}}
}

func writePEM(t *testing.T, file string, pairs ...*pair) {
	t.Helper()
	var out []byte
	for _, p := range pairs {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.certificate.Raw})...)
	}
	// By rename, as the kubelet's swap: never half a file.
	if err := os.WriteFile(file+".new", out, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

// callAs sends one good review on a connection of its own. 0 is a handshake that failed.
func (s *server) callAs(p *pair) int {
	config := s.tls()
	if p != nil {
		config.Certificates = []tls.Certificate{{Certificate: p.chain, PrivateKey: p.key}}
	}
	conn, err := tls.Dial("tcp", s.address, config)
	if err != nil {
		return 0
	}
	defer conn.Close()
	body := goodClaim()
	a, err := s.exchange(conn, []byte(httpPost(jsonType+length(len(body)), body)), 10*time.Second)
	if err != nil {
		return 0
	}
	return a.status
}

// A4, A5: only the caller whose certificate a CA vouches for is answered.
func TestClientsVerified(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	issue(t, dir)
	ca, other := sign(t, nil, "ca", nil), sign(t, nil, "other", nil)
	caFile := filepath.Join(dir, "clients.crt")
	writePEM(t, caFile, ca)
	good := sign(t, ca, "kube-apiserver", nil)
	s := startClients(t, dir, caFile, good)
	long := sign(t, nil, "root of many", nil)
	chained := long
	for range 19 {
		chained = &pair{certificate: chained.certificate, key: chained.key, chain: chained.chain}
		next := sign(t, chained, "middle", func(c *x509.Certificate) {
			c.IsCA, c.KeyUsage, c.ExtKeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageDigitalSignature, nil
		})
		next.chain = append(next.chain, chained.chain...)
		chained = next
	}
	huge := sign(t, ca, "kube-apiserver", func(c *x509.Certificate) {
		c.ExtraExtensions = []pkix.Extension{{Id: []int{1, 2, 3, 4}, Value: make([]byte, 1<<20)}}
	})
	cases := map[string]*pair{
		"none":          nil,
		"wrong CA":      sign(t, other, "kube-apiserver", nil),
		"self-signed":   sign(t, nil, "kube-apiserver", nil),
		"wrong name":    sign(t, ca, "kube-scheduler", nil),
		"no name":       sign(t, ca, "", nil),
		"expired":       sign(t, ca, "kube-apiserver", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }),
		"not yet valid": sign(t, ca, "kube-apiserver", func(c *x509.Certificate) { c.NotBefore = time.Now().Add(30 * time.Minute) }),
		"for servers":   sign(t, ca, "kube-apiserver", func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }),
		"chain of 20":   chained,
		"1 MB":          huge,
	}
	for name, p := range cases {
		before := s.metric("drawbridge_client_cert_rejections_total")
		judged := s.metric("drawbridge_admission_requests_total")
		code := s.callAs(p)
		if code != 403 && code != 0 {
			t.Errorf("%s: %d", name, code)
		}
		if after := s.metric("drawbridge_client_cert_rejections_total"); code == 403 && after != before+1 {
			t.Errorf("%s: rejections went from %v to %v", name, before, after)
		}
		if s.metric("drawbridge_admission_requests_total") != judged {
			t.Errorf("%s: the body was judged", name)
		}
	}
	if code := s.callAs(good); code != 200 {
		t.Errorf("the right certificate: %d", code)
	}
	// The CA changes under load: the new one is trusted in 5 seconds, and with the overlap gone the old one is not.
	next := sign(t, nil, "next ca", nil)
	fresh := sign(t, next, "kube-apiserver", nil)
	stop := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				if code := s.callAs(good); code != 200 {
					t.Errorf("during the overlap: %d", code)
				}
			}
		}
	}()
	writePEM(t, caFile, ca, next)
	s.eventually("new CA trusted", 5*time.Second, func() bool { return s.callAs(fresh) == 200 })
	close(stop)
	<-stopped
	writePEM(t, caFile, next)
	s.eventually("old CA gone", 5*time.Second, func() bool { return s.callAs(good) == 403 })
	if code := s.callAs(fresh); code != 200 {
		t.Errorf("the new CA's certificate: %d", code)
	}
	// Nonsense in the file leaves what was there.
	if err := os.WriteFile(caFile, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.eventually("nonsense is told", 5*time.Second, func() bool { return s.logged("Client CAs not taken") })
	if code := s.callAs(fresh); code != 200 {
		t.Errorf("after nonsense in the CA file: %d", code)
	}
}

// startClients starts a server that verifies callers; its own client has the good pair.
func startClients(t *testing.T, dir, caFile string, good *pair) *server {
	t.Helper()
	own := &tls.Certificate{Certificate: good.chain, PrivateKey: good.key}
	return startAs(t, own, dir, filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"),
		"--enable-client-verification", "--client-ca-path", caFile, "--client-subject-names", "kube-apiserver")
}
