package meter

import (
	"sync/atomic"
	"time"

	"github.com/eerf-stream/eerf/internal/histogram"
)

// The endpoints for requests over HTTP, in the order of [Endpoints].
const (
	EndpointPredict = iota
	EndpointFeatures
	EndpointInfer
	endpoints // their number
)

// Endpoints returns the names of the endpoints that a process serves.
func Endpoints() []string { return []string{"predict", "features", "infer"} }

// The outcomes of a request, in the order of [Outcomes].
const (
	Answered     = iota
	Invalid      // not rows, or not rows of the feature set
	TooLarge     // over a limit
	Unauthorized // without the token
	Busy         // no room, or no slot in time
	Unavailable  // no pair yet, or none with a model
	Failed       // an internal error, or a disconnected client
	outcomes     // their number
)

// Outcomes returns the names of the outcomes of a request.
func Outcomes() []string {
	return []string{"answered", "invalid", "too_large", "unauthorized", "busy", "unavailable", "failed"}
}

// Serving counts requests over HTTP. It is safe for concurrent use and takes no lock.
type Serving struct {
	requests [endpoints][outcomes]atomic.Int64
	rows     [endpoints]atomic.Int64
	rejected [endpoints]atomic.Int64
	swaps    atomic.Int64
	waiting  atomic.Pointer[string]
	inFlight atomic.Int64
	times    [endpoints]*histogram.Histogram
}

func newServing() *Serving {
	s := &Serving{}
	for i := range s.times {
		s.times[i] = histogram.New()
	}
	return s
}

// Begin counts a request as in progress until [Serving.End].
func (s *Serving) Begin() { s.inFlight.Add(1) }

// End counts the outcome of a request, its answered rows and its rejected ones.
func (s *Serving) End(endpoint, outcome int, start time.Time, rows, rejected int) {
	s.inFlight.Add(-1)
	s.requests[endpoint][outcome].Add(1)
	if outcome == Answered {
		s.rows[endpoint].Add(int64(rows))
		s.rejected[endpoint].Add(int64(rejected))
		s.times[endpoint].Observe(time.Since(start).Seconds())
	}
}

// Swapped counts a new pair of feature set and model.
func (s *Serving) Swapped() { s.swaps.Add(1) }

// Waits records why the process does not serve the current set and model; empty if it does.
func (s *Serving) Waits(why string) { s.waiting.Store(&why) }

// ServingSnapshot holds the requests that a process has received so far.
type ServingSnapshot struct {
	Requests map[string]map[string]int64 // by endpoint and outcome
	Rows     map[string]int64            // answered, by endpoint
	Rejected map[string]int64
	Seconds  map[string]histogram.Snapshot // of answered requests, by endpoint
	Swaps    int64
	Waiting  string // why the current set and model are not served
	InFlight int64
}

// Snapshot returns the counts so far.
func (s *Serving) Snapshot() ServingSnapshot {
	now := ServingSnapshot{
		Requests: map[string]map[string]int64{},
		Rows:     map[string]int64{},
		Rejected: map[string]int64{},
		Seconds:  map[string]histogram.Snapshot{},
		Swaps:    s.swaps.Load(),
		InFlight: s.inFlight.Load(),
	}
	if why := s.waiting.Load(); why != nil {
		now.Waiting = *why
	}
	for i, endpoint := range Endpoints() {
		now.Requests[endpoint] = map[string]int64{}
		for j, outcome := range Outcomes() {
			now.Requests[endpoint][outcome] = s.requests[i][j].Load()
		}
		now.Rows[endpoint], now.Rejected[endpoint] = s.rows[i].Load(), s.rejected[i].Load()
		now.Seconds[endpoint] = s.times[i].Snapshot()
	}
	return now
}

// Serving returns the counts of requests over HTTP.
func (m *Meter) Serving() *Serving { return m.serving }
