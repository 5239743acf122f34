package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages/topics"
)

const (
	topicEvents   = "events"
	topicLabels   = "labels"
	topicLabelled = "labelled"
	// partitions of each.
	partitions = 2
	// requestRows is the number of messages per request.
	requestRows = 500
)

// shop is a connection to the broker.
type shop struct {
	client *kafka.Client
	logger *zap.Logger
}

func connect(brokers string) (*shop, error) {
	config := kafka.DefaultConfig()
	config.Brokers = strings.Split(brokers, ",")
	logger := zap.NewNop()
	client, err := kafka.New(config, logger)
	return &shop{client, logger}, err
}

// create creates the topics of the example, which must not exist yet.
func (s *shop) create(ctx context.Context) error {
	var specs []pipeline.TopicSpec
	for _, name := range []string{topicEvents, topicLabels, topicLabelled} {
		specs = append(specs, pipeline.TopicSpec{Name: name, Partitions: partitions})
	}
	created, err := s.client.CreateTopics(ctx, specs)
	if err == nil && len(created) < len(specs) {
		err = fmt.Errorf(
			"of the topics %s, %s and %s some are there: the example wants a broker without them",
			topicEvents,
			topicLabels,
			topicLabelled,
		)
	}
	return err
}

// write sends rows as JSON, one in a message, to the partition of their key.
func write[T any](ctx context.Context, s *shop, topic string, rows []T, key func(T) string) error {
	pending := make([][]pipeline.Record, partitions)
	send := func(partition int) error {
		if len(pending[partition]) == 0 {
			return nil
		}
		_, err := s.client.Produce(ctx, topic, partition, pending[partition])
		pending[partition] = nil
		return err
	}
	for _, row := range rows {
		value, err := json.Marshal(row)
		if err != nil {
			return err
		}
		h := fnv.New32a()
		h.Write([]byte(key(row)))
		partition := int(h.Sum32() % partitions)
		pending[partition] = append(
			pending[partition],
			pipeline.Record{Key: []byte(key(row)), Value: value, Time: time.Now()},
		)
		if len(pending[partition]) == requestRows {
			if err := send(partition); err != nil {
				return err
			}
		}
	}
	for partition := range pending {
		if err := send(partition); err != nil {
			return err
		}
	}
	return nil
}

// read returns the rows of a topic.
func read[T any](ctx context.Context, s *shop, topic string) (rows []T, err error) {
	err = topics.Read(ctx, s.client, s.logger, topic, func(rec pipeline.Record) error {
		var row T
		if err := json.Unmarshal(rec.Value, &row); err != nil {
			return fmt.Errorf("topic %s, partition %d, offset %d: %w", topic, rec.Partition, rec.Offset, err)
		}
		rows = append(rows, row)
		return nil
	}, nil)
	return rows, err
}
