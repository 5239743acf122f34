package kafka

import (
	"math"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// Age makes the identity of a writer older.
func Age(p pipeline.Producer, by time.Duration) {
	w := p.(*writer)
	w.renewed = w.renewed.Add(-by)
}

// UseUp leaves sequence numbers for left more records in every partition.
func UseUp(p pipeline.Producer, left int) {
	for _, s := range p.(*writer).streams {
		s.next = math.MaxInt32 - int32(left)
	}
}

// Epoch returns a writer's epoch.
func Epoch(p pipeline.Producer) int16 { return p.(*writer).identity.epoch }

// Connections returns the number of open connections of a client.
func Connections(c *Client) int {
	c.conns.mu.Lock()
	defer c.conns.mu.Unlock()
	return len(c.conns.open)
}

// Instance returns the name under which a client joins a group.
func Instance(c *Client, group string) (name string, release func()) { return c.instance(group) }

// RenewAfter is the age at which an identity is renewed.
const RenewAfter = renewAfter

// read returns the records at or after from and the next offset, decoded within the whole budget.
func (s *setReader) read(
	set []byte,
	from int64,
	aborted []abortedTransaction,
) (records []pipeline.Record, next int64, err error) {
	return s.readWithin(&allowance{left: s.budget, room: s.budget}, set, from, aborted)
}

// LeastRenewal is the least time after which a connection is re-authenticated.
const LeastRenewal = leastRenewal
