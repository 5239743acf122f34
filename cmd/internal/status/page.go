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
	// tickEvery is the time between two of what is sent.
	tickEvery = time.Second
	// lingers is how long topics are still looked at after the last one who looked at the page.
	lingers = 15 * time.Second
	// workSpan is what rates of this process are taken over.
	workSpan = 5 * time.Second
)

// page is the page of one process.
type page struct {
	service cli.Service
	since   time.Time
	hub     *hub
	wanted  chan struct{} // somebody looks; capacity 1

	mu      sync.Mutex
	askedAt time.Time // when somebody looked last, beside those with a stream
	cluster cluster
	looks   int           // finished looks at the topics
	looked  chan struct{} // closed and replaced after each

	composing sync.Mutex // guards the rest
	work      window[map[string]work]
	series    ring
	churn     churns
}

// Mount serves the page of a service, where it is configured. It is a [cli.Mount].
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
		work: window[map[string]work]{span: workSpan}, churn: churns{},
	}
	p.publish()
	return p
}

// tick keeps the rates and the series of this process, and sends what has changed.
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

// publish makes the sections anew.
func (p *page) publish() {
	s, c := p.observe()
	p.composing.Lock()
	defer p.composing.Unlock()
	p.hub.setAll(p.compose(s, &c))
}

// observe takes a moment of this process in.
func (p *page) observe() (stages.Snapshot, cluster) {
	p.composing.Lock()
	defer p.composing.Unlock()
	s, c := p.service.Process.Snapshot(), p.known()
	p.work.add(s.Time, workOf(s))
	if p.series.due(s.Time) {
		point := p.point(s, &c)
		p.series.add(s.Time, point)
		p.hub.set("point", point)
	}
	return s, c
}

// known is what the last look at the topics found.
func (p *page) known() cluster {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cluster
}

// gather looks at the topics while somebody looks at the page.
func (p *page) gather(ctx context.Context) {
	g := newGatherer(p.service)
	for {
		for !p.watched() {
			select {
			case <-ctx.Done():
				return
			case <-p.wanted:
			}
		}
		began := time.Now()
		p.found(g.look(ctx))
		rest := time.NewTimer(max(lookEvery, (lookShare-1)*time.Since(began)))
		select {
		case <-ctx.Done():
			rest.Stop()
			return
		case <-rest.C:
		}
	}
}

// found takes the outcome of a look in.
func (p *page) found(c cluster) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cluster = c
	p.looks++
	close(p.looked)
	p.looked = make(chan struct{})
}

// want says that somebody looks.
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

// awaitLook returns when the topics were looked at a moment ago, or ctx ends.
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
