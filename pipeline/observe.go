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
	OpAdmin      = "admin" // topics made, described, listed or grown
)

// RequestStats says how the requests of one operation went. It leaves out requests that ended because their context
// did, and those for which no memory was free ([ErrNoMemory]).
type RequestStats struct {
	Operation string
	OK        uint64
	// Refused counts errors that a retry would not change ([IsPermanent]): an offset that is gone, a message too large.
	Refused uint64
	// Failed counts the others, which [Retry] retries.
	Failed uint64
	// Seconds are the times of all requests. A fetch of an idle partition waits at the broker.
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
	writers    *writerCounts
}

// writerCounts counts opened writers by the index of their protection in [Protections].
type writerCounts [len(Protections)]atomic.Uint64

var (
	_ RequestReporter = (*Observed)(nil)
	_ GroupReporter   = (*Observed)(nil)
	_ MemoryReporter  = (*Observed)(nil)
	_ WriterReporter  = (*Observed)(nil)
	_ WriterOpener    = (*Observed)(nil)

	_ LeaderReporter    = (*Observed)(nil)
	_ TopicLister       = (*Observed)(nil)
	_ StabilityReporter = (*Observed)(nil)
)

type operation struct {
	name                string
	ok, refused, failed atomic.Uint64
	seconds             *histogram.Histogram
}

// Observe returns a broker that counts the requests to the given one.
func Observe(broker Broker) *Observed {
	o := &Observed{Broker: broker, writers: &writerCounts{}}
	for _, name := range []string{OpFetch, OpProduce, OpOffsets, OpPartitions, OpIdentity, OpCommitted, OpCommit, OpOpenWriter, OpAdmin} {
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

// Groups returns what the broker reports, or none.
func (o *Observed) Groups() []GroupStatus {
	if reporter, ok := o.Broker.(GroupReporter); ok {
		return reporter.Groups()
	}
	return nil
}

// FetchMemory returns what the broker reports, or nothing.
func (o *Observed) FetchMemory() MemoryStats {
	if reporter, ok := o.Broker.(MemoryReporter); ok {
		return reporter.FetchMemory()
	}
	return MemoryStats{}
}

// record counts a request that began at a time and ended with err.
func (o *Observed) record(ctx context.Context, name string, began time.Time, err error) {
	if err != nil && ctx.Err() != nil || errors.Is(err, ErrNoMemory) {
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
	return &Observed{Broker: o.Broker.WithBatchBudget(bytes), operations: o.operations, writers: o.writers}
}

// Produce implements [Producer].
func (o *Observed) Produce(ctx context.Context, topic string, partition int, records []Record) (int64, error) {
	return o.produce(ctx, o.Broker, topic, partition, records)
}

func (o *Observed) produce(ctx context.Context, by Producer, topic string, partition int, records []Record) (int64, error) {
	began := time.Now()
	first, err := by.Produce(ctx, topic, partition, records)
	o.record(ctx, OpProduce, began, err)
	return first, err
}

// OpenWriter implements [WriterOpener]; it counts the writers and what they write.
func (o *Observed) OpenWriter(ctx context.Context, seat *Seat, targets ...Target) (Producer, error) {
	opener, ok := o.Broker.(WriterOpener)
	if !ok {
		o.opened(o.Broker)
		return o, nil
	}
	began := time.Now()
	writer, err := opener.OpenWriter(ctx, seat, targets...)
	o.record(ctx, OpOpenWriter, began, err)
	if err != nil {
		return nil, err
	}
	o.opened(writer)
	return &observedWriter{writer, o}, nil
}

func (o *Observed) opened(writer Producer) {
	o.writers[slices.Index(Protections[:], ProtectionOf(writer))].Add(1)
}

// WritersOpened implements [WriterReporter].
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
	began := time.Now()
	first, next, err = o.Broker.Offsets(ctx, topic, partition)
	o.record(ctx, OpOffsets, began, err)
	return first, next, err
}

// OffsetAt implements [Log].
func (o *Observed) OffsetAt(ctx context.Context, topic string, partition int, at time.Time) (int64, error) {
	began := time.Now()
	offset, err := o.Broker.OffsetAt(ctx, topic, partition, at)
	o.record(ctx, OpOffsets, began, err)
	return offset, err
}

// Partitions implements [Log].
func (o *Observed) Partitions(ctx context.Context, topic string) (int, error) {
	began := time.Now()
	n, err := o.Broker.Partitions(ctx, topic)
	o.record(ctx, OpPartitions, began, err)
	return n, err
}

// Leaderless implements [LeaderReporter]: it returns what the broker reports, or none.
func (o *Observed) Leaderless(ctx context.Context, topic string) ([]int, error) {
	began := time.Now()
	partitions, err := Leaderless(ctx, o.Broker, topic)
	o.record(ctx, OpPartitions, began, err)
	return partitions, err
}

// Topics implements [TopicLister]: what the broker lists, none where it does not.
func (o *Observed) Topics(ctx context.Context) ([]string, error) {
	lister, ok := o.Broker.(TopicLister)
	if !ok {
		return nil, nil
	}
	began := time.Now()
	topics, err := lister.Topics(ctx)
	o.record(ctx, OpAdmin, began, err)
	return topics, err
}

// Written implements [StabilityReporter]: it returns what the broker reports, or the end.
func (o *Observed) Written(ctx context.Context, topic string, partition int) (next int64, err error) {
	reporter, ok := o.Broker.(StabilityReporter)
	if !ok {
		_, next, err = o.Offsets(ctx, topic, partition)
		return next, err
	}
	began := time.Now()
	next, err = reporter.Written(ctx, topic, partition)
	o.record(ctx, OpOffsets, began, err)
	return next, err
}

// Identity implements [Log].
func (o *Observed) Identity(ctx context.Context, topic string, partition int, asOf time.Time) (LogID, error) {
	began := time.Now()
	id, err := o.Broker.Identity(ctx, topic, partition, asOf)
	o.record(ctx, OpIdentity, began, err)
	return id, err
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
		owned.Commit = func(ctx context.Context, nextOffset int64, of LogID) error {
			began := time.Now()
			err := commit(ctx, nextOffset, of)
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
