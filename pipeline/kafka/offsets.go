package kafka

import (
	"context"
	"errors"

	kafkago "github.com/segmentio/kafka-go"
)

// Offsets implements [pipeline.Log]. The next offset is the last stable one.
func (c *Client) Offsets(ctx context.Context, topic string, partition int) (first, next int64, err error) {
	return c.offsets(ctx, topic, partition, kafkago.ReadCommitted)
}

// offsets returns what a partition holds; with read uncommitted next counts open transactions too.
func (c *Client) offsets(ctx context.Context, topic string, partition int, isolation kafkago.IsolationLevel) (first, next int64, err error) {
	at := place{"offsets of", topic, partition}
	err = c.call(ctx, at, c.config.RequestTimeout, func(ctx context.Context) error {
		response, err := c.requests.ListOffsets(ctx, &kafkago.ListOffsetsRequest{
			Topics: map[string][]kafkago.OffsetRequest{
				topic: {kafkago.FirstOffsetOf(partition), kafkago.LastOffsetOf(partition)},
			},
			IsolationLevel: isolation,
		})
		if err != nil {
			return err
		}
		for _, p := range response.Topics[topic] {
			if p.Partition == partition {
				first, next = p.FirstOffset, p.LastOffset
				return p.Error
			}
		}
		return errors.New("response without the partition")
	})
	return first, next, err
}

// Committed implements [pipeline.Log].
func (c *Client) Committed(ctx context.Context, group, topic string, partition int) (nextOffset int64, err error) {
	at := place{"offset committed by " + group + " for", topic, partition}
	err = c.call(ctx, at, c.config.RequestTimeout, func(ctx context.Context) error {
		response, err := c.requests.OffsetFetch(ctx, &kafkago.OffsetFetchRequest{
			GroupID: group,
			Topics:  map[string][]int{topic: {partition}},
		})
		if err != nil {
			return err
		}
		if response.Error != nil {
			return response.Error
		}
		for _, p := range response.Topics[topic] {
			if p.Partition == partition {
				nextOffset = p.CommittedOffset
				return p.Error
			}
		}
		return errors.New("response without the partition")
	})
	if errors.Is(err, kafkago.GroupIdNotFound) {
		return -1, nil // what some brokers answer about a group that has never been
	}
	return nextOffset, err
}

// commit stores the next offset as a member of a generation of a group; the broker refuses former members.
func (c *Client) commit(ctx context.Context, gen *kafkago.Generation, topic string, partition int, nextOffset int64) error {
	at := place{"commit for " + gen.GroupID + " on", topic, partition}
	return c.call(ctx, at, c.config.RequestTimeout, func(ctx context.Context) error {
		response, err := c.requests.OffsetCommit(ctx, &kafkago.OffsetCommitRequest{
			GroupID:      gen.GroupID,
			GenerationID: int(gen.ID),
			MemberID:     gen.MemberID,
			Topics:       map[string][]kafkago.OffsetCommit{topic: {{Partition: partition, Offset: nextOffset}}},
		})
		if err != nil {
			return err
		}
		for _, p := range response.Topics[topic] {
			if p.Partition == partition {
				return p.Error
			}
		}
		return errors.New("response without the partition")
	})
}
