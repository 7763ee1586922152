// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// endpoints is what a Service does for API servers: the ready replicas, each called over connections that are kept.
type endpoints struct {
	mutex sync.Mutex
	ready []*replica
	next  int
}

type replica struct {
	server *server
	client *http.Client
}

func (e *endpoints) add(s *server) *replica {
	r := &replica{s, &http.Client{Transport: &http.Transport{TLSClientConfig: s.tls(), MaxIdleConnsPerHost: 25}, Timeout: 20 * time.Second}}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.ready = append(e.ready, r)
	return r
}

func (e *endpoints) remove(gone *replica) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	for i, r := range e.ready {
		if r == gone {
			e.ready = append(e.ready[:i:i], e.ready[i+1:]...)
			return
		}
	}
}

func (e *endpoints) pick() *replica {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.next++
	return e.ready[e.next%len(e.ready)]
}

func (r *replica) call(t *testing.T, body []byte) bool {
	response, err := r.client.Post("https://"+r.server.address+"/validate", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Errorf("a call was lost: %v", err)
		return false
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("a call was lost: %v, code %d", err, response.StatusCode)
		return false
	}
	return true
}

// R55, G1: two replicas are replaced again and again under load, the new one first; the old one leaves the Service when
// its readiness fails, a moment after it was told to end. No call is lost.
func TestLifecycleRolling(t *testing.T) {
	rounds := 20
	if sanitized {
		rounds = 4
	}
	begin := func() *server { return start(t, "--shutdown-delay", "1s") }
	service := &endpoints{}
	oldest := service.add(begin())
	newest := service.add(begin())
	body := goodClaim()
	var calls atomic.Int64
	var stop atomic.Bool
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for !stop.Load() && service.pick().call(t, body) {
				calls.Add(1)
			}
		})
	}
	for range rounds {
		third := service.add(begin())
		before := calls.Load()
		newest.server.eventually("calls", 10*time.Second, func() bool { return calls.Load() > before+20 || t.Failed() })
		_ = oldest.server.cmd.Process.Signal(syscall.SIGTERM)
		oldest.server.eventually("readyz fails", 5*time.Second, func() bool { return oldest.server.get("/readyz") != http.StatusOK })
		service.remove(oldest)
		oldest.server.ended(30 * time.Second)
		oldest.client.CloseIdleConnections()
		oldest, newest = newest, third
		if t.Failed() {
			break
		}
	}
	stop.Store(true)
	load.Wait()
	t.Logf("%d calls over %d replacements", calls.Load(), rounds)
	oldest.client.CloseIdleConnections()
	newest.client.CloseIdleConnections()
}
