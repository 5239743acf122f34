package pipeline

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/eerf-stream/eerf/internal/histogram"
)

// Operations that an [Observed] broker counts separately.
const (
	OpFetch      = "fetch"
	OpProduce    = "produce"
	OpOffsets    = "offsets"
	OpPartitions = "partitions"
	OpCommitted  = "committed"
	OpIdentity   = "identity"
	OpCommit     = "commit"
	OpOpenWriter = "open_writer"
)

// RequestStats counts the requests of one operation by outcome. Requests that ended with their
// context or for lack of memory ([ErrNoMemory]) do not count.
type RequestStats struct {
	Operation string
	OK        uint64
	// Refused counts permanent errors ([IsPermanent]), such as an offset out of range or a message
	// that is too large.
	Refused uint64
	// Failed counts the errors that [Retry] retries.
	Failed uint64
	// Seconds are the durations of all requests. A fetch of an idle partition waits at the broker.
	Seconds histogram.Snapshot
}

// Observed is a broker that counts its requests, except requests about whole topics ([Control]).
type Observed struct {
	Broker
	operations operations
	writers    [len(Protections)]atomic.Uint64 // opened ones, by the index of their protection in Protections
}

var _ Broker = (*Observed)(nil)

// operations holds the counters by operation.
type operations map[string]*operation

type operation struct {
	ok, refused, failed atomic.Uint64
	seconds             *histogram.Histogram
}

// observedOperations lists all operations in the order of reports.
var observedOperations = []string{
	OpFetch, OpProduce, OpOffsets, OpPartitions, OpIdentity, OpCommitted, OpCommit, OpOpenWriter,
}

// Observe returns a broker that counts the requests to the given one.
func Observe(broker Broker) *Observed {
	o := &Observed{Broker: broker, operations: operations{}}
	for _, name := range observedOperations {
		o.operations[name] = &operation{seconds: histogram.New()}
	}
	return o
}

// Requests reports the requests so far, one entry for each operation, always in the same order.
func (o *Observed) Requests() []RequestStats {
	stats := make([]RequestStats, len(observedOperations))
	for i, name := range observedOperations {
		op := o.operations[name]
		stats[i] = RequestStats{
			Operation: name,
			OK:        op.ok.Load(),
			Refused:   op.refused.Load(),
			Failed:    op.failed.Load(),
			Seconds:   op.seconds.Snapshot(),
		}
	}
	return stats
}

// count makes a request and counts it.
func count[T any](ctx context.Context, op *operation, request func() (T, error)) (T, error) {
	began := time.Now()
	value, err := request()
	if err != nil && ctx.Err() != nil || errors.Is(err, ErrNoMemory) {
		return value, err
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
	return value, err
}

// Fetch implements [Log].
func (o *Observed) Fetch(ctx context.Context, topic string, partition int, offset int64) (Fetched, error) {
	return count(ctx, o.operations[OpFetch], func() (Fetched, error) {
		return o.Broker.Fetch(ctx, topic, partition, offset)
	})
}

// Produce implements [Producer].
func (o *Observed) Produce(ctx context.Context, topic string, partition int, records []Record) (int64, error) {
	return o.produce(ctx, o.Broker, topic, partition, records)
}

func (o *Observed) produce(
	ctx context.Context,
	by Producer,
	topic string,
	partition int,
	records []Record,
) (int64, error) {
	return count(ctx, o.operations[OpProduce], func() (int64, error) {
		return by.Produce(ctx, topic, partition, records)
	})
}

// OpenWriter implements [Sink]; it counts the writers and their requests.
func (o *Observed) OpenWriter(ctx context.Context, id *WriterID, targets ...Target) (Producer, error) {
	writer, err := count(ctx, o.operations[OpOpenWriter], func() (Producer, error) {
		return o.Broker.OpenWriter(ctx, id, targets...)
	})
	if err != nil {
		return nil, err
	}
	o.writers[slices.Index(Protections[:], ProtectionOf(writer))].Add(1)
	return &observedWriter{writer, o}, nil
}

// WritersOpened returns how many writers were opened, by the index of their protection in
// [Protections].
func (o *Observed) WritersOpened() []uint64 {
	opened := make([]uint64, len(o.writers))
	for i := range o.writers {
		opened[i] = o.writers[i].Load()
	}
	return opened
}

// observedWriter is a writer whose requests are counted.
type observedWriter struct {
	Producer
	of *Observed
}

// Produce implements [Producer].
func (w *observedWriter) Produce(ctx context.Context, topic string, partition int, records []Record) (int64, error) {
	return w.of.produce(ctx, w.Producer, topic, partition, records)
}

// Protection implements [Protected].
func (w *observedWriter) Protection() Protection { return ProtectionOf(w.Producer) }

// Offsets implements [Log].
func (o *Observed) Offsets(ctx context.Context, topic string, partition int) (first, next int64, err error) {
	next, err = count(ctx, o.operations[OpOffsets], func() (end int64, err error) {
		first, end, err = o.Broker.Offsets(ctx, topic, partition)
		return end, err
	})
	return first, next, err
}

// Written implements [Log].
func (o *Observed) Written(ctx context.Context, topic string, partition int) (int64, error) {
	return count(ctx, o.operations[OpOffsets], func() (int64, error) { return o.Broker.Written(ctx, topic, partition) })
}

// OffsetAt implements [Log].
func (o *Observed) OffsetAt(ctx context.Context, topic string, partition int, at time.Time) (int64, error) {
	return count(ctx, o.operations[OpOffsets], func() (int64, error) {
		return o.Broker.OffsetAt(ctx, topic, partition, at)
	})
}

// Partitions implements [Log].
func (o *Observed) Partitions(ctx context.Context, topic string) (int, error) {
	return count(ctx, o.operations[OpPartitions], func() (int, error) { return o.Broker.Partitions(ctx, topic) })
}

// Leaderless implements [Log].
func (o *Observed) Leaderless(ctx context.Context, topic string) ([]int, error) {
	return count(ctx, o.operations[OpPartitions], func() ([]int, error) { return o.Broker.Leaderless(ctx, topic) })
}

// Identity implements [Log].
func (o *Observed) Identity(ctx context.Context, topic string, partition int, asOf time.Time) (LogID, error) {
	return count(ctx, o.operations[OpIdentity], func() (LogID, error) {
		return o.Broker.Identity(ctx, topic, partition, asOf)
	})
}

// Committed implements [Broker].
func (o *Observed) Committed(ctx context.Context, group, topic string, partition int) (Committed, error) {
	return count(ctx, o.operations[OpCommitted], func() (Committed, error) {
		return o.Broker.Committed(ctx, group, topic, partition)
	})
}

// Own implements [Broker]; it counts the commits.
func (o *Observed) Own(
	ctx context.Context,
	group string,
	topic string,
	run func(ctx context.Context, o Ownership) error,
) error {
	return o.Broker.Own(ctx, group, topic, func(ctx context.Context, owned Ownership) error {
		commit := owned.Commit
		owned.Commit = func(ctx context.Context, nextOffset int64, of LogID) error {
			_, err := count(ctx, o.operations[OpCommit], func() (struct{}, error) {
				return struct{}{}, commit(ctx, nextOffset, of)
			})
			return err
		}
		return run(ctx, owned)
	})
}
