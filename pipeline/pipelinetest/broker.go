package pipelinetest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// The operations that [Broker.FailNext] names.
const (
	OpFetch      = "fetch"
	OpProduce    = "produce"
	OpOffsets    = "offsets"
	OpPartitions = "partitions"
	OpCommitted  = "committed"
)

// fetchRecords is how many records one fetch returns at most.
const fetchRecords = 100

// fetchWait is how long a fetch waits for a first record, unless [Broker.SetFetchWait] says otherwise.
const fetchWait = 20 * time.Millisecond

// Broker is an in-memory [pipeline.Broker].
type Broker struct {
	mu        sync.Mutex
	topics    map[string]*topic
	failures  map[string][]error
	committed map[string]int64
	changed   chan struct{} // closed and replaced when records are appended
	fetches   int
	fetchWait time.Duration
}

var _ pipeline.Broker = (*Broker)(nil)

type topic struct {
	partitions []*shard
	configs    map[string]string
	maxBytes   int // of a produce request; 0 = no limit
}

// shard is one partition of a topic.
type shard struct {
	records     []pipeline.Record // ascending offsets
	first, next int64
	unreadable  map[int64]int64 // offset of an unreadable batch to the one behind it
	splits      map[int64]bool  // offsets before which a fetch ends
}

// NewBroker returns a broker without topics.
func NewBroker() *Broker {
	return &Broker{
		topics: map[string]*topic{}, failures: map[string][]error{}, committed: map[string]int64{},
		changed: make(chan struct{}), fetchWait: fetchWait,
	}
}

// AddTopic makes a topic without configuration.
func (b *Broker) AddTopic(name string, partitions int) { b.AddConfiguredTopic(name, partitions, nil) }

// AddConfiguredTopic makes a topic. Of its configuration max.message.bytes is heeded: Produce refuses records whose
// sizes ([pipeline.Record.Size]) add up to more.
func (b *Broker) AddConfiguredTopic(name string, partitions int, configs map[string]string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := &topic{configs: maps.Clone(configs)}
	if limit, ok := configs["max.message.bytes"]; ok {
		var err error
		if t.maxBytes, err = strconv.Atoi(limit); err != nil {
			panic(fmt.Sprintf("pipelinetest: max.message.bytes of topic %s: %v", name, err))
		}
	}
	t.grow(partitions)
	b.topics[name] = t
}

func (t *topic) grow(partitions int) {
	for len(t.partitions) < partitions {
		t.partitions = append(t.partitions, &shard{unreadable: map[int64]int64{}, splits: map[int64]bool{}})
	}
}

// check refuses records that together are over the topic's limit.
func (t *topic) check(records []pipeline.Record) error {
	size := 0
	for i := range records {
		size += records[i].Size()
	}
	if t.maxBytes > 0 && size > t.maxBytes {
		return fmt.Errorf("%d bytes: %w", size, pipeline.ErrMessageTooLarge)
	}
	return nil
}

// FailNext makes the next calls of an operation fail, one with each error.
func (b *Broker) FailNext(op string, errs ...error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures[op] = append(b.failures[op], errs...)
}

// Expire drops the records before an offset, as retention does; an offset beyond the end leaves the partition
// empty there.
func (b *Broker) Expire(topic string, partition int, first int64) {
	b.with(topic, partition, func(p *shard) {
		p.records = slices.DeleteFunc(p.records, func(r pipeline.Record) bool { return r.Offset < first })
		p.first, p.next = first, max(p.next, first)
	})
}

// LoseEnd drops the records from an offset on, as the election of a leader does that did not have them; with offset 0 the
// partition is as if it were recreated.
func (b *Broker) LoseEnd(topic string, partition int, next int64) {
	b.with(topic, partition, func(p *shard) {
		p.records = slices.DeleteFunc(p.records, func(r pipeline.Record) bool { return r.Offset >= next })
		p.first, p.next = min(p.first, next), min(p.next, next)
	})
}

// Remove drops the record at an offset, as compaction does.
func (b *Broker) Remove(topic string, partition int, offset int64) {
	b.with(topic, partition, func(p *shard) {
		p.records = slices.DeleteFunc(p.records, func(r pipeline.Record) bool { return r.Offset == offset })
	})
}

// Oversize makes the records from offset up to, not including, nextOffset a batch over the memory budget.
func (b *Broker) Oversize(topic string, partition int, offset, nextOffset int64) {
	b.with(topic, partition, func(p *shard) { p.unreadable[offset] = nextOffset })
}

// Split has fetches that begin before an offset end before it.
func (b *Broker) Split(topic string, partition int, offset int64) {
	b.with(topic, partition, func(p *shard) { p.splits[offset] = true })
}

// Records returns what a partition holds.
func (b *Broker) Records(topic string, partition int) []pipeline.Record {
	var records []pipeline.Record
	b.with(topic, partition, func(p *shard) { records = slices.Clone(p.records) })
	return records
}

// SetFetchWait sets how long a fetch waits for a first record.
func (b *Broker) SetFetchWait(wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fetchWait = wait
}

// Fetches returns the number of calls of Fetch so far.
func (b *Broker) Fetches() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fetches
}

