package stages

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/embedded"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/scoring"
)

// The events that are measured: 77 float32 and a label, in messages of 1024 rows.
const (
	benchDim      = 77
	benchRows     = 1024
	benchFeatures = 500
)

// benchShapes are the ways in which an event holds its numbers.
var benchShapes = []string{"columns", "list"}

// benchSettings explore as few candidates as there are features: which ones are kept does not matter here.
func benchSettings(shape string) Settings {
	s := Default()
	s.Pipeline.Name = "bench"
	s.Topics.Partitions = 1
	s.Events.Label, s.Events.Task = []string{"y"}, "regression"
	if shape == "list" {
		s.Events.Clip = 0
	}
	s.Exploration.Candidates, s.Exploration.Features = benchFeatures, benchFeatures
	s.Exploration.Criterion = scoring.Correlation
	s.Exploration.SampleRate, s.Exploration.SampleRows = 1, 0
	s.Exploration.CalibrationRows, s.Exploration.Sigma = benchRows, 8
	return s
}

// benchEvents are rows of the shape.
func benchEvents(b testing.TB, shape string, rows int) arrow.Record {
	b.Helper()
	float, label := arrow.PrimitiveTypes.Float32, arrow.Field{Name: "y", Type: arrow.PrimitiveTypes.Float32}
	fields := []arrow.Field{{Name: "x", Type: arrow.FixedSizeListOf(benchDim, float)}, label}
	if shape == "columns" {
		fields = fields[:0]
		for j := range benchDim {
			fields = append(fields, arrow.Field{Name: fmt.Sprintf("x%02d", j), Type: float})
		}
		fields = append(fields, label)
	}
	build := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer build.Release()
	rng := rand.New(rand.NewPCG(1, 2))
	for range rows {
		if list, ok := build.Field(0).(*array.FixedSizeListBuilder); ok {
			list.Append(true)
		}
		for j := range benchDim {
			to := build.Field(min(j, len(fields)-1))
			if list, ok := build.Field(0).(*array.FixedSizeListBuilder); ok {
				to = list.ValueBuilder()
			}
			to.(*array.Float32Builder).Append(float32(3 + 2*rng.NormFloat64()))
		}
		build.Field(len(fields) - 1).(*array.Float32Builder).Append(float32(rng.NormFloat64()))
	}
	rec := build.NewRecord()
	b.Cleanup(rec.Release)
	return rec
}

// brokerBench is an embedded broker with messages of events.
type brokerBench struct {
	*testing.B
	settings Settings
	server   *embedded.Broker
	client   *kafka.Client
	watch    *Watch
	rows     arrow.Record
	messages int64
	topics   int // made so far
}

// newBrokerBench starts a broker and writes the messages of events.
func newBrokerBench(b *testing.B, shape string, messages int64) *brokerBench {
	b.Helper()
	server, err := embedded.Start(embedded.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = server.Close() })
	config := kafka.Config{Brokers: server.Addrs()}
	client, err := kafka.New(config, zap.NewNop())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close() })
	k := &brokerBench{B: b, server: server, settings: benchSettings(shape), client: client, rows: benchEvents(b, shape, benchRows), messages: messages}
	if _, err := CreateTopics(b.Context(), client, k.settings.Topics); err != nil {
		b.Fatal(err)
	}
	record := pipeline.Record{Key: []byte("key"), Value: message(b, k.rows)}
	for range messages {
		k.produce(k.settings.Topics.Events, record)
	}
	return k
}

func (k *brokerBench) produce(topic string, records ...pipeline.Record) {
	k.Helper()
	if _, err := k.client.Produce(k.Context(), topic, 0, records); err != nil {
		k.Fatal(err)
	}
}

// follow starts a watch; it comes after what is on its topics.
func (k *brokerBench) follow() {
	k.watch = NewWatch(k.client, zap.NewNop(), k.settings.Pipeline.Name, k.settings.Topics)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- k.watch.Run(ctx) }()
	k.Cleanup(func() {
		cancel()
		<-done
	})
}

// publishSet puts a feature set of the events in use.
func (k *brokerBench) publishSet() *wire.FeatureSet {
	k.Helper()
	set := explore(k, k.settings, []arrow.Record{k.rows}).Set
	value, err := wire.EncodeFeatureSet(set)
	if err != nil {
		k.Fatal(err)
	}
	current, err := wire.EncodeCurrent(&wire.Current{ID: set.ID(), Sequence: 1})
	if err != nil {
		k.Fatal(err)
	}
	name := k.settings.Pipeline.Name
	k.produce(k.settings.Topics.FeatureSets,
		pipeline.Record{Key: wire.SetKey(name, set.ID()), Value: value}, pipeline.Record{Key: wire.CurrentKey(name), Value: current})
	return set
}

