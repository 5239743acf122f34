package kafka

import (
	"context"

	"github.com/eerf-stream/eerf/pipeline"
)

// BatchBudget implements [pipeline.Source].
func (c *Client) BatchBudget() int64 { return int64(c.config.BatchBudgetBytes) }

// WithBatchBudget implements [pipeline.Source].
func (c *Client) WithBatchBudget(bytes int64) pipeline.Source {
	c.mu.Lock()
	defer c.mu.Unlock()
	reader := c.readers[int(bytes)]
	if reader == nil {
		reader = newSetReader(int(bytes))
		c.pool.hold(int(bytes))
		c.readers[int(bytes)] = reader
	}
	return &budgeted{c, reader}
}

// FetchMemory implements [pipeline.MemoryReporter].
func (c *Client) FetchMemory() pipeline.MemoryStats { return c.pool.stats() }

// budgeted is a client that reads within its own budget.
type budgeted struct {
	*Client
	reader *setReader
}

// Fetch implements [pipeline.Log].
func (b *budgeted) Fetch(ctx context.Context, topic string, partition int, offset int64) (pipeline.Fetched, error) {
	return b.fetchWithin(ctx, b.reader, topic, partition, offset)
}

// BatchBudget implements [pipeline.Source].
func (b *budgeted) BatchBudget() int64 { return int64(b.reader.budget) }
