package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/eerf-stream/eerf/pipeline"
)

// Offsets implements [pipeline.Log]. The next offset is the last stable one.
func (c *Client) Offsets(ctx context.Context, topic string, partition int) (first, next int64, err error) {
	return c.offsets(ctx, topic, partition, kafkago.ReadCommitted)
}

// Written implements [pipeline.Log].
func (c *Client) Written(ctx context.Context, topic string, partition int) (next int64, err error) {
	_, next, err = c.offsets(ctx, topic, partition, kafkago.ReadUncommitted)
	return next, err
}

// offsets returns the range of a partition. With read uncommitted, next includes open transactions.
func (c *Client) offsets(
	ctx context.Context,
	topic string,
	partition int,
	isolation kafkago.IsolationLevel,
) (first, next int64, err error) {
	at := place{"offsets of", topic, partition}
	found, err := c.listOffsets(ctx, at, isolation, kafkago.FirstOffsetOf(partition), kafkago.LastOffsetOf(partition))
	return found.FirstOffset, found.LastOffset, err
}

// OffsetAt implements [pipeline.Log].
func (c *Client) OffsetAt(ctx context.Context, topic string, partition int, since time.Time) (offset int64, err error) {
	at := place{"offset by time of", topic, partition}
	found, err := c.listOffsets(ctx, at, kafkago.ReadCommitted, kafkago.TimeOffsetOf(partition, since))
	if err != nil {
		return 0, err
	}
	for offset := range found.Offsets {
		if offset >= 0 {
			return offset, nil
		}
	}
	_, offset, err = c.Offsets(ctx, topic, partition)
	return offset, err
}

// listOffsets looks up offsets of one partition.
func (c *Client) listOffsets(ctx context.Context, at place, isolation kafkago.IsolationLevel,
	requests ...kafkago.OffsetRequest) (found kafkago.PartitionOffsets, err error) {
	if err := c.lookups.Acquire(ctx, 1); err != nil {
		return found, fmt.Errorf("%v: %w", at, err)
	}
	defer c.lookups.Release(1)
	err = c.call(ctx, at, c.config.RequestTimeout, func(ctx context.Context) error {
		response, err := c.requests.ListOffsets(ctx, &kafkago.ListOffsetsRequest{
			Topics: map[string][]kafkago.OffsetRequest{at.topic: requests}, IsolationLevel: isolation,
		})
		if err != nil {
			return err
		}
		for _, p := range response.Topics[at.topic] {
			if p.Partition == at.partition {
				found = p
				return p.Error
			}
		}
		return errors.New("response without the partition")
	})
	return found, err
}

// Committed implements [pipeline.Broker].
func (c *Client) Committed(
	ctx context.Context,
	group string,
	topic string,
	partition int,
) (found pipeline.Committed, err error) {
	at := place{"offset committed by " + group + " for", topic, partition}
	var of pipeline.LogID
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
				found.Next, of = p.CommittedOffset, pipeline.LogID(p.Metadata)
				return p.Error
			}
		}
		return errors.New("response without the partition")
	})
	if errors.Is(err, kafkago.GroupIdNotFound) {
		return pipeline.NotCommitted, nil // the response of some brokers for a group that never existed
	}
	if err != nil || found.Next < 0 || of == "" {
		return found, err
	}
	found.ByMember = true
	now, err := c.Identity(ctx, topic, pipeline.AnyPartition, time.Now())
	if err == nil && now != "" && now != of {
		found = pipeline.NotCommitted
	}
	return found, err
}

// commit stores the next offset as a member of a group generation. The broker refuses former
// members.
func (c *Client) commit(
	ctx context.Context,
	g *generation,
	topic string,
	partition int,
	nextOffset int64,
	of pipeline.LogID,
) error {
	committed := kafkago.OffsetCommit{Partition: partition, Offset: nextOffset, Metadata: string(of)}
	at := place{"commit for " + g.group + " on", topic, partition}
	return c.call(ctx, at, c.config.RequestTimeout, func(ctx context.Context) error {
		response, err := c.requests.OffsetCommit(ctx, &kafkago.OffsetCommitRequest{
			GroupID:      g.group,
			GenerationID: int(g.number),
			MemberID:     g.id,
			InstanceID:   g.instance,
			Topics:       map[string][]kafkago.OffsetCommit{topic: {committed}},
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
