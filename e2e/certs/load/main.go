// SPDX-License-Identifier: Apache-2.0

// Calls every webhook of a ValidatingWebhookConfiguration as an API server does, trusting only what its caBundle holds at
// that moment, until the replicas have put enough new certificates in force. Any call that fails is a failure.
//
//	load -configuration drawbridge -review FILE -rotations 100 -rate 500 STATUS-URL...
//
// The API server is that of the environment: DRAWBRIDGE_KUBE_SERVER, DRAWBRIDGE_KUBE_CA_FILE, DRAWBRIDGE_KUBE_DIR.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	workers      = 16
	newOneIn     = 4 // so many calls share one new connection on average; the others use those that are kept
	bundlesEvery = 100 * time.Millisecond
	metricsEvery = 500 * time.Millisecond
	callTimeout  = 5 * time.Second
	failuresTold = 10
)

type hook struct {
	url    string
	server string
	roots  *x509.CertPool
}

type load struct {
	api           *http.Client
	configuration string
	review        []byte
	hooks         atomic.Pointer[[]hook]
	kept          *http.Client
	fresh         *http.Client

	calls, handshakes, failed, told atomic.Int64

	mutex           sync.Mutex
	leaves, issuers map[string]bool
	mostRoots       int
}

// apiClient trusts the cluster's CA and shows the token of its administrator.
func apiClient() (*http.Client, error) {
	pem, err := os.ReadFile(os.Getenv("DRAWBRIDGE_KUBE_CA_FILE"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("the cluster's CA file holds no certificate")
	}
	return &http.Client{Timeout: callTimeout, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}, nil
}

func (l *load) readHooks() error {
	request, err := http.NewRequest(http.MethodGet, os.Getenv("DRAWBRIDGE_KUBE_SERVER")+
		"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/"+l.configuration, nil)
	if err != nil {
		return err
	}
	header, err := os.ReadFile(filepath.Join(os.Getenv("DRAWBRIDGE_KUBE_DIR"), "auth-header"))
	if err != nil {
		return err
	}
	name, value, _ := strings.Cut(strings.TrimSpace(string(header)), ":")
	request.Header.Set(name, strings.TrimSpace(value))
	response, err := l.api.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var object struct {
		Webhooks []struct {
			ClientConfig struct {
				URL      string `json:"url"`
				CABundle []byte `json:"caBundle"`
			} `json:"clientConfig"`
		} `json:"webhooks"`
	}
	if err := json.NewDecoder(response.Body).Decode(&object); err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("the configuration cannot be read: %s %w", response.Status, err)
	}
	var hooks []hook
	for _, one := range object.Webhooks {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(one.ClientConfig.CABundle)
		hooks = append(hooks, hook{url: one.ClientConfig.URL, server: "localhost", roots: roots})
		l.mostRoots = max(l.mostRoots, bytes.Count(one.ClientConfig.CABundle, []byte("BEGIN CERTIFICATE")))
	}
	if len(hooks) == 0 {
		return errors.New("the configuration has no webhooks")
	}
	l.hooks.Store(&hooks)
	return nil
}

// dial makes a connection that trusts what the caBundle holds now.
func (l *load) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var roots *x509.CertPool
	for _, one := range *l.hooks.Load() {
		if strings.Contains(one.url, "//"+address+"/") {
			roots = one.roots
		}
	}
	if roots == nil {
		return nil, fmt.Errorf("no webhook has the address %s", address)
	}
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "localhost", NextProtos: []string{"http/1.1"}}}
	connection, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.handshakes.Add(1)
	leaf := connection.(*tls.Conn).ConnectionState().PeerCertificates[0]
	l.mutex.Lock()
	l.leaves[leaf.SerialNumber.String()] = true
	l.issuers[string(leaf.AuthorityKeyId)] = true
	l.mutex.Unlock()
	return connection, nil
}

func (l *load) call(client *http.Client, url string) error {
	response, err := client.Post(url+"?timeout=5s", "application/json", bytes.NewReader(l.review))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var review struct {
		Response struct {
			Allowed bool `json:"allowed"`
		} `json:"response"`
	}
	if err := json.Unmarshal(body, &review); err != nil || response.StatusCode != http.StatusOK || !review.Response.Allowed {
		return fmt.Errorf("answer %s: %.300s", response.Status, body)
	}
	return nil
}

