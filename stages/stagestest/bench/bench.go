// Package bench is the part of the tests' kit that measures stages on an embedded broker: from topic to topic, next to
// something that does the least that can be done.
package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/embedded"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/topics"
)

// The events that are measured are wide ones, in messages of Rows rows.
const (
	Rows     = 1024
	Features = 500
)

const pipelineName = "test"

// Kit is an embedded broker with messages of events.
type Kit struct {
	*testing.B
	Client   *kafka.Client
	Topics   topics.Config
	Follower *state.Follower // once Follow was called
	Rows     arrow.Record    // of a message
	Messages int64

	shape  string
	server *embedded.Broker
	fresh  int // topics made so far
}

// New starts a broker and writes the messages of events.
func New(b *testing.B, shape string, messages int64) *Kit {
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
	k := &Kit{B: b, server: server, shape: shape, Topics: topics.Default(), Client: client, Rows: stagestest.WideEvents(b, shape, Rows), Messages: messages}
	k.Topics.Partitions = 1
	if _, err := topics.Create(b.Context(), client, k.Topics); err != nil {
		b.Fatal(err)
	}
	record := pipeline.Record{Key: []byte("key"), Value: stagestest.Message(b, k.Rows)}
	for range messages {
		k.Produce(k.Topics.Events, record)
	}
	return k
}

// Produce writes records to partition 0 of a topic.
func (k *Kit) Produce(topic string, records ...pipeline.Record) {
	k.Helper()
	if _, err := k.Client.Produce(k.Context(), topic, 0, records); err != nil {
		k.Fatal(err)
	}
}

// Follow starts a follower; it comes after what is on its topics.
func (k *Kit) Follow() {
	k.Follower = state.New(k.Client, zap.NewNop(), state.Config{
		Pipeline: pipelineName, Explorations: k.Topics.Explorations, FeatureSets: k.Topics.FeatureSets, Models: k.Topics.Models,
		Scores: k.Topics.Scores, MaxMessageBytes: k.Topics.MaxMessageBytes,
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- k.Follower.Run(ctx) }()
	k.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			k.Error(err)
		}
	})
}

// PublishSet puts a feature set of the events in use, of Features features.
func (k *Kit) PublishSet() *wire.FeatureSet {
	k.Helper()
	e, c := explored.Wide(k.shape, Features)
	set := explored.FeatureSet(k, e, c, k.Rows)
	k.Produce(k.Topics.FeatureSets,
		pipeline.Record{Key: wire.SetKey(pipelineName, set.ID()), Value: stagestest.Must(wire.EncodeFeatureSet(set))},
		pipeline.Record{Key: wire.CurrentKey(pipelineName), Value: stagestest.Must(wire.EncodeCurrent(&wire.Current{ID: set.ID(), Sequence: 1}))})
	return set
}

// PublishSpec starts an exploration of so many candidates that scores every row of so many messages.
func (k *Kit) PublishSpec(candidates int, messages int64) {
	e, c := explored.Wide(k.shape, Features)
	c.Candidates = candidates
	spec := explored.Spec(k, e, c, k.Rows)
	spec.Partitions[0].EndOffset, spec.Partitions[0].LabelledRows = messages, messages*Rows
	spec.Partitions[0].Quota = 2 * messages * Rows
	spec.Exploration = wire.ExplorationID(spec)
	k.Produce(k.Topics.Explorations, pipeline.Record{Key: wire.SpecKey(pipelineName), Value: stagestest.Must(wire.EncodeSpec(spec))})
}

// FreshTopic makes an output topic. drop takes it away again, so that the log does not grow with the rounds.
func (k *Kit) FreshTopic(configs map[string]string) (name string, drop func()) {
	k.Helper()
	k.fresh++
	name = fmt.Sprintf("output-%d", k.fresh)
	configs["max.message.bytes"] = fmt.Sprint(k.Topics.MaxMessageBytes)
	_, err := k.Client.CreateTopics(k.Context(), []pipeline.TopicSpec{{Name: name, Partitions: 1, Configs: configs}})
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

// Stopwatch is a broker without groups that measures from the first fetch of events to the last record of an output
// topic.
type Stopwatch struct {
	pipeline.Broker
	Events, output string

	mu       sync.Mutex
	begun    time.Time
	took     time.Duration
	missing  int64 // records of the output
	bytes    int64 // of the output
	finished chan struct{}
}

// Stopwatch measures until the output topic has so many records.
func (k *Kit) Stopwatch(output string, records int64) *Stopwatch {
	return &Stopwatch{Broker: k.Client, Events: k.Topics.Events, output: output, missing: records, finished: make(chan struct{})}
}

// Own runs partition 0 and nothing else.
func (s *Stopwatch) Own(ctx context.Context, _, _ string, run func(context.Context, pipeline.Ownership) error) error {
	return run(ctx, pipeline.Ownership{Commit: func(context.Context, int64, pipeline.LogID) error { return nil }})
}

// Fetch begins the time with the first fetch of events.
func (s *Stopwatch) Fetch(ctx context.Context, topic string, partition int, offset int64) (pipeline.Fetched, error) {
	if topic == s.Events {
		s.mu.Lock()
		if s.begun.IsZero() {
			s.begun = time.Now()
		}
		s.mu.Unlock()
	}
	return s.Broker.Fetch(ctx, topic, partition, offset)
}

// Produce counts what is written to the output.
func (s *Stopwatch) Produce(ctx context.Context, topic string, partition int, records []pipeline.Record) (int64, error) {
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

// OpenWriter returns the broker itself.
func (s *Stopwatch) OpenWriter(context.Context, *pipeline.WriterID, ...pipeline.Target) (pipeline.Producer, error) {
	return s, nil
}

// Run runs a stage until its output is there.
func (k *Kit) Run(s *Stopwatch, stage func(context.Context) error) time.Duration {
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

// Report says how fast the median round was and what share of the speed of the other ones it had.
func (k *Kit) Report(took, beside []time.Duration, bytes int64, name string) {
	rows := float64(k.Messages * Rows)
	ratios := make([]float64, len(took))
	for i := range took {
		ratios[i] = beside[i].Seconds() / took[i].Seconds()
	}
	k.ReportMetric(rows/Median(took).Seconds(), "rows/s")
	k.ReportMetric(rows/Median(beside).Seconds(), name+"-rows/s")
	if bytes > 0 {
		k.ReportMetric(float64(bytes)/Median(took).Seconds()/1e6, "MB/s")
	}
	k.ReportMetric(Median(ratios), "ratio")
}

// Median is the middle value.
func Median[T float64 | time.Duration](v []T) T {
	sorted := slices.Sorted(slices.Values(v))
	return sorted[len(sorted)/2]
}

// Bytes is how much was written to the output.
func (s *Stopwatch) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}
