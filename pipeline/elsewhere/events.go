// Package elsewhere reads the events of a pipeline from another source than its broker. No source but Kafka is part of
// the project, so that the programs do not use it: it is for those who add one.
package elsewhere

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// Events returns a broker of which one topic, that of events, is read from another source. Everything else goes to the
// broker itself.
func Events(broker pipeline.Broker, topic string, source pipeline.Source) pipeline.Broker {
	return &withEvents{Broker: broker, topic: topic, source: source}
}

type withEvents struct {
	pipeline.Broker
	topic  string
	source pipeline.Source
}

// of returns where a topic is read.
func (w *withEvents) of(topic string) pipeline.Source {
	if topic == w.topic {
		return w.source
	}
	return w.Broker
}

func (w *withEvents) Fetch(ctx context.Context, topic string, partition int, offset int64) (pipeline.Fetched, error) {
	return w.of(topic).Fetch(ctx, topic, partition, offset)
}

func (w *withEvents) Offsets(ctx context.Context, topic string, partition int) (first, next int64, err error) {
	return w.of(topic).Offsets(ctx, topic, partition)
}

func (w *withEvents) Written(ctx context.Context, topic string, partition int) (int64, error) {
	return w.of(topic).Written(ctx, topic, partition)
}

func (w *withEvents) OffsetAt(ctx context.Context, topic string, partition int, at time.Time) (int64, error) {
	return w.of(topic).OffsetAt(ctx, topic, partition, at)
}

func (w *withEvents) Partitions(ctx context.Context, topic string) (int, error) {
	return w.of(topic).Partitions(ctx, topic)
}

func (w *withEvents) Leaderless(ctx context.Context, topic string) ([]int, error) {
	return w.of(topic).Leaderless(ctx, topic)
}

func (w *withEvents) Identity(ctx context.Context, topic string, partition int, asOf time.Time) (pipeline.LogID, error) {
	return w.of(topic).Identity(ctx, topic, partition, asOf)
}

func (w *withEvents) Own(ctx context.Context, group, topic string, run func(context.Context, pipeline.Ownership) error) error {
	return w.of(topic).Own(ctx, group, topic, run)
}

func (w *withEvents) Committed(ctx context.Context, group, topic string, partition int) (pipeline.Committed, error) {
	return w.of(topic).Committed(ctx, group, topic, partition)
}

// BatchBudget is that of the source of events.
func (w *withEvents) BatchBudget() int64 { return w.source.BatchBudget() }

// WithBatchBudget is for events: it leaves the budget of the broker as it is.
func (w *withEvents) WithBatchBudget(bytes int64) pipeline.Source {
	return &withEvents{Broker: w.Broker, topic: w.topic, source: w.source.WithBatchBudget(bytes)}
}

func (w *withEvents) Produce(ctx context.Context, topic string, partition int, records []pipeline.Record) (int64, error) {
	if topic == w.topic {
		return 0, fmt.Errorf("produce to %s/%d: %w", topic, partition, pipeline.ErrReadOnly)
	}
	return w.Broker.Produce(ctx, topic, partition, records)
}

// CreateTopics leaves the topic of events to its source.
func (w *withEvents) CreateTopics(ctx context.Context, topics []pipeline.TopicSpec) ([]string, error) {
	return w.Broker.CreateTopics(ctx, slices.DeleteFunc(slices.Clone(topics), func(t pipeline.TopicSpec) bool { return t.Name == w.topic }))
}

// TopicConfig knows nothing of the topic of events.
func (w *withEvents) TopicConfig(ctx context.Context, topic string) (map[string]string, error) {
	if topic == w.topic {
		return map[string]string{}, nil
	}
	return w.Broker.TopicConfig(ctx, topic)
}

// Groups implements [pipeline.GroupReporter].
func (w *withEvents) Groups() (groups []pipeline.GroupStatus) {
	for _, part := range []any{w.Broker, w.source} {
		if reporter, ok := part.(pipeline.GroupReporter); ok {
			groups = append(groups, reporter.Groups()...)
		}
	}
	return groups
}

// FetchMemory implements [pipeline.MemoryReporter] for the broker.
func (w *withEvents) FetchMemory() (stats pipeline.MemoryStats) {
	if reporter, ok := w.Broker.(pipeline.MemoryReporter); ok {
		stats = reporter.FetchMemory()
	}
	return stats
}