func (l *load) work(ctx context.Context, turns <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-turns:
		}
		hooks := *l.hooks.Load()
		client := l.kept
		if rand.IntN(newOneIn) == 0 {
			client = l.fresh
		}
		err := l.call(client, hooks[rand.IntN(len(hooks))].url)
		l.calls.Add(1)
		if err == nil || ctx.Err() != nil {
			continue
		}
		l.failed.Add(1)
		if l.told.Add(1) <= failuresTold {
			fmt.Printf("failed call at %s: %v\n", time.Now().Format(time.TimeOnly), err)
		}
	}
}

// rotations adds up how many certificates the replicas have put in force after their first.
func (l *load) rotations(urls []string) (int64, error) {
	var sum int64
	for _, url := range urls {
		response, err := http.Get(url + "/metrics")
		if err != nil {
			return 0, err
		}
		lines := bufio.NewScanner(response.Body)
		for lines.Scan() {
			if value, found := strings.CutPrefix(lines.Text(), `drawbridge_certificate_rotations_total{result="ok"} `); found {
				number, err := strconv.ParseFloat(value, 64)
				if err != nil {
					return 0, err
				}
				sum += int64(number)
			}
		}
		response.Body.Close()
	}
	return sum, nil
}

func run(rate int, wanted int64, limit time.Duration, urls []string, l *load) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := l.readHooks(); err != nil {
		return err
	}
	before, err := l.rotations(urls)
	if err != nil {
		return err
	}
	turns := make(chan struct{}, rate)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() { l.work(ctx, turns) })
	}
	began, now := time.Now(), before
	turn, bundles, metrics := time.NewTicker(time.Second/time.Duration(rate)), time.NewTicker(bundlesEvery), time.NewTicker(metricsEvery)
	for ctx.Err() == nil && now-before < wanted {
		select {
		case <-ctx.Done():
		case <-turn.C:
			select {
			case turns <- struct{}{}:
			default:
			}
		case <-bundles.C:
			if err := l.readHooks(); err != nil {
				return err
			}
		case <-metrics.C:
			if now, err = l.rotations(urls); err != nil {
				return err
			}
		}
	}
	seconds := time.Since(began).Seconds()
	cancel()
	group.Wait()
	fmt.Printf("calls=%d rate=%.0f handshakes=%d failed=%d rotations=%d leaves=%d cas=%d most_in_bundle=%d seconds=%.0f\n", l.calls.Load(),
		float64(l.calls.Load())/seconds, l.handshakes.Load(), l.failed.Load(), now-before, len(l.leaves), len(l.issuers), l.mostRoots, seconds)
	switch {
	case l.failed.Load() > 0:
		return fmt.Errorf("%d calls failed", l.failed.Load())
	case now-before < wanted:
		return fmt.Errorf("only %d of %d rotations within %s", now-before, wanted, limit)
	}
	return nil
}

func main() {
	configuration := flag.String("configuration", "drawbridge", "the ValidatingWebhookConfiguration")
	file := flag.String("review", "", "a review that is allowed")
	rotations := flag.Int64("rotations", 100, "how many new certificates to wait for, all replicas together")
	rate := flag.Int("rate", 500, "calls a second")
	limit := flag.Duration("limit", 15*time.Minute, "when to give up")
	flag.Parse()
	client, err := apiClient()
	l := &load{api: client, configuration: *configuration, leaves: map[string]bool{}, issuers: map[string]bool{}}
	l.kept = &http.Client{Timeout: callTimeout, Transport: &http.Transport{DialTLSContext: l.dial, MaxIdleConnsPerHost: 25}}
	l.fresh = &http.Client{Timeout: callTimeout, Transport: &http.Transport{DialTLSContext: l.dial, DisableKeepAlives: true}}
	if err == nil {
		l.review, err = os.ReadFile(*file)
	}
	if err == nil {
		err = run(*rate, *rotations, *limit, flag.Args(), l)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
