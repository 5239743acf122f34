package kafka

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// pool is the memory of all fetches of a client, in two accounts: one for data and one for the
// project's own state, so that holders of data may wait for state. The package documentation
// explains why it cannot deadlock.
type pool struct {
	data, control account
}

func newPool(limit int64, budget int) *pool {
	p := &pool{}
	p.control.limit = max(worstFetch(budget), limit/4)
	p.data.limit = limit - p.control.limit
	return p
}

// account returns the account for the fetches of a context.
func (p *pool) account(ctx context.Context) *account {
	if pipeline.IsForState(ctx) {
		return &p.control
	}
	return &p.data
}

// hold raises the limits so that fetches within a budget fit; the budget may come from another
// process's plan.
func (p *pool) hold(budget int) {
	for _, a := range []*account{&p.data, &p.control} {
		a.mu.Lock()
		a.limit = max(a.limit, worstFetch(budget))
		a.wake()
		a.mu.Unlock()
	}
}

func (p *pool) stats() pipeline.MemoryStats {
	var s pipeline.MemoryStats
	for _, a := range []*account{&p.data, &p.control} {
		a.mu.Lock()
		s.Used += a.used
		s.Limit += a.limit
		s.Peak += a.peak
		s.Waiting += a.waiting.Len()
		a.mu.Unlock()
	}
	return s
}

// patience is how long free memory is reserved for the first claim in line if it is too little for
// it. Then the other claims may take it for the same time, and so on. So neither a large claim nor
// memory that is never released blocks all claims.
const patience = time.Second

// account is a limited number of bytes. Claims are served in order of arrival, except as patience
// permits.
type account struct {
	mu      sync.Mutex // guards all fields
	limit   int64
	used    int64
	peak    int64
	waiting list.List // of *claim
}

// claim is a waiting request for memory.
type claim struct {
	bytes   int64
	since   time.Time
	granted chan struct{}
}

// try takes bytes if they are free and no claim waits; otherwise it returns nil.
func (a *account) try(bytes int64) *grant {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.free(bytes) {
		return nil
	}
	a.take(bytes)
	return &grant{of: a, bytes: bytes}
}

// wait takes bytes as soon as they are free. The caller must hold no memory.
func (a *account) wait(ctx context.Context, bytes int64) (*grant, error) {
	a.mu.Lock()
	if bytes > a.limit {
		panic(fmt.Sprintf("kafka: claim of %d bytes exceeds the pool of %d", bytes, a.limit))
	}
	if a.free(bytes) {
		a.take(bytes)
		a.mu.Unlock()
		return &grant{of: a, bytes: bytes}, nil
	}
	c := &claim{bytes, time.Now(), make(chan struct{})}
	place := a.waiting.PushBack(c)
	a.mu.Unlock()
	turn := time.NewTicker(patience)
	defer turn.Stop()
	for {
		select {
		case <-c.granted:
			return &grant{of: a, bytes: bytes}, nil
		case <-turn.C:
			a.mu.Lock()
			a.wake()
			a.mu.Unlock()
			continue
		case <-ctx.Done():
		}
		a.leave(place)
		return nil, ctx.Err()
	}
}

// leave removes a claim from the queue.
func (a *account) leave(place *list.Element) {
	c := place.Value.(*claim)
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-c.granted: // granted at the last moment
		a.used -= c.bytes
	default:
		a.waiting.Remove(place)
	}
	a.wake()
}

// ample reports whether at most half of the account is used and no claim waits.
func (a *account) ample() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.waiting.Len() == 0 && a.used <= a.limit/2
}

// The methods below are called with mu locked.

func (a *account) free(bytes int64) bool { return !a.kept() && bytes <= a.limit-a.used }

// kept reports whether free memory is reserved for the first claim in line.
func (a *account) kept() bool {
	first := a.waiting.Front()
	return first != nil && time.Since(first.Value.(*claim).since)/patience%2 == 0
}

func (a *account) take(bytes int64) {
	a.used += bytes
	a.peak = max(a.peak, a.used)
}

// wake serves waiting claims, oldest first.
func (a *account) wake() {
	for place := a.waiting.Front(); place != nil; {
		c, next := place.Value.(*claim), place.Next()
		if c.bytes <= a.limit-a.used {
			a.take(c.bytes)
			a.waiting.Remove(place)
			close(c.granted)
		} else if a.kept() {
			return
		}
		place = next
	}
}

// grant is memory that was taken. One goroutine at a time uses it.
type grant struct {
	of    *account
	bytes int64
}

// extend takes more if it is free.
func (g *grant) extend(to int64) bool {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	if to > g.bytes {
		if !g.of.free(to - g.bytes) {
			return false
		}
		g.of.take(to - g.bytes)
		g.bytes = to
	}
	return true
}

// shrink releases the bytes above to.
func (g *grant) shrink(to int64) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	if to < g.bytes {
		g.of.used -= g.bytes - to
		g.bytes = to
		g.of.wake()
	}
}

// release releases all bytes. A nil grant holds no bytes.
func (g *grant) release() {
	if g != nil {
		g.shrink(0)
	}
}

// size is the limit of the account.
func (a *account) size() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.limit
}
