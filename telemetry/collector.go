package telemetry

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/eerf-stream/eerf/internal/histogram"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages"
)

// Process says of a process what its stages do not know.
type Process struct {
	Version  string
	Revision string // of the source; empty = unknown

	MemoryLimit     int64 // bytes that it may take; 0 = no limit
	MemoryWorstCase int64 // bytes that it may need at the worst, by its configuration; 0 = not known
}

// collector turns what the runtime of a process says into metrics, each time it is asked.
type collector struct {
	runtime *stages.Runtime
	process Process

	mu    sync.Mutex // guards churn
	churn churn
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range definitions {
		ch <- desc
	}
}

// Collect implements [prometheus.Collector].
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	out := sink(ch)
	now := c.runtime.Snapshot()
	out.totals(now.Totals)
	out.traffic(now.Totals, now.Activity)
	out.budgets(now.Activity.Budgets)
	out.partitions(now.Partitions)
	out.groups(now.Groups)
	if reporter, ok := c.runtime.Broker.(pipeline.RequestReporter); ok {
		out.requests(reporter.Requests())
	}
	out.exploration(now.State, now.Activity.MissingRows)
	ratio, known := c.churnOf(now.State)
	out.featureSet(now.State, ratio, known)
	out.model(now.Activity.Model)
	out.challenges(now.Activity.Challenges)
	out.process(c.process)
}

// churnOf is [churn.of], for several scrapes at a time.
func (c *collector) churnOf(state stages.State) (ratio float64, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.churn.of(state)
}

// sink takes metrics.
type sink chan<- prometheus.Metric

func (s sink) gauge(desc *prometheus.Desc, value float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

func (s sink) counter(desc *prometheus.Desc, value int64, labels ...string) {
	s <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value), labels...)
}

// seconds is a counter of time.
func (s sink) seconds(desc *prometheus.Desc, value float64, labels ...string) {
	s <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, value, labels...)
}

// time is a gauge of seconds since 1970; a zero time is not sent.
func (s sink) time(desc *prometheus.Desc, t time.Time, labels ...string) {
	if !t.IsZero() {
		s.gauge(desc, float64(t.UnixMilli())/1000, labels...)
	}
}

func (s sink) histogram(desc *prometheus.Desc, h histogram.Snapshot, labels ...string) {
	buckets := make(map[float64]uint64, len(h.Bounds))
	for i, bound := range h.Bounds {
		buckets[bound] = h.Below[i]
	}
	s <- prometheus.MustNewConstHistogram(desc, h.Count, h.Sum, buckets, labels...)
}

func (s sink) process(p Process) {
	s.gauge(buildInfo, 1, p.Version, p.Revision, scoring.Kernel())
	if p.MemoryLimit > 0 {
		s.gauge(memoryLimit, float64(p.MemoryLimit))
	}
	if p.MemoryWorstCase > 0 {
		s.gauge(memoryWorstCase, float64(p.MemoryWorstCase))
	}
}

// partitions tells of lag and checkpoints.
func (s sink) partitions(statuses []stages.PartitionStatus) {
	for _, p := range statuses {
		partition := strconv.Itoa(p.Partition)
		s.gauge(nextOffset, float64(p.NextOffset), p.Stage, partition)
		if !p.FetchedAt.IsZero() { // before, nothing is known
			s.gauge(lagSeconds, p.Lag.Seconds(), p.Stage, partition)
		}
		if p.EndOffset > 0 || !p.FetchedAt.IsZero() {
			s.gauge(lagMessages, float64(p.LagMessages()), p.Stage, partition)
			s.gauge(lagRows, p.LagRows, p.Stage, partition)
		}
		s.time(fetchTimestamp, p.FetchedAt, p.Stage, partition)
		if p.Stage == stages.StageSubsample {
			s.time(checkpointTimestamp, p.CheckpointAt, partition)
			s.gauge(unsavedRows, float64(p.UnsavedRows), partition)
		}
	}
}

func (s sink) groups(groups map[string]pipeline.GroupStatus) {
	for stage, group := range groups {
		joined := 0.0
		if group.Joined {
			joined = 1
		}
		s.gauge(groupJoined, joined, stage)
		s.counter(groupJoinsTotal, group.Joins, stage)
		s.gauge(ownedPartitions, float64(len(group.Partitions)), stage)
	}
}

func (s sink) requests(requests []pipeline.RequestStats) {
	for _, r := range requests {
		s.counter(brokerRequestsTotal, int64(r.OK), r.Operation, "ok")
		s.counter(brokerRequestsTotal, int64(r.Refused), r.Operation, "refused")
		s.counter(brokerRequestsTotal, int64(r.Failed), r.Operation, "retried")
		s.histogram(brokerRequestSeconds, r.Seconds, r.Operation)
	}
}
