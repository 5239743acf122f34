package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/fetch"

	"github.com/eerf-stream/eerf/pipeline"
)

// readCommitted is the isolation level at which brokers stop before open transactions and list aborted ones.
const readCommitted = int8(kafkago.ReadCommitted)

// responseMaxBytes is asked for as the limit of a whole response; the partition's limit is the one that counts.
// With a response cut at its own limit the embedded broker leaves out the list of aborted transactions.
const responseMaxBytes = 1 << 30

// Fetch implements [pipeline.Log]. Records are those committed. A batch that stays unreadable is an
// [*pipeline.UnreadableBatchError] also where the reason is not its size but [ErrCorruptBatch] or
// [ErrOldFormat].
func (c *Client) Fetch(ctx context.Context, topic string, partition int, offset int64) (pipeline.Fetched, error) {
	return c.fetchWithin(ctx, c.reader, topic, partition, offset)
}

// fetchWithin fetches within the budget of a reader.
func (c *Client) fetchWithin(ctx context.Context, reader *setReader, topic string, partition int, offset int64) (pipeline.Fetched, error) {
	at := place{fmt.Sprintf("fetch offset %d of", offset), topic, partition}
	fetched, err := c.fetch(ctx, reader, at, offset)
	if errors.Is(err, errChecksum) {
		fetched, err = c.fetch(ctx, reader, at, offset) // it may have been damaged in transit
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

// fetch asks once. Errors about the offset are returned unchanged.
func (c *Client) fetch(ctx context.Context, reader *setReader, at place, offset int64) (pipeline.Fetched, error) {
	var response *fetchResponse
	var failure error
	err := c.call(ctx, at, c.config.RequestTimeout+c.config.FetchMaxWait, func(ctx context.Context) error {
		message, err := c.transport.RoundTrip(ctx, c.requests.Addr, c.fetchExchange(reader, at, offset))
		if err == nil {
			response = message.(*fetchResponse)
			if response.code != 0 {
				err = kafkago.Error(response.code)
			}
		}
		failure = err
		return err
	})
	var large *oversizedSetError
	if errors.As(failure, &large) || errors.Is(failure, kafkago.OffsetOutOfRange) {
		return pipeline.Fetched{}, failure
	}
	if err != nil {
		return pipeline.Fetched{}, err
	}
	return decodeFetch(reader, at, offset, response)
}

func (c *Client) fetchExchange(reader *setReader, at place, offset int64) *fetchExchange {
	return &fetchExchange{
		clientID:    c.config.ClientID,
		correlation: c.correlation.Add(1),
		maxSet:      reader.budget + batchHeaderBytes,
		request: fetch.Request{
			ReplicaID:      -1,
			MaxWaitTime:    int32(c.config.FetchMaxWait / time.Millisecond),
			MinBytes:       1,
			MaxBytes:       responseMaxBytes,
			IsolationLevel: readCommitted,
			SessionEpoch:   -1, // no fetch session
			Topics: []fetch.RequestTopic{{
				Topic: at.topic,
				Partitions: []fetch.RequestPartition{{
					Partition:          int32(at.partition),
					CurrentLeaderEpoch: -1,
					FetchOffset:        offset,
					LogStartOffset:     -1,
					PartitionMaxBytes:  int32(min(c.config.FetchMaxBytes, reader.budget)), // several batches beyond it are not one
				}},
			}},
		},
	}
}

func decodeFetch(reader *setReader, at place, offset int64, response *fetchResponse) (pipeline.Fetched, error) {
	records, next, err := reader.read(response.set, offset, response.aborted)
	if bad := (*unreadableError)(nil); errors.As(err, &bad) {
		bad.next = min(bad.next, max(response.end, offset+1)) // a damaged header may name any offset
	}
	if err != nil {
		return pipeline.Fetched{}, err
	}
	if len(response.set) > 0 && next == offset {
		return pipeline.Fetched{}, fmt.Errorf("%v: the response of %d bytes holds no whole batch at it", at, len(response.set))
	}
	for i := range records {
		records[i].Topic, records[i].Partition = at.topic, at.partition
	}
	return pipeline.Fetched{
		Records:    records,
		NextOffset: next,
		LogStart:   response.logStart,
		End:        response.end,
	}, nil
}

// oversized reports a batch that was not read from the connection; its header says where it ends.
func (c *Client) oversized(at place, offset int64, large *oversizedSetError) error {
	e := &pipeline.UnreadableBatchError{Topic: at.topic, Partition: at.partition,
		Offset: offset, NextOffset: offset + 1, Err: large}
	if len(large.header) == batchHeaderBytes && oldFormat(large.header) == nil {
		b := parseHeader(large.header)
		e.Offset, e.NextOffset = max(b.base, offset), max(min(b.last+1, large.end), offset+1)
	}
	return e
}

// outOfRange adds what the partition holds to a refused offset.
func (c *Client) outOfRange(ctx context.Context, at place, offset int64) error {
	first, written, err := c.offsets(ctx, at.topic, at.partition, kafkago.ReadUncommitted)
	if err != nil {
		return err
	}
	if offset >= first && offset <= written {
		return fmt.Errorf("%v: out of range a moment ago, now it holds [%d, %d)", at, first, written)
	}
	first, next, err := c.Offsets(ctx, at.topic, at.partition)
	if err != nil {
		return err
	}
	return &pipeline.OffsetOutOfRangeError{Topic: at.topic, Partition: at.partition,
		Offset: offset, First: first, Next: next}
}