// with runs do on a partition that the test made; it panics where it did not.
func (b *Broker) with(topic string, partition int, do func(*shard)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, err := b.find(topic, partition)
	if err != nil {
		panic(err)
	}
	do(p)
}

// find looks a partition up; the caller holds the lock.
func (b *Broker) find(name string, number int) (*shard, error) {
	t, ok := b.topics[name]
	if !ok || number < 0 || number >= len(t.partitions) {
		return nil, fmt.Errorf("%s/%d: %w", name, number, pipeline.ErrUnknownTopic)
	}
	return t.partitions[number], nil
}

// fail returns the next error that was set for the operation; the caller holds the lock.
func (b *Broker) fail(op string) error {
	errs := b.failures[op]
	if len(errs) == 0 {
		return nil
	}
	b.failures[op] = errs[1:]
	return errs[0]
}

// Fetch is part of [pipeline.Log].
func (b *Broker) Fetch(ctx context.Context, topic string, partition int, offset int64) (pipeline.Fetched, error) {
	b.mu.Lock()
	b.fetches++
	wait := time.NewTimer(b.fetchWait)
	b.mu.Unlock()
	defer wait.Stop()
	for {
		fetched, changed, err := b.fetchNow(topic, partition, offset)
		if err != nil || len(fetched.Records) > 0 || fetched.NextOffset > offset {
			return fetched, err
		}
		select {
		case <-ctx.Done():
			return pipeline.Fetched{}, ctx.Err()
		case <-wait.C:
			return fetched, nil
		case <-changed:
		}
	}
}

func (b *Broker) fetchNow(topic string, number int, offset int64) (pipeline.Fetched, <-chan struct{}, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fail(OpFetch); err != nil {
		return pipeline.Fetched{}, nil, err
	}
	p, err := b.find(topic, number)
	if err != nil {
		return pipeline.Fetched{}, nil, err
	}
	if offset < p.first || offset > p.next {
		return pipeline.Fetched{}, nil, &pipeline.OffsetOutOfRangeError{
			Topic: topic, Partition: number, Offset: offset, First: p.first, Next: p.next}
	}
	if after, ok := p.unreadable[offset]; ok {
		return pipeline.Fetched{}, nil, &pipeline.UnreadableBatchError{
			Topic: topic, Partition: number, Offset: offset, NextOffset: after, Err: fmt.Errorf("too much for a test")}
	}
	return p.from(offset), b.changed, nil
}

// from returns the records at and after an offset, up to the first unreadable batch.
func (p *shard) from(offset int64) pipeline.Fetched {
	fetched := pipeline.Fetched{NextOffset: p.next, LogStart: p.first, End: p.next}
	for _, r := range p.records {
		if r.Offset < offset {
			continue
		}
		_, unreadable := p.unreadable[r.Offset]
		if unreadable || len(fetched.Records) == fetchRecords || len(fetched.Records) > 0 && p.splits[r.Offset] {
			fetched.NextOffset = r.Offset
			break
		}
		fetched.Records = append(fetched.Records, r)
	}
	return fetched
}

// Produce is part of [pipeline.Log].
func (b *Broker) Produce(ctx context.Context, topic string, number int, records []pipeline.Record) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := b.fail(OpProduce); err != nil {
		return 0, err
	}
	p, err := b.find(topic, number)
	if err != nil {
		return 0, err
	}
	if len(records) == 0 {
		return 0, pipeline.Permanent(fmt.Errorf("produce to %s/%d: no records", topic, number))
	}
	if err := b.topics[topic].check(records); err != nil {
		return 0, fmt.Errorf("produce to %s/%d: %w", topic, number, err)
	}
	first := p.next
	for _, r := range records {
		r.Topic, r.Partition, r.Offset = topic, number, p.next
		r.Key, r.Value = bytes.Clone(r.Key), bytes.Clone(r.Value) // the caller may write over them
		if r.Time.IsZero() {
			r.Time = time.Now()
		}
		p.records = append(p.records, r)
		p.next++
	}
	close(b.changed)
	b.changed = make(chan struct{})
	return first, nil
}

// Offsets is part of [pipeline.Log].
func (b *Broker) Offsets(_ context.Context, topic string, number int) (first, next int64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fail(OpOffsets); err != nil {
		return 0, 0, err
	}
	p, err := b.find(topic, number)
	if err != nil {
		return 0, 0, err
	}
	return p.first, p.next, nil
}

// Partitions is part of [pipeline.Log].
func (b *Broker) Partitions(_ context.Context, name string) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fail(OpPartitions); err != nil {
		return 0, err
	}
	t, ok := b.topics[name]
	if !ok {
		return 0, fmt.Errorf("%s: %w", name, pipeline.ErrUnknownTopic)
	}
	return len(t.partitions), nil
}

// Committed is part of [pipeline.Log].
func (b *Broker) Committed(_ context.Context, group, topic string, number int) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fail(OpCommitted); err != nil {
		return 0, err
	}
	if next, ok := b.committed[commitKey(group, topic, number)]; ok {
		return next, nil
	}
	return -1, nil
}

func commitKey(group, topic string, number int) string {
	return fmt.Sprintf("%s %s %d", group, topic, number)
}
