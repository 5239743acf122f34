package stages

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
)

var (
	// ErrCompactedEvents says that the events topic is compacted: rows would vanish and their ordinals with
	// them, so that no result could be computed again.
	ErrCompactedEvents = errors.New("the events topic is compacted (cleanup.policy): the same rows could not be read again")
	// ErrNotCoPartitioned says that a topic has fewer partitions than events.
	ErrNotCoPartitioned = errors.New("fewer partitions than events, run `featurizer topics create` to grow it")
)

// coPartitioned lists the topics that have a partition for each of events.
func (t TopicsConfig) coPartitioned() []string { return []string{t.Scores, t.Features, t.DeadLetters} }

// Specs returns the topics to be created, for so many partitions of events. Events itself is in the list with the
// broker's own retention: it is the user's topic and is only created where it is missing.
func (t TopicsConfig) Specs(partitions int) []pipeline.TopicSpec {
	size := strconv.FormatInt(t.MaxMessageBytes, 10)
	plain := map[string]string{"max.message.bytes": size}
	features := map[string]string{"max.message.bytes": size, "cleanup.policy": "delete",
		"retention.ms": strconv.FormatInt(t.FeaturesRetention.Milliseconds(), 10)}
	deadLetters := map[string]string{"max.message.bytes": size, "cleanup.policy": "delete"}
	compacted := map[string]string{"max.message.bytes": size, "cleanup.policy": "compact",
		// Small segments and an eager cleaner bound what a restore reads. Kafka keeps their size in 32 bits.
		"segment.bytes":             strconv.FormatInt(min(max(4*t.MaxMessageBytes, 64<<20), math.MaxInt32), 10),
		"segment.ms":                strconv.FormatInt((10 * time.Minute).Milliseconds(), 10),
		"min.cleanable.dirty.ratio": "0.1",
		"max.compaction.lag.ms":     strconv.FormatInt((30 * time.Minute).Milliseconds(), 10),
	}
	spec := func(name string, n int, configs map[string]string) pipeline.TopicSpec {
		return pipeline.TopicSpec{Name: name, Partitions: n, Replication: t.Replication, Configs: configs}
	}
	return []pipeline.TopicSpec{
		spec(t.Events, partitions, plain),
		spec(t.Explorations, 1, compacted),
		spec(t.Scores, partitions, compacted),
		spec(t.FeatureSets, 1, compacted),
		spec(t.Features, partitions, features),
		spec(t.Models, 1, compacted),
		spec(t.DeadLetters, partitions, deadLetters),
	}
}

// CreateTopics creates the topics that are missing and grows co-partitioned ones to the partitions of events. It
// returns what it did, one line each.
func CreateTopics(ctx context.Context, broker pipeline.Broker, topics TopicsConfig) (done []string, err error) {
	partitions, err := broker.Partitions(ctx, topics.Events)
	if errors.Is(err, pipeline.ErrUnknownTopic) {
		partitions, err = topics.Partitions, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up topic %s: %w", topics.Events, err)
	}
	specs := topics.Specs(partitions)
	created, err := broker.CreateTopics(ctx, specs)
	for _, name := range created {
		done = append(done, "created "+name)
	}
	if err != nil {
		return done, fmt.Errorf("create topics: %w", err)
	}
	for _, topic := range topics.coPartitioned() {
		have, err := broker.Partitions(ctx, topic)
		if err != nil {
			return done, fmt.Errorf("look up topic %s: %w", topic, err)
		}
		if have >= partitions {
			continue
		}
		if err := broker.GrowPartitions(ctx, topic, partitions); err != nil {
			return done, fmt.Errorf("grow topic %s to %d partitions: %w", topic, partitions, err)
		}
		done = append(done, fmt.Sprintf("grew %s from %d to %d partitions", topic, have, partitions))
	}
	return done, nil
}

// CheckTopics reports every reason, at once, why the stages could not run on the topics as they are.
func CheckTopics(ctx context.Context, broker pipeline.Broker, topics TopicsConfig) error {
	partitions, err := broker.Partitions(ctx, topics.Events)
	if err != nil {
		return fmt.Errorf("topic %s: %w", topics.Events, err)
	}
	configs, err := broker.TopicConfig(ctx, topics.Events)
	if err != nil {
		return fmt.Errorf("configuration of topic %s: %w", topics.Events, err)
	}
	var faults []error
	if strings.Contains(configs["cleanup.policy"], "compact") {
		faults = append(faults, pipeline.Permanent(fmt.Errorf("topic %s: %w", topics.Events, ErrCompactedEvents)))
	}
	for _, topic := range []string{topics.Explorations, topics.FeatureSets, topics.Models} {
		if _, err := broker.Partitions(ctx, topic); err != nil {
			faults = append(faults, fmt.Errorf("topic %s: %w", topic, err))
		}
	}
	for _, topic := range topics.coPartitioned() {
		switch have, err := broker.Partitions(ctx, topic); {
		case err != nil:
			faults = append(faults, fmt.Errorf("topic %s: %w", topic, err))
		case have < partitions:
			faults = append(faults, fmt.Errorf("topic %s: %d partitions, events has %d: %w", topic, have, partitions, ErrNotCoPartitioned))
		}
	}
	return errors.Join(faults...)
}

// waitCoPartitioned returns when each topic has the partition; until then it says, again and again, that the
// topics have to be grown.
func waitCoPartitioned(ctx context.Context, r *Runtime, logger *zap.Logger, partition int, topics ...string) error {
	for _, topic := range topics {
		err := pipeline.Try(ctx, logger, "look up topic "+topic, func() error {
			have, err := r.Broker.Partitions(ctx, topic)
			if err == nil && have <= partition {
				err = fmt.Errorf("topic %s has %d partitions, partition %d of events has no counterpart: %w",
					topic, have, partition, ErrNotCoPartitioned)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
