package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/eerf-stream/eerf/pipeline"
)

// requestMaxBytes is what brokers take as one request (socket.request.max.bytes, by default): they cut the
// connection on more, which would pass for a broker that is away.
const requestMaxBytes = 100 << 20

// Produce implements [pipeline.Log]. A record without a time gets the present one. An error other than
// [pipeline.ErrMessageTooLarge] does not mean that nothing was written, see the package documentation.
func (c *Client) Produce(ctx context.Context, topic string, partition int, records []pipeline.Record) (firstOffset int64, err error) {
	at := place{"produce to", topic, partition}
	if len(records) == 0 {
		return 0, pipeline.Permanent(fmt.Errorf("%v: no records", at))
	}
	size := 0
	for i := range records {
		size += records[i].Size()
	}
	if size > requestMaxBytes {
		return 0, fmt.Errorf("%v: %d bytes in one request: %w", at, size, pipeline.ErrMessageTooLarge)
	}
	var answer *kafkago.ProduceResponse
	err = c.call(ctx, at, c.config.RequestTimeout, func(ctx context.Context) (err error) {
		answer, err = c.requests.Produce(ctx, &kafkago.ProduceRequest{
			Topic:        topic,
			Partition:    partition,
			RequiredAcks: kafkago.RequireAll,
			Compression:  c.config.Compression.codec(),
			Records:      &recordReader{records: records},
		})
		if err != nil {
			return err
		}
		return answer.Error
	})
	if errors.Is(err, pipeline.ErrMessageTooLarge) {
		err = fmt.Errorf("%w (%d bytes)", err, size)
	}
	if err != nil {
		return 0, err
	}
	return answer.BaseOffset, nil
}

// recordReader shows records to kafka-go, one at a time, so that they are not all copied.
type recordReader struct {
	records []pipeline.Record
	next    int
	shown   protocol.Record
}

// ReadRecord implements [protocol.RecordReader].
func (r *recordReader) ReadRecord() (*protocol.Record, error) {
	if r.next == len(r.records) {
		return nil, io.EOF
	}
	record := &r.records[r.next]
	r.next++
	r.shown = protocol.Record{
		Time:  record.Time,
		Key:   protocol.NewBytes(record.Key),
		Value: protocol.NewBytes(record.Value),
	}
	for _, h := range record.Headers {
		r.shown.Headers = append(r.shown.Headers, protocol.Header{Key: h.Key, Value: h.Value})
	}
	return &r.shown, nil
}
