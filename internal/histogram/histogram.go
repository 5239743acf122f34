// Package histogram counts times in buckets, with the histograms of the Prometheus client library.
// Packages observe times with it without depending on the metrics endpoint.
package histogram

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// buckets are bounds for times between 100 µs and 100 s, three per decade: for handling a message,
// a request to a broker, and the delay of a result.
var buckets = []float64{
	1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, .1, .25, .5, 1, 2.5, 5, 10, 25, 50, 100,
}

// Histogram counts times. It is safe for concurrent use.
type Histogram struct {
	of       prometheus.Histogram
	registry *prometheus.Registry // contains only this histogram
}

// New returns an empty histogram.
func New() *Histogram {
	h := &Histogram{
		prometheus.NewHistogram(prometheus.HistogramOpts{Name: "seconds", Buckets: buckets}),
		prometheus.NewRegistry(),
	}
	h.registry.MustRegister(h.of)
	return h
}

// Observe counts a time.
func (h *Histogram) Observe(seconds float64) { h.of.Observe(seconds) }

// Snapshot is the state of a histogram at one moment.
type Snapshot struct {
	Below map[float64]uint64 // for each bound, the number of times that did not exceed it
	Count uint64
	Sum   float64
}

// Snapshot returns the current state.
func (h *Histogram) Snapshot() Snapshot {
	gathered, err := h.registry.Gather()
	if err != nil {
		panic(fmt.Sprintf("histogram: %v", err)) // happens only for invalid labels
	}
	counted := gathered[0].Metric[0].Histogram
	s := Snapshot{
		Below: make(map[float64]uint64, len(buckets)),
		Count: counted.GetSampleCount(),
		Sum:   counted.GetSampleSum(),
	}
	for _, bucket := range counted.Bucket {
		s.Below[bucket.GetUpperBound()] = bucket.GetCumulativeCount()
	}
	return s
}
