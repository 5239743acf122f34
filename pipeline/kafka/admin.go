package kafka

import (
	"context"
	"errors"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
)

// CreateTopics implements [pipeline.Control]. The returned topics are ready for use. If some fail,
// the others are created and returned with an error that names each failed one.
func (c *Client) CreateTopics(ctx context.Context, topics []pipeline.TopicSpec) (created []string, err error) {
	if len(topics) == 0 {
		return nil, nil
	}
	request := &kafkago.CreateTopicsRequest{}
	for _, t := range topics {
		request.Topics = append(request.Topics, topicConfig(t))
	}
	var response *kafkago.CreateTopicsResponse
	err = c.call(ctx, place{doing: "create topics"}, c.config.RequestTimeout, func(ctx context.Context) (err error) {
		response, err = c.requests.CreateTopics(ctx, request)
		return err
	})
	if err != nil {
		return nil, err
	}
	var faults []error
	for _, t := range topics {
		switch failure := response.Errors[t.Name]; {
		case failure == nil:
			created = append(created, t.Name)
			c.settle(ctx, t.Name)
		case !errors.Is(failure, kafkago.TopicAlreadyExists):
			faults = append(faults, c.explain(ctx, place{"create topic", t.Name, -1}, failure))
		}
	}
	return created, errors.Join(faults...)
}

// topicConfig converts a specification for kafka-go; -1 leaves the replication to the broker.
func topicConfig(t pipeline.TopicSpec) kafkago.TopicConfig {
	config := kafkago.TopicConfig{Topic: t.Name, NumPartitions: t.Partitions, ReplicationFactor: t.Replication}
	if t.Replication == 0 {
		config.ReplicationFactor = -1
	}
	for name, value := range t.Configs {
		config.ConfigEntries = append(config.ConfigEntries, kafkago.ConfigEntry{ConfigName: name, ConfigValue: value})
	}
	return config
}

// TopicConfig implements [pipeline.Control]. Values that the broker keeps secret are empty.
func (c *Client) TopicConfig(ctx context.Context, topic string) (map[string]string, error) {
	if _, err := c.Partitions(ctx, topic); err != nil {
		return nil, err // brokers describe missing topics as if they existed
	}
	values := make(map[string]string)
	err := c.call(ctx, place{"configuration of", topic, -1}, c.config.RequestTimeout, func(ctx context.Context) error {
		response, err := c.requests.DescribeConfigs(ctx, &kafkago.DescribeConfigsRequest{
			Resources: []kafkago.DescribeConfigRequestResource{
				{ResourceType: kafkago.ResourceTypeTopic, ResourceName: topic},
			},
		})
		if err != nil {
			return err
		}
		if len(response.Resources) != 1 {
			return fmt.Errorf("response about %d topics", len(response.Resources))
		}
		for _, entry := range response.Resources[0].ConfigEntries {
			values[entry.ConfigName] = entry.ConfigValue
		}
		return response.Resources[0].Error
	})
	if err != nil {
		return nil, err
	}
	return values, nil
}

// GrowPartitions implements [pipeline.Control]. A topic with the given number stays unchanged; one
// with more is an error.
func (c *Client) GrowPartitions(ctx context.Context, topic string, partitions int) error {
	at := place{"grow the partitions of", topic, -1}
	present, err := c.Partitions(ctx, topic)
	if err != nil || present == partitions {
		return err
	}
	if present > partitions {
		return pipeline.Permanent(fmt.Errorf("%v: %d partitions cannot be reduced to %d", at, present, partitions))
	}
	err = c.call(ctx, at, c.config.RequestTimeout, func(ctx context.Context) error {
		response, err := c.requests.CreatePartitions(ctx, &kafkago.CreatePartitionsRequest{
			Topics: []kafkago.TopicPartitionsConfig{{Name: topic, Count: int32(partitions)}},
		})
		if err != nil {
			return err
		}
		return response.Errors[topic]
	})
	if err == nil {
		c.renew(c.renewals.Load()) // the view of the cluster has the old number
		c.settle(ctx, topic)
	}
	return err
}

// settle waits until the partitions of a topic answer: a cluster announces new ones a moment before
// their brokers serve them. If that takes long, or is not permitted, the topic counts as created
// anyway.
func (c *Client) settle(ctx context.Context, topic string) {
	ctx, cancel := context.WithTimeout(ctx, c.config.RequestTimeout)
	defer cancel()
	n, err := pipeline.Retry(ctx, c.log, "await topic "+topic, func() (int, error) { return c.Partitions(ctx, topic) })
	for partition := 0; partition < n && err == nil; partition++ {
		err = pipeline.Try(ctx, c.log, "await topic "+topic, func() error {
			_, _, err := c.Offsets(ctx, topic, partition)
			return err
		})
	}
	if err != nil {
		c.log.Warn("new partitions do not answer yet", zap.String("topic", topic), zap.Error(err))
	}
}
