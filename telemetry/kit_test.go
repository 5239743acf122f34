package telemetry_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/topics"
	"github.com/eerf-stream/eerf/telemetry"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const partitions = 2

// bench is an embedded broker with the topics of a small pipeline.
type bench struct {
	t        *testing.T
	ctx      context.Context
	server   *stagestest.Broker
	broker   *kafka.Client
	settings stages.Settings
	// fetchBytes bounds the fetches of the processes, except for a single message; 0 = the default.
	fetchBytes int
}

func newBench(t *testing.T) *bench {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	server := stagestest.NewBroker(t)
	t.Cleanup(cancel)
	s := stages.Default()
	s.Pipeline.Name, s.Topics.Partitions = "bench", partitions
	s.Events.Label = []string{"y"}
	s.Exploration.Candidates, s.Exploration.Features = 64, 8
	s.Exploration.SampleRate, s.Exploration.MinRows, s.Exploration.CalibrationRows = 0.5, 300, 100
	s.Subsample.CheckpointRows, s.Subsample.CheckpointInterval = 50, 50*time.Millisecond
	s.Featurize.CommitInterval = 50 * time.Millisecond
	s.Train.Interval, s.Train.MinRows = 50*time.Millisecond, 50
	b := &bench{t: t, ctx: ctx, server: server, broker: server.Dial(nil), settings: s}
	if _, err := topics.Create(ctx, b.broker, s.Topics); err != nil {
		t.Fatal(err)
	}
	return b
}

// event is a message of n rows with a time; every tenth row has no label, every eleventh a NaN.
func (b *bench) event(first, n int, at time.Time) pipeline.Record {
	b.t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Float64}, {Name: "b", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	for i := first; i < first+n; i++ {
		x := math.Sin(float64(i) * 1.7)
		builder.Field(1).(*array.Float64Builder).Append(math.Cos(float64(i)))
		if i%11 == 0 {
			builder.Field(0).(*array.Float64Builder).Append(math.NaN())
		} else {
			builder.Field(0).(*array.Float64Builder).Append(x)
		}
		if i%10 == 0 {
			builder.Field(2).AppendNull()
		} else {
			builder.Field(2).(*array.Float64Builder).Append(x * x)
		}
	}
	rows := builder.NewRecord()
	defer rows.Release()
	value, err := arrowio.EncodeStream(schema, rows)
	if err != nil {
		b.t.Fatal(err)
	}
	return pipeline.Record{Key: []byte(fmt.Sprint(first)), Value: value, Time: at}
}

// send writes records to a partition of events and returns their bytes.
func (b *bench) send(partition int, records ...pipeline.Record) (bytes int64) {
	b.t.Helper()
	if _, err := b.broker.Produce(b.ctx, b.settings.Topics.Events, partition, records); err != nil {
		b.t.Fatal(err)
	}
	for i := range records {
		bytes += int64(records[i].Size())
	}
	return bytes
}

// fill writes the given number of messages of 50 rows to each partition.
func (b *bench) fill(messages int) (bytes int64) {
	b.t.Helper()
	for partition := range partitions {
		for i := range messages {
			bytes += b.send(partition, b.event(i*50+partition*100_000, 50, time.Now()))
		}
	}
	return bytes
}

// compareClasses writes blocks of live errors of two classes, newer than the blocks of the pipeline
// itself.
func (b *bench) compareClasses() {
	b.t.Helper()
	promised, percent := 0.4, 40.0
	for i := range int64(5) {
		at := time.Now().Add(time.Duration(i) * time.Hour)
		value, err := wire.EncodeBlock(&wire.Block{
			Pipeline: "bench", Partition: 1, SourceLog: "another", FirstOffset: i, NextOffset: i + 1, From: at, To: at,
			Models: []wire.LiveSums{{
				Model: "m-1", Measure: wire.LiveMisclassification, Promised: &promised, PromisedError: &percent, PromisedRows: 500,
				Rows: 250, Loss: 100, Squares: 100, Wrong: 100, Classes: []int64{150, 100},
				Scores: [2][]wire.ScoreBin{{{3, 150}}, {{2, 50}, {4, 50}}},
			}},
		})
		if err != nil {
			b.t.Fatal(err)
		}
		if _, err := b.broker.Produce(b.ctx, b.settings.Topics.Live, 1, []pipeline.Record{
			{Key: []byte("bench"), Value: value, Time: time.Now()},
		}); err != nil {
			b.t.Fatal(err)
		}
	}
}

