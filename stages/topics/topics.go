package topics

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
)

var (
	// ErrCompactedEvents means that the events topic is compacted: rows and their ordinals would
	// vanish, and no result could be recomputed.
	ErrCompactedEvents = errors.New(
		"the events topic is compacted (cleanup.policy): compaction removes rows, so they cannot be reread",
	)
	// ErrNotCoPartitioned means that a topic has fewer partitions than events.
	ErrNotCoPartitioned = errors.New("fewer partitions than events; run `featurizer topics create` to grow it")
)

// Broker looks up and creates topics.
type Broker interface {
	pipeline.Log
	pipeline.Control
}

// Create creates missing topics and grows co-partitioned ones to the number of events partitions.
// It returns a log of its changes, one line each.
func Create(ctx context.Context, broker Broker, config Config) (done []string, err error) {
	partitions, err := broker.Partitions(ctx, config.Events)
	if errors.Is(err, pipeline.ErrUnknownTopic) {
		partitions, err = config.Partitions, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up topic %s: %w", config.Events, err)
	}
	specs := config.Specs(partitions)
	created, err := broker.CreateTopics(ctx, specs)
	for _, name := range created {
		done = append(done, "created "+name)
	}
	if err != nil {
		return done, fmt.Errorf("create topics: %w", err)
	}
	for _, topic := range append(config.coPartitioned(), config.Live) {
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

// Check reports together all reasons why the stages could not run on the topics.
func Check(ctx context.Context, broker Broker, config Config) error {
	partitions, err := broker.Partitions(ctx, config.Events)
	if err != nil {
		return absent(config.Events, err)
	}
	events, err := broker.TopicConfig(ctx, config.Events)
	if err != nil {
		return fmt.Errorf("configuration of topic %s: %w", config.Events, err)
	}
	var faults []error
	if strings.Contains(events["cleanup.policy"], "compact") {
		faults = append(faults, pipeline.Permanent(fmt.Errorf("topic %s: %w", config.Events, ErrCompactedEvents)))
	}
	for _, topic := range []string{config.Explorations, config.FeatureSets, config.Models} {
		if _, err := broker.Partitions(ctx, topic); err != nil {
			faults = append(faults, absent(topic, err))
		}
	}
	for _, topic := range config.coPartitioned() {
		switch have, err := broker.Partitions(ctx, topic); {
		case err != nil:
			faults = append(faults, absent(topic, err))
		case have < partitions:
			faults = append(
				faults,
				fmt.Errorf("topic %s: %d partitions, events has %d: %w", topic, have, partitions, ErrNotCoPartitioned),
			)
		}
	}
	return errors.Join(faults...)
}

// absent is the error for a topic whose lookup failed.
func absent(topic string, err error) error {
	if errors.Is(err, pipeline.ErrUnknownTopic) {
		return fmt.Errorf("topic %s: %w: run `featurizer topics create` to create it", topic, err)
	}
	return fmt.Errorf("topic %s: %w", topic, err)
}

// WaitCoPartitioned returns when each topic has the partition. Until then it keeps warning that the
// topics must be grown.
func WaitCoPartitioned(
	ctx context.Context,
	log pipeline.Log,
	logger *zap.Logger,
	partition int,
	topics ...string,
) error {
	for _, topic := range topics {
		err := pipeline.Try(ctx, logger, "look up topic "+topic, func() error {
			have, err := log.Partitions(ctx, topic)
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
