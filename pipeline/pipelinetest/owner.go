package pipelinetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/eerf-stream/eerf/pipeline"
)

// Own is part of [pipeline.Broker]: the caller owns every partition until ctx ends or a run fails.
// A group has one member.
func (b *Broker) Own(
	ctx context.Context,
	group string,
	topic string,
	run func(context.Context, pipeline.Ownership) error,
) error {
	n, err := b.Partitions(ctx, topic)
	if err != nil {
		return err
	}
	owned, end := context.WithCancelCause(ctx)
	defer end(nil)
	var runs sync.WaitGroup
	for number := range n {
		left := false // under the lock of b
		commit := func(_ context.Context, next int64, of pipeline.LogID) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			if left {
				return fmt.Errorf("commit on %s/%d: no longer a member of group %s", topic, number, group)
			}
			b.committed[commitKey(group, topic, number)] = committed{next, of}
			return nil
		}
		runs.Go(func() {
			if err := run(owned, pipeline.Ownership{Partition: number, Commit: commit}); err != nil {
				end(fmt.Errorf("partition %d: %w", number, err))
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			left = true
		})
	}
	<-owned.Done()
	runs.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(owned)
}

// Committed is part of [pipeline.Broker].
func (b *Broker) Committed(_ context.Context, group, topic string, number int) (pipeline.Committed, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fail(pipeline.OpCommitted); err != nil {
		return pipeline.NotCommitted, err
	}
	found, ok := b.committed[commitKey(group, topic, number)]
	if t := b.topics[topic]; ok && (found.of == "" || t != nil && found.of == t.id) {
		return pipeline.Committed{Next: found.next, ByMember: found.of != ""}, nil
	}
	return pipeline.NotCommitted, nil
}

func commitKey(group, topic string, number int) string {
	return fmt.Sprintf("%s %s %d", group, topic, number)
}

// maxReplication is the number of nodes that the broker pretends to have.
const maxReplication = 3

// BatchBudget returns a client's default. Records in memory have no batches, so it has no effect.
func (b *Broker) BatchBudget() int64 { return 64 << 20 }

// Groups reports no groups.
func (b *Broker) Groups() []pipeline.GroupStatus { return nil }

// FetchMemory reports no memory.
func (b *Broker) FetchMemory() pipeline.MemoryStats { return pipeline.MemoryStats{} }

// CreateTopics is part of [pipeline.Control].
func (b *Broker) CreateTopics(_ context.Context, topics []pipeline.TopicSpec) (created []string, err error) {
	for _, spec := range topics {
		b.mu.Lock()
		_, exists := b.topics[spec.Name]
		b.mu.Unlock()
		switch {
		case exists:
		case spec.Partitions < 1 || spec.Replication > maxReplication:
			fault := fmt.Errorf("create %s: %d partitions, %d replicas", spec.Name, spec.Partitions, spec.Replication)
			err = errors.Join(err, pipeline.Permanent(fault))
		default:
			b.AddConfiguredTopic(spec.Name, spec.Partitions, spec.Configs)
			created = append(created, spec.Name)
		}
	}
	return created, err
}

// TopicConfig is part of [pipeline.Control].
func (b *Broker) TopicConfig(_ context.Context, name string) (map[string]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, ok := b.topics[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, pipeline.ErrUnknownTopic)
	}
	configs := map[string]string{"cleanup.policy": "delete", "retention.ms": "604800000"}
	maps.Copy(configs, t.configs)
	return configs, nil
}

// GrowPartitions is part of [pipeline.Control].
func (b *Broker) GrowPartitions(_ context.Context, name string, partitions int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, ok := b.topics[name]
	if !ok {
		return fmt.Errorf("%s: %w", name, pipeline.ErrUnknownTopic)
	}
	if partitions < len(t.partitions) {
		return pipeline.Permanent(fmt.Errorf("%s has %d partitions, more than %d", name, len(t.partitions), partitions))
	}
	t.grow(partitions)
	return nil
}
