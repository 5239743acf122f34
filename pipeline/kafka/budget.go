package kafka

import (
	"context"

	"github.com/eerf-stream/eerf/pipeline"
)

// BatchBudget implements [pipeline.Budgeter].
func (c *Client) BatchBudget() int64 { return int64(c.config.BatchBudgetBytes) }

// WithBatchBudget implements [pipeline.Budgeter].
func (c *Client) WithBatchBudget(bytes int64) pipeline.Broker {
	c.mu.Lock()
	defer c.mu.Unlock()
	reader := c.readers[int(bytes)]
	if reader == nil {
		reader = newSetReader(int(bytes))
		c.readers[int(bytes)] = reader
	}
	return &budgeted{c, reader}
}

// budgeted is a client that reads within a budget of its own.
type budgeted struct {
	*Client
	reader *setReader
}

// Fetch implements [pipeline.Log].
func (b *budgeted) Fetch(ctx context.Context, topic string, partition int, offset int64) (pipeline.Fetched, error) {
	return b.fetchWithin(ctx, b.reader, topic, partition, offset)
}

// BatchBudget implements [pipeline.Budgeter].
func (b *budgeted) BatchBudget() int64 { return int64(b.reader.budget) }
