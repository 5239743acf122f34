package events

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/pipeline"
)

// RequestBytes is the approximate size of a produce request; larger ones are not faster.
const RequestBytes = 1 << 20

// Producer writes rows to the partitions of events in turn, a fixed number in each message. It
// belongs to one goroutine; any goroutine may call [Producer.Rows].
type Producer struct {
	to             pipeline.Producer
	topic          string
	rowsPerMessage int64
	partitions     int

	pending  [][]pipeline.Record // by partition
	size     []int
	messages int64
	rows     atomic.Int64
}

// NewProducer looks up the partitions of the topic.
func NewProducer(ctx context.Context, broker pipeline.Broker, topic string, rowsPerMessage int) (*Producer, error) {
	if rowsPerMessage < 1 {
		return nil, fmt.Errorf("%d rows per message: must be at least 1", rowsPerMessage)
	}
	partitions, err := broker.Partitions(ctx, topic)
	if err != nil {
		return nil, fmt.Errorf("topic %s: %w", topic, err)
	}
	return &Producer{
		to: broker, topic: topic, rowsPerMessage: int64(rowsPerMessage), partitions: partitions,
		pending: make([][]pipeline.Record, partitions), size: make([]int, partitions),
	}, nil
}

// Messages is the number of messages made.
func (p *Producer) Messages() int64 { return p.messages }

// Rows is the number of rows written or waiting to be flushed.
func (p *Producer) Rows() int64 { return p.rows.Load() }

// Add cuts a batch into messages and sends full requests.
func (p *Producer) Add(ctx context.Context, batch arrow.Record) error {
	for first := int64(0); first < batch.NumRows(); first += p.rowsPerMessage {
		last := min(first+p.rowsPerMessage, batch.NumRows())
		slice := batch.NewSlice(first, last)
		value, err := arrowio.EncodeStream(slice.Schema(), slice)
		slice.Release()
		if err != nil {
			return fmt.Errorf("encode rows starting at row %d: %w", p.rows.Load(), err)
		}
		if err := p.add(ctx, value); err != nil {
			return err
		}
		p.rows.Add(last - first)
	}
	return nil
}

// add queues a message for the next partition in turn.
func (p *Producer) add(ctx context.Context, value []byte) error {
	partition := int(p.messages % int64(p.partitions))
	p.pending[partition] = append(p.pending[partition], pipeline.Record{Value: value})
	p.size[partition] += len(value)
	p.messages++
	if p.size[partition] >= RequestBytes {
		return p.send(ctx, partition)
	}
	return nil
}

// Flush sends the remaining messages.
func (p *Producer) Flush(ctx context.Context) error {
	for partition := range p.pending {
		if err := p.send(ctx, partition); err != nil {
			return err
		}
	}
	return nil
}

func (p *Producer) send(ctx context.Context, partition int) error {
	if len(p.pending[partition]) == 0 {
		return nil
	}
	_, err := p.to.Produce(ctx, p.topic, partition, p.pending[partition])
	if errors.Is(err, pipeline.ErrMessageTooLarge) {
		return fmt.Errorf("write to %s/%d: %w; use fewer rows per message", p.topic, partition, err)
	}
	if err != nil {
		return fmt.Errorf("write to %s/%d: %w", p.topic, partition, err)
	}
	p.pending[partition], p.size[partition] = p.pending[partition][:0], 0
	return nil
}
