package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Numbers of one width, so that a new one can be put in the place of the old.
const (
	firstVersion    = "1000000000"
	firstGeneration = 100000
	leaseTime       = "2006-01-02T15:04:05.000000Z"
)

var (
	versions   atomic.Int64 // the newest resourceVersion
	leaseEpoch = time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
)

// An object as an API server sends it, without kind and apiVersion. Places are -1 where there is no such field.
type stored struct {
	json                                     []byte
	version, generation, restarts, renewTime int
}

// A resource: its objects and who watches them.
type resourceTable struct {
	name, head string // head: {"kind":…,"apiVersion":…,
	mutex      sync.Mutex
	objects    []*stored
	others     []*stored // another state of the same objects; nil where there is none
	newest     int64     // version of the last event
	watchers   map[*watcher]bool
	sent       atomic.Int64
}

func (s *stored) put(at int, value string) {
	if at >= 0 {
		copy(s.json[at:], value)
	}
}

func placeOf(text []byte, field, value string) int {
	at := bytes.Index(text, []byte(`"`+field+`":`+value))
	if at < 0 {
		return -1
	}
	at += len(field) + 3
	if value[0] == '"' {
		at++
	}
	return at
}

func store(object any) (*stored, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	s := &stored{json: text, version: placeOf(text, "resourceVersion", `"`+firstVersion+`"`), generation: placeOf(text, "generation", fmt.Sprint(firstGeneration)),
		restarts: placeOf(text, "restartCount", "0"), renewTime: placeOf(text, "renewTime", `"`+leaseEpoch.Format(leaseTime)+`"`)}
	if s.version < 0 {
		return nil, fmt.Errorf("no resourceVersion in %.200s", text)
	}
	return s, nil
}

// newTable makes count objects, on all processors.
func newTable(name, kind, apiVersion string, count int, make_ func(i int) (any, error)) (*resourceTable, error) {
	table := &resourceTable{name: name, head: fmt.Sprintf(`{"kind":%q,"apiVersion":%q,`, kind, apiVersion), watchers: map[*watcher]bool{}}
	var err error
	table.objects, err = makeAll(count, make_)
	return table, err
}

func makeAll(count int, make_ func(i int) (any, error)) ([]*stored, error) {
	objects := make([]*stored, count)
	var first error
	var mutex sync.Mutex
	var group sync.WaitGroup
	for part := range runtime.NumCPU() {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := part; i < count; i += runtime.NumCPU() {
				object, err := make_(i)
				if err == nil && object != nil {
					objects[i], err = store(object)
				}
				if err != nil {
					mutex.Lock()
					first = err
					mutex.Unlock()
					return
				}
			}
		}()
	}
	group.Wait()
	return objects, first
}

// appendFrame writes a frame of a watch.
func (t *resourceTable) appendFrame(out []byte, kind string, object *stored) []byte {
	out = append(out, `{"type":"`...)
	out = append(out, kind...)
	out = append(out, `","object":`...)
	out = append(out, t.head...)
	out = append(out, object.json[1:]...)
	return append(out, "}\n"...)
}

func (t *resourceTable) bookmark(version int64, initial bool) []byte {
	note := `{}`
	if initial {
		note = `{"k8s.io/initial-events-end":"true"}`
	}
	return fmt.Appendf(nil, `{"type":"BOOKMARK","object":%s"metadata":{"resourceVersion":"%d","creationTimestamp":null,"annotations":%s}}}`+"\n", t.head, version, note)
}

// change makes a new version of an object and tells the watchers.
func (t *resourceTable) change(i int, now time.Time) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	object := t.objects[i]
	if t.others != nil && t.others[i] != nil {
		t.objects[i], t.others[i] = t.others[i], object
		object = t.objects[i]
	}
	t.newest = versions.Add(1)
	object.put(object.version, fmt.Sprint(t.newest))
	if object.generation >= 0 {
		object.put(object.generation, fmt.Sprint(firstGeneration+t.newest%(9*firstGeneration)))
	}
	if object.restarts >= 0 {
		object.put(object.restarts, fmt.Sprint(t.newest%10))
	}
	if object.renewTime >= 0 {
		object.put(object.renewTime, now.UTC().Format(leaseTime))
	}
	for w := range t.watchers {
		w.add(t, object)
	}
	t.sent.Add(1)
}
