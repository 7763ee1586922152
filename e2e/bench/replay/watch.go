package main

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	batchBytes    = 64 << 10
	queueBytes    = 1 << 20 // of a watcher; then who makes the events waits
	bookmarkEvery = 10 * time.Second
)

// watcher holds what a watch still has to send.
type watcher struct {
	mutex   sync.Mutex
	changed *sync.Cond
	bytes   []byte
	listing bool // the list goes before, so nobody waits for room
	gone    bool
}

func newWatcher() *watcher {
	w := &watcher{listing: true}
	w.changed = sync.NewCond(&w.mutex)
	return w
}

func (w *watcher) add(t *resourceTable, object *stored) {
	w.mutex.Lock()
	for len(w.bytes) >= queueBytes && !w.listing && !w.gone {
		w.changed.Wait()
	}
	if !w.gone {
		w.bytes = t.appendFrame(w.bytes, "MODIFIED", object)
	}
	w.mutex.Unlock()
	w.changed.Broadcast()
}

func (w *watcher) addBytes(bytes []byte) {
	w.mutex.Lock()
	w.bytes = append(w.bytes, bytes...)
	w.mutex.Unlock()
	w.changed.Broadcast()
}

func (w *watcher) leave() {
	w.mutex.Lock()
	w.gone = true
	w.mutex.Unlock()
	w.changed.Broadcast()
}

// take waits for bytes and gives them for the buffer of those that were sent; nil at the end.
func (w *watcher) take(spent []byte) []byte {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for len(w.bytes) == 0 && !w.gone {
		w.changed.Wait()
	}
	if w.gone {
		return nil
	}
	full := w.bytes
	w.bytes = spent[:0]
	w.changed.Broadcast()
	return full
}

func (t *resourceTable) join(w *watcher) int64 {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.watchers[w] = true
	return versions.Load()
}

func (t *resourceTable) part(w *watcher) {
	w.leave()
	t.mutex.Lock()
	delete(t.watchers, w)
	t.mutex.Unlock()
}

// sendAll writes the streamed list.
func (t *resourceTable) sendAll(out http.ResponseWriter) error {
	buffer := make([]byte, 0, 2*batchBytes)
	for i := range t.objects {
		t.mutex.Lock()
		buffer = t.appendFrame(buffer, "ADDED", t.objects[i])
		t.mutex.Unlock()
		if len(buffer) < batchBytes && i+1 < len(t.objects) {
			continue
		}
		if _, err := out.Write(buffer); err != nil {
			return err
		}
		buffer = buffer[:0]
	}
	return nil
}

func (t *resourceTable) watch(out http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	initial := query.Get("sendInitialEvents") == "true"
	since, _ := strconv.ParseInt(query.Get("resourceVersion"), 10, 64)
	if initial && !streamed {
		refuse(out, http.StatusUnprocessableEntity, "Invalid", "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled")
		return
	}
	t.mutex.Lock()
	tooOld := !initial && since < t.newest && t.name != "leases"
	t.mutex.Unlock()
	if tooOld {
		refuse(out, http.StatusGone, "Expired", "too old resource version")
		return
	}
	w := newWatcher()
	version := t.join(w)
	defer t.part(w)
	go func() {
		<-request.Context().Done()
		w.leave()
	}()
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(out)
	if initial {
		if t.sendAll(out) != nil {
			return
		}
		if _, err := out.Write(t.bookmark(version, true)); err != nil {
			return
		}
	}
	w.mutex.Lock()
	w.listing = false
	w.mutex.Unlock()
	stop := t.keepBookmarks(w)
	defer stop()
	for bytes := []byte{}; bytes != nil && flush.Flush() == nil; {
		bytes = w.take(bytes)
		if _, err := out.Write(bytes); err != nil {
			return
		}
	}
}

func (t *resourceTable) keepBookmarks(w *watcher) func() {
	ticker := time.NewTicker(bookmarkEvery)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
				t.mutex.Lock()
				w.addBytes(t.bookmark(versions.Load(), false))
				t.mutex.Unlock()
			case <-done:
				return
			}
		}
	}()
	return func() { ticker.Stop(); close(done) }
}

// list answers a page.
func (t *resourceTable) list(out http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	limit, _ := strconv.Atoi(query.Get("limit"))
	first, _ := strconv.Atoi(query.Get("continue"))
	last := len(t.objects)
	if limit > 0 && first+limit < last {
		last = first + limit
	}
	out.Header().Set("Content-Type", "application/json")
	next := ""
	if last < len(t.objects) {
		next = fmt.Sprintf(`"continue":"%d","remainingItemCount":%d,`, last, len(t.objects)-last)
	}
	kind, apiVersion := t.kindOf()
	buffer := fmt.Appendf(make([]byte, 0, 2*batchBytes), `{"kind":"%sList","apiVersion":%q,"metadata":{%s"resourceVersion":"%d"},"items":[`, kind, apiVersion, next, versions.Load())
	for i := first; i < last; i++ {
		t.mutex.Lock()
		buffer = append(buffer, t.objects[i].json...)
		t.mutex.Unlock()
		if i+1 < last {
			buffer = append(buffer, ',')
		}
		if len(buffer) < batchBytes {
			continue
		}
		if _, err := out.Write(buffer); err != nil {
			return
		}
		buffer = buffer[:0]
	}
	_, _ = out.Write(append(buffer, "]}\n"...))
}
