package status

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
)

const (
	// tickEvery is the interval between updates.
	tickEvery = time.Second
	// lingers is how long topics are polled after the last viewer has left.
	lingers = 15 * time.Second
	// workSpan is the time over which rates of this process are measured.
	workSpan = 5 * time.Second
)

// page is the page of one process.
type page struct {
	service cli.Service
	since   time.Time
	hub     *hub
	wanted  chan struct{} // signals a viewer; capacity 1

	mu      sync.Mutex
	askedAt time.Time // last request without a stream
	cluster cluster
	looked  chan struct{} // closed and replaced after each poll for a viewer

	composing sync.Mutex // guards the fields below
	work      window[map[meter.Stage]work]
	past      curves
}

// Mount serves the page of a service if it is configured. It is a [cli.Mount].
func Mount(mux *http.ServeMux, s cli.Service) (end func()) {
	if !s.Config.Status.Enabled {
		return nil
	}
	p := newPage(s)
	p.register(mux)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { p.tick(ctx) })
	running.Go(func() { p.gather(ctx) })
	return func() {
		stop()
		running.Wait()
	}
}

func newPage(s cli.Service) *page {
	p := &page{
		service: s, since: s.Process.Env.Clock(), hub: newHub(), wanted: make(chan struct{}, 1), looked: make(chan struct{}),
		work: window[map[meter.Stage]work]{span: workSpan},
	}
	p.publish()
	return p
}

// tick updates the rates and the series of this process, and sends changes.
func (p *page) tick(ctx context.Context) {
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if p.watched() {
				p.publish()
			} else {
				p.observe()
			}
		}
	}
}

// publish updates the sections.
func (p *page) publish() {
	s, c := p.observe()
	p.composing.Lock()
	defer p.composing.Unlock()
	p.hub.setAll(p.compose(s, &c))
}

// observe records the state of this process.
func (p *page) observe() (stages.Snapshot, cluster) {
	p.composing.Lock()
	defer p.composing.Unlock()
	s, c := p.service.Process.Snapshot(), p.known()
	p.work.add(s.Time, workOf(s))
	if p.past.due(s.Time) {
		point := p.point(s, &c)
		p.past.add(s.Time, point)
		p.hub.set("point", point)
	}
	return s, c
}

// known returns the result of the last poll.
func (p *page) known() cluster {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cluster
}

// gather polls the topics: all of them while somebody has the page open, else rarely and only for
// the curves.
func (p *page) gather(ctx context.Context) {
	g := newGatherer(p.service)
	for ctx.Err() == nil {
		began, watched := time.Now(), p.watched()
		c := g.look(ctx, watched)
		rest := max(lookEvery, (lookShare-1)*time.Since(began))
		wanted := p.wanted
		if watched {
			wanted = nil // the next poll comes soon enough
		} else {
			rest = max(idleEvery, (idleShare-1)*time.Since(began))
		}
		c.until = p.service.Process.Env.Clock().Add(rest + lookTimeout)
		p.found(c, watched)
		timer := time.NewTimer(rest)
		select {
		case <-ctx.Done():
		case <-wanted:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// found stores the result of a poll.
func (p *page) found(c cluster, watched bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cluster = c
	if watched {
		close(p.looked)
		p.looked = make(chan struct{})
	}
}

// want records that somebody views the page.
func (p *page) want() {
	p.mu.Lock()
	p.askedAt = time.Now()
	p.mu.Unlock()
	select {
	case p.wanted <- struct{}{}:
	default:
	}
}

func (p *page) watched() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hub.streams() > 0 || !p.askedAt.IsZero() && time.Since(p.askedAt) < lingers
}

// awaitLook returns once the last poll of the topics is recent, or ctx ends.
func (p *page) awaitLook(ctx context.Context) {
	p.mu.Lock()
	fresh, looked := p.cluster.fresh(p.service.Process.Env.Clock()), p.looked
	p.mu.Unlock()
	p.want()
	if fresh {
		return
	}
	select {
	case <-ctx.Done():
	case <-looked:
	}
}
