package kafka

import (
	"context"
	"errors"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/fetch"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/eerf-stream/eerf/pipeline"
)

// Partitions returns the current number of partitions of the topic, or [pipeline.ErrUnknownTopic].
func (c *Client) Partitions(ctx context.Context, topic string) (int, error) {
	at := place{"partitions of", topic, -1}
	n, err := c.partitions(ctx, topic)
	return n, c.explain(ctx, at, err)
}

// exists returns nil if the topic and the partition exist, as far as the place names them.
func (c *Client) exists(ctx context.Context, at place) error {
	if at.topic == "" {
		return nil
	}
	n, err := c.partitions(ctx, at.topic)
	if err == nil && at.partition >= n {
		return fmt.Errorf("%w: the topic has %d", pipeline.ErrUnknownTopic, n)
	}
	return err
}

// partitions returns the number of partitions of the topic.
func (c *Client) partitions(ctx context.Context, topic string) (int, error) {
	described, err := c.describe(ctx, topic)
	return len(described), err
}

// Leaderless implements [pipeline.Log].
func (c *Client) Leaderless(ctx context.Context, topic string) (partitions []int, err error) {
	described, err := c.describe(ctx, topic)
	for _, p := range described {
		if p.Leader < 0 {
			partitions = append(partitions, int(p.Partition))
		}
	}
	return partitions, c.explain(ctx, place{"leaders of", topic, -1}, err)
}

// describe asks any broker for the partitions of a topic.
func (c *Client) describe(
	ctx context.Context,
	topic string,
) (partitions []kmsg.MetadataResponseTopicPartition, err error) {
	ask := func(ctx context.Context) error {
		found, err := c.topic(ctx, topic, pipeline.AnyPartition)
		partitions = found.Partitions
		return err
	}
	seen := c.renewals.Load()
	err = c.once(ctx, c.config.RequestTimeout, ask)
	if err != nil && ctx.Err() == nil && isDisconnected(err) {
		c.renew(seen)
		err = c.once(ctx, c.config.RequestTimeout, ask)
	}
	return partitions, err
}

// errOldBrokers means that the brokers cannot identify a log by its id.
var errOldBrokers = pipeline.Permanent(
	errors.New("the brokers are older than Apache Kafka 3.1, or do not support topic ids"),
)

// checkBrokers checks the version of one broker, once.
func (c *Client) checkBrokers(ctx context.Context) error {
	if c.checked.Load() {
		return nil
	}
	offered, err := c.requests.ApiVersions(ctx, &kafkago.ApiVersionsRequest{})
	if err == nil {
		err = offered.Error
	}
	if err != nil {
		return err
	}
	for _, api := range offered.ApiKeys {
		if api.ApiKey == int(protocol.Fetch) && api.MaxVersion >= fetchVersion {
			c.checked.Store(true)
			return nil
		}
	}
	return errOldBrokers
}

// topic requests the metadata of a topic from the leader of a partition, or from any broker.
func (c *Client) topic(ctx context.Context, topic string, partition int) (found kmsg.MetadataResponseTopic, err error) {
	if err := c.checkBrokers(ctx); err != nil {
		return found, err
	}
	request, about := kmsg.NewPtrMetadataRequest(), kmsg.NewMetadataRequestTopic()
	about.Topic = &topic
	request.Version, request.Topics = metadataVersion, append(request.Topics, about)
	message, err := c.transport.RoundTrip(ctx, c.requests.Addr, &topicExchange{c.exchange(request), topic, partition})
	if err != nil {
		return found, err
	}
	topics := message.(*exchanged).Response.(*kmsg.MetadataResponse).Topics
	if n := len(topics); n != 1 {
		return found, fmt.Errorf("metadata response has %d topics instead of one", n)
	}
	return topics[0], coded(topics[0].ErrorCode)
}

// topicExchange is a metadata request for one topic, which it does not create. kafka-go would
// answer its own request from a cache, and supports no version with topic ids.
type topicExchange struct {
	kmsgExchange
	topic     string
	partition int // the request goes to its leader; or pipeline.AnyPartition
}

// metadataVersion is the version of Kafka 3.1.
const metadataVersion = 12

var _ protocol.BrokerMessage = (*topicExchange)(nil)

// Broker implements [protocol.BrokerMessage].
func (e *topicExchange) Broker(cluster protocol.Cluster) (protocol.Broker, error) {
	if e.partition < 0 {
		return protocol.Broker{ID: -1}, nil // any
	}
	partitions := []fetch.RequestPartition{{Partition: int32(e.partition)}}
	request := fetch.Request{Topics: []fetch.RequestTopic{{Topic: e.topic, Partitions: partitions}}}
	return request.Broker(cluster)
}