// process runs stages and serves their metrics over HTTP.
type process struct {
	*stages.Process
	t        *testing.T
	registry *prometheus.Registry
	url      string
	client   *http.Client
	stop     func()
}

// run starts a process that runs until the end of the test or until it is stopped. wrap may insert
// a wrapper between it and the broker.
func (b *bench) run(wrap func(pipeline.Broker) pipeline.Broker, names ...meter.Stage) *process {
	b.t.Helper()
	var broker pipeline.Broker = b.server.Dial(func(c *kafka.Config) {
		c.FetchMaxBytes = cmp.Or(b.fetchBytes, c.FetchMaxBytes)
	})
	if wrap != nil {
		broker = wrap(broker)
	}
	p := &process{Process: stages.NewProcess(pipeline.Observe(broker), b.settings, zap.NewNop()), t: b.t}
	p.Env.DrainTimeout = 5 * time.Second
	p.registry = telemetry.NewRegistry(p.Process, telemetry.Process{
		Version: "v1", Revision: "abc", MemoryLimit: 1 << 30, MemoryWorstCase: 1 << 29,
	})
	server := httptest.NewServer(telemetry.Handler(p.registry, zap.NewNop()))
	p.url, p.client = server.URL, server.Client()
	ctx, cancel := context.WithCancel(b.ctx)
	done := make(chan error, 1)
	go func() { done <- p.Process.Run(ctx, names...) }()
	p.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			b.t.Error(err)
		}
		server.Close()
	})
	b.t.Cleanup(p.stop)
	return p
}

// families are the metrics of a process by name.
type families map[string][]metric

// metric is one metric of a family.
type metric struct {
	kind   string
	labels []string // name=value
	value  float64  // sample value; the count for a histogram
}

// get requests the metrics as a metrics server does.
func (p *process) get() io.ReadCloser {
	p.t.Helper()
	response, err := p.client.Get(p.url)
	if err != nil {
		p.t.Fatal(err)
	}
	return response.Body
}

func (p *process) scrape() families {
	p.t.Helper()
	gathered, err := p.registry.Gather()
	if err != nil {
		p.t.Fatal(err)
	}
	m := families{}
	for _, family := range gathered {
		for _, one := range family.GetMetric() {
			is := metric{kind: strings.ToLower(family.GetType().String()),
				value: one.GetCounter().GetValue() + one.GetGauge().GetValue() + float64(one.GetHistogram().GetSampleCount())}
			for _, label := range one.GetLabel() {
				is.labels = append(is.labels, label.GetName()+"="+label.GetValue())
			}
			m[family.GetName()] = append(m[family.GetName()], is)
		}
	}
	return m
}

// sum adds up the values of the metrics in a family that have the labels.
func sum(m families, name string, labels ...string) (total float64, found bool) {
	for _, one := range m[name] {
		lacks := func(label string) bool { return !slices.Contains(one.labels, label) }
		if !slices.ContainsFunc(labels, lacks) {
			found = true
			total += one.value
		}
	}
	return total, found
}

// until waits until the condition accepts the metrics.
func (p *process) until(what string, ok func(m families) bool) families {
	p.t.Helper()
	var m families
	stagestest.Until(p.t, what, func() bool {
		m = p.scrape()
		return ok(m)
	})
	return m
}

// is checks that a metric has this value.
func is(want float64, name string, labels ...string) func(families) bool {
	return func(m families) bool {
		have, found := sum(m, name, labels...)
		return found && have == want
	}
}

// gate returns a broker in front of another one that holds back messages to a topic until it is
// open, except for the first one of a partition and tombstones.
func gate(topic string, open <-chan struct{}) func(pipeline.Broker) pipeline.Broker {
	var through sync.Map
	return func(broker pipeline.Broker) pipeline.Broker {
		return &pipelinetest.Between{
			Broker: broker,
			OnProduce: func(ctx context.Context, to string, partition int, records []pipeline.Record) error {
				if to != topic || records[0].Value == nil {
					return nil
				}
				if _, passed := through.LoadOrStore(partition, true); !passed {
					return nil
				}
				select {
				case <-open:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			},
		}
	}
}
