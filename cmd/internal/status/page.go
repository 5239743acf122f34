package status

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/stages"
)

const (
	// tickEvery is the time between two updates.
	tickEvery = time.Second
	// lingers is how long topics are still looked at after the last viewer has left.
	lingers = 15 * time.Second
	// workSpan is the time over which rates of this process are measured.
	workSpan = 5 * time.Second
)

// page is the page of one process.
type page struct {
	service cli.Service
	since   time.Time
	hub     *hub
	wanted  chan struct{} // somebody is looking; capacity 1

	mu      sync.Mutex
	askedAt time.Time // when somebody without a stream last looked
	cluster cluster
	looked  chan struct{}      // closed and replaced after each look at the topics
	glance  context.CancelFunc // ends the glance under way; nil = none

	composing sync.Mutex // guards the rest
	work      window[map[string]work]
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
		service: s, since: s.Process.Clock(), hub: newHub(), wanted: make(chan struct{}, 1), looked: make(chan struct{}),
		work: window[map[string]work]{span: workSpan}, past: newCurves(),
	}
	p.publish()
	return p
}

// tick updates the rates and the series of this process, and sends what has changed.
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
	if p.past.minutes.due(s.Time) {
		point := p.point(s, &c)
		p.hub.set("point", point)
		if p.past.add(s.Time, point) {
			p.hub.set("hours", p.past.hours.series())
		}
	}
	return s, c
}

// known is what the last look found in the topics.
func (p *page) known() cluster {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cluster
}

// gather looks at the topics: closely while somebody has the page open, else only for the curves.
func (p *page) gather(ctx context.Context) {
	g := newGatherer(p.service)
	for ctx.Err() == nil {
		began := time.Now()
		var wanted <-chan struct{} // nil = a wanted look comes soon enough
		var c cluster
		var rest time.Duration
		watched := p.watched()
		if watched {
			c = g.look(ctx)
			rest = max(lookEvery, (lookShare-1)*time.Since(began))
		} else {
			c = p.glanceBy(ctx, g)
			rest, wanted = max(glanceEvery, (glanceShare-1)*time.Since(began)), p.wanted
		}
		c.until = p.service.Process.Clock().Add(rest + lookTimeout)
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

// glanceBy glances at the topics until somebody wants a look. It keeps what was known and the glance did not find.
func (p *page) glanceBy(ctx context.Context, g *gatherer) cluster {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.mu.Lock()
	p.glance = cancel
	p.mu.Unlock()
	if p.watched() {
		cancel()
	}
	before := g.last
	found := g.glance(ctx)
	p.mu.Lock()
	p.glance = nil
	p.mu.Unlock()
	if ctx.Err() != nil {
		g.last = before
		return before
	}
	return found
}

// found stores the outcome of a look or a glance.
func (p *page) found(c cluster, look bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cluster = c; look {
		close(p.looked)
		p.looked = make(chan struct{})
	}
}

// want says that somebody is looking: a glance under way gives way to a look.
func (p *page) want() {
	p.mu.Lock()
	p.askedAt = time.Now()
	if p.glance != nil {
		p.glance()
	}
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

// awaitLook returns once a look at the topics is recent, or ctx ends.
func (p *page) awaitLook(ctx context.Context) {
	p.mu.Lock()
	fresh, looked := p.cluster.fresh(p.service.Process.Clock()), p.looked
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
