package telemetry

import (
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/histogram"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// namespace is the prefix of every metric name of this module.
const namespace = "eerf_"

// metric is a row of the table of metrics.
type metric struct {
	name   string // without the namespace; ends with the unit, for a counter with total
	kind   string
	unit   string // seconds, bytes or ratio; empty = a plain number
	labels string // names separated by spaces, in the order of the values
	help   string
	source source
}

// Kinds of metrics.
const (
	counter    = "counter"
	gauge      = "gauge"
	histograms = "histogram"
)

// source sends the values of a metric.
type source func(r *reading, out output)

// reading is the state behind the values, read once for all metrics.
type reading struct {
	stages.Snapshot
	requests []pipeline.RequestStats
	fetches  pipeline.MemoryStats
	writers  []uint64 // opened, by the index of their protection in pipeline.Protections
	process  Process
	topics   state.Config
	live     string           // topic of live errors
	set      *wire.FeatureSet // the current one; nil = none
}

// Process holds the facts of a process that its stages do not know.
type Process struct {
	Version  string
	Revision string // of the source code; empty = unknown

	MemoryLimit     int64 // maximum memory; 0 = no limit
	MemoryWorstCase int64 // worst case by its configuration; 0 = unknown
}

// NewRegistry returns a registry of the metrics of a process: the metrics of the stages, with the
// label pipeline, and the metrics of the Go runtime (including memory and its limit) and of the
// process, named as by the client library.
func NewRegistry(runtime *stages.Process, process Process) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	labels := prometheus.Labels{"pipeline": runtime.Settings.Pipeline.Name}
	c := &collector{runtime: runtime, process: process}
	for _, m := range metrics {
		c.descs = append(c.descs, prometheus.NewDesc(namespace+m.name, m.help, strings.Fields(m.labels), nil))
	}
	prometheus.WrapRegistererWith(labels, registry).MustRegister(c)
	registry.MustRegister(
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.MetricsMemory)),
	)
	return registry
}

// maxScrapes limits concurrent scrapes.
const maxScrapes = 4

// Handler serves the metrics of a registry in the text format of Prometheus or in OpenMetrics, as
// requested.
func Handler(registry *prometheus.Registry, logger *zap.Logger) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog:          zap.NewStdLog(logger.Named("metrics")),
		EnableOpenMetrics: true,
		// Each scrape holds the whole text in memory, which grows with the partitions.
		MaxRequestsInFlight: maxScrapes,
	})
}

// collector converts the reports of a process to metrics on every request.
type collector struct {
	runtime *stages.Process
	process Process
	descs   []*prometheus.Desc // of metrics
}

// Describe implements [prometheus.Collector].
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		ch <- desc
	}
}

// Collect implements [prometheus.Collector].
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	r := &reading{
		Snapshot: c.runtime.Snapshot(),
		process:  c.process,
		topics:   c.runtime.Settings.State(),
		live:     c.runtime.Settings.Topics.Live,
	}
	if broker, ok := c.runtime.Env.Broker.(*pipeline.Observed); ok {
		r.requests, r.fetches, r.writers = broker.Requests(), broker.FetchMemory(), broker.WritersOpened()
	}
	if current := r.State.CurrentSet(); current != nil {
		r.set = current.Set
	}
	for i, m := range metrics {
		kind := prometheus.GaugeValue
		if m.kind == counter {
			kind = prometheus.CounterValue
		}
		m.source(r, output{desc: c.descs[i], kind: kind, ch: ch})
	}
}

// output receives the values of a metric, each with the values of its labels.
type output struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	ch   chan<- prometheus.Metric
	// stage is the value of the label stage, which precedes all others; empty = the metric has no
	// such label.
	stage meter.Stage
}

// of returns an output for the values of a stage.
func (o output) of(stage meter.Stage) output {
	o.stage = stage
	return o
}

// labels returns the values of all labels.
func (o output) labels(others []string) []string {
	if o.stage == "" {
		return others
	}
	return append([]string{string(o.stage)}, others...)
}

// unknown is a value that is not sent.
var unknown = math.NaN()

func (o output) value(v float64, labels ...string) {
	if !math.IsNaN(v) {
		o.ch <- prometheus.MustNewConstMetric(o.desc, o.kind, v, o.labels(labels)...)
	}
}

func (o output) count(n int64, labels ...string) { o.value(float64(n), labels...) }

// outcomes sends the outcomes that all stages have.
func (o output) outcomes(used, undecodable int64) {
	o.count(used, "used")
	o.count(undecodable, "undecodable")
}

// events sends the outcomes of the messages of stages that read events.
func (o output) events(messages, undecodable, tombstones int64) {
	o.outcomes(messages-undecodable-tombstones, undecodable)
	o.count(tombstones, "tombstone")
}

func (o output) times(h histogram.Snapshot, labels ...string) {
	o.ch <- prometheus.MustNewConstHistogram(o.desc, h.Count, h.Sum, h.Below, o.labels(labels)...)
}

// where returns v if it is known, otherwise unknown.
func where(known bool, v float64) float64 {
	if !known {
		return unknown
	}
	return v
}

// truth is 1 for true.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// timestamp is a time in seconds since 1970; the zero time is unknown.
func timestamp(t time.Time) float64 { return where(!t.IsZero(), float64(t.UnixMilli())/1000) }

// figure is a number; nil is unknown.
func figure(v *float64) float64 {
	if v == nil {
		return unknown
	}
	return *v
}

// ratio is a share of percent; nil is unknown.
func ratio(percent *float64) float64 {
	if percent == nil {
		return unknown
	}
	return *percent / 100
}
