package pipeline

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/eerf-stream/eerf/internal/histogram"
)

// Operations that an [Observed] broker counts apart.
const (
	OpFetch      = "fetch"
	OpProduce    = "produce"
	OpOffsets    = "offsets"
	OpPartitions = "partitions"
	OpCommitted  = "committed"
	OpCommit     = "commit"
	OpAdmin      = "admin" // topics made, described or grown
)

// RequestStats says how the requests of one operation went. Requests that ended because their context did are not
// counted.
type RequestStats struct {
	Operation string
	OK        uint64
	// Refused counts errors that stay the same when retried ([IsPermanent]): an offset that is not there any more,
	// a message too large.
	Refused uint64
	// Failed counts the others, which [Retry] tries again.
	Failed uint64
	// Seconds are the times of all of them. A fetch of an idle partition waits at the broker.
	Seconds histogram.Snapshot
}

// RequestReporter reports how requests went.
type RequestReporter interface {
	Requests() []RequestStats
}

// Observed is a broker that counts its requests.
type Observed struct {
	Broker
	operations []*operation
}

var (
	_ RequestReporter = (*Observed)(nil)
	_ GroupReporter   = (*Observed)(nil)
)

type operation struct {
	name                string
	ok, refused, failed atomic.Uint64
	seconds             *histogram.Histogram
}

// Observe returns a broker that counts the requests to the one given.
func Observe(broker Broker) *Observed {
	o := &Observed{Broker: broker}
	for _, name := range []string{OpFetch, OpProduce, OpOffsets, OpPartitions, OpCommitted, OpCommit, OpAdmin} {
		o.operations = append(o.operations, &operation{name: name, seconds: histogram.New(histogram.Seconds())})
	}
	return o
}

// Requests reports how the requests went so far, one entry for each operation, always in the same order.
func (o *Observed) Requests() []RequestStats {
	stats := make([]RequestStats, len(o.operations))
	for i, op := range o.operations {
		stats[i] = RequestStats{
			Operation: op.name, OK: op.ok.Load(), Refused: op.refused.Load(), Failed: op.failed.Load(), Seconds: op.seconds.Snapshot(),
		}
	}
	return stats
}

// Groups are those that the broker reports, none where it does not.
func (o *Observed) Groups() []GroupStatus {
	if reporter, ok := o.Broker.(GroupReporter); ok {
		return reporter.Groups()
	}
	return nil
}

// record counts a request that began at a time and went as err says.
func (o *Observed) record(ctx context.Context, name string, began time.Time, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	for _, op := range o.operations {
		if op.name != name {
			continue
		}
		switch {
		case err == nil:
			op.ok.Add(1)
		case IsPermanent(err):
			op.refused.Add(1)
		default:
			op.failed.Add(1)
		}
		op.seconds.Observe(time.Since(began).Seconds())
	}
}

// Fetch implements [Log].
func (o *Observed) Fetch(ctx context.Context, topic string, partition int, offset int64) (Fetched, error) {
	began := time.Now()
	fetched, err := o.Broker.Fetch(ctx, topic, partition, offset)
	o.record(ctx, OpFetch, began, err)
	return fetched, err
}

// WithBatchBudget implements [Budgeter]. Requests are counted together.
func (o *Observed) WithBatchBudget(bytes int64) Broker {
	return &Observed{Broker: o.Broker.WithBatchBudget(bytes), operations: o.operations}
}

// Produce implements [Log].
func (o *Observed) Produce(ctx context.Context, topic string, partition int, records []Record) (int64, error) {
	began := time.Now()
	first, err := o.Broker.Produce(ctx, topic, partition, records)
	o.record(ctx, OpProduce, began, err)
	return first, err
}

// Offsets implements [Log].
func (o *Observed) Offsets(ctx context.Context, topic string, partition int) (first, next int64, err error) {
	began := time.Now()
	first, next, err = o.Broker.Offsets(ctx, topic, partition)
	o.record(ctx, OpOffsets, began, err)
	return first, next, err
}

// Partitions implements [Log].
func (o *Observed) Partitions(ctx context.Context, topic string) (int, error) {
	began := time.Now()
	n, err := o.Broker.Partitions(ctx, topic)
	o.record(ctx, OpPartitions, began, err)
	return n, err
}

// Committed implements [Log].
func (o *Observed) Committed(ctx context.Context, group, topic string, partition int) (int64, error) {
	began := time.Now()
	next, err := o.Broker.Committed(ctx, group, topic, partition)
	o.record(ctx, OpCommitted, began, err)
	return next, err
}

// Own implements [Owner]; it counts the commits.
func (o *Observed) Own(ctx context.Context, group, topic string, run func(ctx context.Context, o Ownership) error) error {
	return o.Broker.Own(ctx, group, topic, func(ctx context.Context, owned Ownership) error {
		commit := owned.Commit
		owned.Commit = func(ctx context.Context, nextOffset int64) error {
			began := time.Now()
			err := commit(ctx, nextOffset)
			o.record(ctx, OpCommit, began, err)
			return err
		}
		return run(ctx, owned)
	})
}

// CreateTopics implements [Admin].
func (o *Observed) CreateTopics(ctx context.Context, topics []TopicSpec) ([]string, error) {
	began := time.Now()
	created, err := o.Broker.CreateTopics(ctx, topics)
	o.record(ctx, OpAdmin, began, err)
	return created, err
}

// TopicConfig implements [Admin].
func (o *Observed) TopicConfig(ctx context.Context, topic string) (map[string]string, error) {
	began := time.Now()
	config, err := o.Broker.TopicConfig(ctx, topic)
	o.record(ctx, OpAdmin, began, err)
	return config, err
}

// GrowPartitions implements [Admin].
func (o *Observed) GrowPartitions(ctx context.Context, topic string, partitions int) error {
	began := time.Now()
	err := o.Broker.GrowPartitions(ctx, topic, partitions)
	o.record(ctx, OpAdmin, began, err)
	return err
}