// freshTopic makes an output topic. drop takes it away again, so that the log does not grow with the rounds.
func (k *brokerBench) freshTopic(configs map[string]string) (name string, drop func()) {
	k.Helper()
	k.topics++
	name = fmt.Sprintf("output-%d", k.topics)
	configs["max.message.bytes"] = fmt.Sprint(k.settings.Topics.MaxMessageBytes)
	_, err := k.client.CreateTopics(k.Context(), []pipeline.TopicSpec{{Name: name, Partitions: 1, Configs: configs}})
	if err != nil {
		k.Fatal(err)
	}
	return name, func() {
		admin, err := kgo.NewClient(kgo.SeedBrokers(k.server.Addrs()...))
		if err != nil {
			k.Fatal(err)
		}
		defer admin.Close()
		topic := kmsg.NewDeleteTopicsRequestTopic()
		topic.Topic = &name
		request := kmsg.NewDeleteTopicsRequest()
		request.TopicNames, request.Topics = []string{name}, []kmsg.DeleteTopicsRequestTopic{topic}
		if _, err := request.RequestWith(k.Context(), admin); err != nil {
			k.Fatal(err)
		}
	}
}

// stopwatch is a broker without groups that measures from the first fetch of events to the last record of an output
// topic.
type stopwatch struct {
	pipeline.Broker
	events, output string

	mu       sync.Mutex
	begun    time.Time
	took     time.Duration
	missing  int64 // records of the output
	bytes    int64 // of the output
	finished chan struct{}
}

func (k *brokerBench) stopwatch(output string, records int64) *stopwatch {
	return &stopwatch{Broker: k.client, events: k.settings.Topics.Events, output: output, missing: records, finished: make(chan struct{})}
}

// Own runs partition 0 and nothing else.
func (s *stopwatch) Own(ctx context.Context, _, _ string, run func(context.Context, pipeline.Ownership) error) error {
	return run(ctx, pipeline.Ownership{Commit: func(context.Context, int64) error { return nil }})
}

func (s *stopwatch) Fetch(ctx context.Context, topic string, partition int, offset int64) (pipeline.Fetched, error) {
	if topic == s.events {
		s.mu.Lock()
		if s.begun.IsZero() {
			s.begun = time.Now()
		}
		s.mu.Unlock()
	}
	return s.Broker.Fetch(ctx, topic, partition, offset)
}

func (s *stopwatch) Produce(ctx context.Context, topic string, partition int, records []pipeline.Record) (int64, error) {
	first, err := s.Broker.Produce(ctx, topic, partition, records)
	if topic == s.output && err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		for i := range records {
			s.bytes += int64(records[i].Size())
		}
		if s.missing -= int64(len(records)); s.missing == 0 {
			s.took = time.Since(s.begun)
			close(s.finished)
		}
	}
	return first, err
}

// run runs a stage until its output is there.
func (k *brokerBench) run(s *stopwatch, stage func(context.Context) error) time.Duration {
	k.Helper()
	runtime.GC()
	ctx, cancel := context.WithCancel(k.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- stage(ctx) }()
	select {
	case <-s.finished:
		cancel()
	case err := <-done:
		k.Fatalf("ended before its time: %v", err)
	}
	if err := <-done; err != nil {
		k.Fatal(err)
	}
	return s.took
}

func (k *brokerBench) runtime(broker pipeline.Broker, settings Settings) *Runtime {
	r := NewRuntime(broker, settings, zap.NewNop())
	r.Watch, r.DrainTimeout = k.watch, time.Second
	return r
}

// report says how fast the median round was and what share of the speed of the other ones it had.
func (k *brokerBench) report(took, beside []time.Duration, bytes int64, name string) {
	rows := float64(k.messages * benchRows)
	ratios := make([]float64, len(took))
	for i := range took {
		ratios[i] = beside[i].Seconds() / took[i].Seconds()
	}
	k.ReportMetric(rows/median(took).Seconds(), "rows/s")
	k.ReportMetric(rows/median(beside).Seconds(), name+"-rows/s")
	if bytes > 0 {
		k.ReportMetric(float64(bytes)/median(took).Seconds()/1e6, "MB/s")
	}
	k.ReportMetric(median(ratios), "ratio")
}

func median[T float64 | time.Duration](v []T) T {
	sorted := slices.Sorted(slices.Values(v))
	return sorted[len(sorted)/2]
}
