package kafka

import (
	"context"
	"errors"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/eerf-stream/eerf/pipeline"
)

// readCommitted is the isolation level at which brokers end before open transactions and list
// aborted ones.
const readCommitted = int8(kafkago.ReadCommitted)

// responseMaxBytes is the requested limit of a whole response. It is not reached, because the
// limits of partitions apply: in a response cut at its total limit, the embedded broker omits the
// list of aborted transactions.
const responseMaxBytes = 1 << 30

// Fetch implements [pipeline.Log]. It returns committed records. An unreadable batch is an
// [*pipeline.UnreadableBatchError] because of [pipeline.ErrOverBudget], [pipeline.ErrCorruptBatch]
// or [pipeline.ErrOldFormat].
func (c *Client) Fetch(ctx context.Context, topic string, partition int, offset int64) (pipeline.Fetched, error) {
	reader := c.readerFor(ctx)
	at := place{fmt.Sprintf("fetch offset %d of", offset), topic, partition}
	fetched, err := c.fetch(ctx, reader, at, offset)
	if errors.Is(err, errChecksum) {
		fetched, err = c.fetch(ctx, reader, at, offset) // the damage may have happened in transit
	}
	var bad *unreadableError
	var large *oversizedSetError
	switch {
	case err == nil:
		return fetched, nil
	case errors.As(err, &bad):
		return pipeline.Fetched{}, &pipeline.UnreadableBatchError{Topic: topic, Partition: partition,
			Offset: max(bad.base, offset), NextOffset: max(bad.next, offset+1), Err: bad.err}
	case errors.As(err, &large):
		return pipeline.Fetched{}, c.oversized(at, offset, large)
	case errors.Is(err, kafkago.OffsetOutOfRange):
		return pipeline.Fetched{}, c.outOfRange(ctx, at, offset)
	}
	return pipeline.Fetched{}, err
}

// fetch fetches once. Errors about the offset are returned unchanged.
func (c *Client) fetch(ctx context.Context, reader *setReader, at place, offset int64) (pipeline.Fetched, error) {
	f := &fetching{
		client:   c,
		reader:   reader,
		at:       at,
		offset:   offset,
		key:      partitionKey{at.topic, at.partition},
		memory:   c.pool.account(ctx),
		onlyFree: pipeline.IsOnlyFree(ctx),
	}
	fetched, err := f.run(ctx)
	if err != nil {
		f.funds.release()
	}
	fetched.Renewals = c.renewals.Load()
	return fetched, err
}

// oversized reports a batch that was too large to read. The offset after it comes from its header.
func (c *Client) oversized(at place, offset int64, large *oversizedSetError) error {
	e := &pipeline.UnreadableBatchError{Topic: at.topic, Partition: at.partition,
		Offset: offset, NextOffset: offset + 1, Err: large}
	if len(large.header) == batchHeaderBytes && oldFormat(large.header) == nil {
		b := parseHeader(large.header)
		e.Offset, e.NextOffset = max(b.base, offset), max(min(b.last+1, large.end), offset+1)
	}
	return e
}

// outOfRange returns the error of a refused offset with the range of the partition.
func (c *Client) outOfRange(ctx context.Context, at place, offset int64) error {
	first, written, err := c.offsets(ctx, at.topic, at.partition, kafkago.ReadUncommitted)
	if err != nil {
		return err
	}
	if offset >= first && offset <= written {
		return fmt.Errorf("%v: was out of range a moment ago; the partition now holds [%d, %d)", at, first, written)
	}
	first, next, err := c.Offsets(ctx, at.topic, at.partition)
	if err != nil {
		return err
	}
	return &pipeline.OffsetOutOfRangeError{Topic: at.topic, Partition: at.partition,
		Offset: offset, First: first, Next: next}
}
