package main

import (
	"sync"
	"time"
)

// order says which events to make.
type order struct {
	Rate   int `json:"rate"` // events a second; -1: as many as are taken
	Pods   int `json:"pods"` // shares
	Claims int `json:"claims"`
	Slices int `json:"slices"`
}

// flow makes events as it is told.
type flow struct {
	mutex   sync.Mutex
	changed *sync.Cond
	order   order
	turn    int
	next    [3]int
	cluster cluster
	tables  [3]*resourceTable // pods, claims, slices
}

const tick = 2 * time.Millisecond

func newFlow(c cluster, pods, claims, slices *resourceTable) *flow {
	f := &flow{cluster: c, tables: [3]*resourceTable{pods, claims, slices}}
	f.changed = sync.NewCond(&f.mutex)
	return f
}

func (f *flow) set(o order) {
	f.mutex.Lock()
	f.order = o
	f.mutex.Unlock()
	f.changed.Broadcast()
}

// wait gives the order in force, once there is one.
func (f *flow) wait() order {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for f.order.Rate == 0 {
		f.changed.Wait()
	}
	return f.order
}

// event changes the next object of the kind whose turn it is. Objects are taken in long steps, as changes of a
// cluster come: never neighbours.
func (f *flow) event(o order, now time.Time) {
	shares := [3]int{o.Pods, o.Claims, o.Slices}
	f.turn = (f.turn + 37) % 100
	kind, sum := 0, shares[0]
	for kind < 2 && f.turn >= sum {
		kind++
		sum += shares[kind]
	}
	table := f.tables[kind]
	const step = 7919
	f.next[kind] = (f.next[kind] + step) % len(table.objects)
	// What the gate is asked about stays as it is.
	for kind < 2 && f.next[kind] < f.cluster.claims && f.cluster.stateOf(f.next[kind]) == waiting {
		f.next[kind] = (f.next[kind] + 1) % len(table.objects)
	}
	table.change(f.next[kind], now)
}

func (f *flow) run() {
	began, done, rate := time.Now(), 0, 0
	for {
		o := f.wait()
		now := time.Now()
		if o.Rate != rate {
			began, done, rate = now, 0, o.Rate
		}
		due := 256
		if rate > 0 {
			due = int(now.Sub(began).Seconds()*float64(rate)) - done
		}
		for range due {
			f.event(o, now)
		}
		done += due
		if rate > 0 {
			time.Sleep(tick)
		}
	}
}

// renew keeps every node's Lease young.
func renew(leases *resourceTable) {
	const period = 10 * time.Second
	began, done := time.Now(), 0
	for {
		now := time.Now()
		due := int(now.Sub(began).Seconds()*float64(len(leases.objects))/period.Seconds()) - done
		for k := range due {
			leases.change((done+k)%len(leases.objects), now)
		}
		done += due
		time.Sleep(5 * tick)
	}
}
