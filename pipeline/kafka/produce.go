package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	batch, batchBytes, err := encodeBatch(records, time.Now(), c.config.Compression)
	if err != nil {
		return 0, pipeline.Permanent(fmt.Errorf("%v: %w", at, err))
	}
	err = c.call(ctx, at, c.config.RequestTimeout, func(ctx context.Context) error {
		message, err := c.transport.RoundTrip(ctx, c.requests.Addr, &produceExchange{
			topic: topic, partition: int32(partition), clientID: c.config.ClientID, correlation: c.correlation.Add(1),
			timeout: int32(c.config.RequestTimeout / 2 / time.Millisecond), batch: batch, batchBytes: batchBytes,
		})
		if err != nil {
			return err
		}
		response := message.(*produceResponse)
		firstOffset = response.firstOffset
		return response.err
	})
	if errors.Is(err, pipeline.ErrMessageTooLarge) {
		err = fmt.Errorf("%w (%d bytes)", err, size)
	}
	if err != nil {
		return 0, err
	}
	return firstOffset, nil
}
