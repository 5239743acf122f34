package kafka

import (
	"context"
	"fmt"
	"io"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/metadata"

	"github.com/eerf-stream/eerf/pipeline"
)

// Partitions returns the number of partitions of the topic as the cluster says now, or
// [pipeline.ErrUnknownTopic].
func (c *Client) Partitions(ctx context.Context, topic string) (int, error) {
	at := place{"partitions of", topic, -1}
	n, err := c.partitions(ctx, topic)
	return n, c.explain(ctx, at, err)
}

// exists returns nil if the topic and the partition are there, as far as the place names them.
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

// partitions returns how many the topic has.
func (c *Client) partitions(ctx context.Context, topic string) (int, error) {
	described, err := c.describe(ctx, topic)
	return len(described), err
}

// Leaderless implements [pipeline.Log].
func (c *Client) Leaderless(ctx context.Context, topic string) (partitions []int, err error) {
	described, err := c.describe(ctx, topic)
	for _, p := range described {
		if p.LeaderID < 0 {
			partitions = append(partitions, int(p.PartitionIndex))
		}
	}
	return partitions, c.explain(ctx, place{"leaders of", topic, -1}, err)
}

// describe asks the cluster, bypassing the view by which requests are routed.
func (c *Client) describe(ctx context.Context, topic string) ([]metadata.ResponsePartition, error) {
	var response freshResponse
	ask := func(ctx context.Context) error {
		m, err := c.transport.RoundTrip(ctx, c.requests.Addr, &freshMetadata{
			Request:     metadata.Request{TopicNames: []string{topic}},
			clientID:    c.config.ClientID,
			correlation: c.correlation.Add(1),
		})
		response, _ = m.(freshResponse)
		return err
	}
	seen := c.renewals.Load()
	err := c.once(ctx, c.config.RequestTimeout, ask)
	if err != nil && ctx.Err() == nil && isDisconnected(err) {
		c.renew(seen)
		err = c.once(ctx, c.config.RequestTimeout, ask)
	}
	if err != nil {
		return nil, err
	}
	if response.Response == nil || len(response.Topics) != 1 {
		return nil, fmt.Errorf("metadata response without the topic")
	}
	if code := response.Topics[0].ErrorCode; code != 0 {
		return nil, kafkago.Error(code)
	}
	return response.Topics[0].Partitions, nil
}

// freshMetadata is a metadata request that the transport passes on to a broker instead of answering it from what it
// knows. It never creates a topic.
type freshMetadata struct {
	metadata.Request
	clientID    string
	correlation int32
	version     int16
}

var _ protocol.RawExchanger = (*freshMetadata)(nil)

// Required implements [protocol.RawExchanger].
func (m *freshMetadata) Required(versions map[protocol.ApiKey]int16) bool {
	m.version = versions[protocol.Metadata]
	return true
}

// RawExchange implements [protocol.RawExchanger].
func (m *freshMetadata) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	response, err := protocol.RoundTrip(rw, m.version, m.correlation, m.clientID, &m.Request)
	if err != nil {
		return nil, err
	}
	return freshResponse{response.(*metadata.Response)}, nil
}

// freshResponse has its own type because the transport takes every plain one for a response to one of its own requests.
type freshResponse struct{ *metadata.Response }
