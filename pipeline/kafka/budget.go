package kafka

import (
	"context"

	"github.com/eerf-stream/eerf/pipeline"
)

// BatchBudget implements [pipeline.Broker].
func (c *Client) BatchBudget() int64 { return int64(c.config.BatchBudgetBytes) }

// readerFor returns the reader for the batch budget of a context.
func (c *Client) readerFor(ctx context.Context) *setReader {
	budget := int(pipeline.BatchBudgetOf(ctx, c.BatchBudget()))
	c.mu.Lock()
	defer c.mu.Unlock()
	reader := c.readers[budget]
	if reader == nil {
		reader = newSetReader(budget)
		c.pool.hold(budget)
		c.readers[budget] = reader
	}
	return reader
}

// FetchMemory implements [pipeline.Broker].
func (c *Client) FetchMemory() pipeline.MemoryStats { return c.pool.stats() }
