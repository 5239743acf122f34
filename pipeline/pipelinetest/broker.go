package pipelinetest

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// fetchRecords is the greatest number of records of one fetch.
const fetchRecords = 100

// fetchWait is how long a fetch waits for a first record, unless [Broker.SetFetchWait] sets another
// time.
const fetchWait = 20 * time.Millisecond

// Broker is an in-memory [pipeline.Broker].
type Broker struct {
	mu        sync.Mutex
	topics    map[string]*topic
	failures  map[string][]error
	committed map[string]committed
	changed   chan struct{} // closed and replaced when records are appended
	fetches   int
	fetchWait time.Duration
	made      int // topics
}

var _ pipeline.Broker = (*Broker)(nil)

type topic struct {
	partitions []*shard
	configs    map[string]string
	maxBytes   int // of a produce request; 0 = no limit
	id         pipeline.LogID
}

// committed is a committed offset and its log.
type committed struct {
	next int64
	of   pipeline.LogID
}

// shard is one partition of a topic.
type shard struct {
	records     []pipeline.Record // ascending offsets
	first, next int64
	epoch       int32           // of the leader: the number of truncations
	unreadable  map[int64]int64 // maps the offset of an unreadable batch to the one after it
	splits      map[int64]bool  // offsets before which a fetch ends
}

// NewBroker returns a broker without topics.
func NewBroker() *Broker {
	return &Broker{
		topics: map[string]*topic{}, failures: map[string][]error{}, committed: map[string]committed{},
		changed: make(chan struct{}), fetchWait: fetchWait,
	}
}

// AddTopic creates a topic without configuration.
func (b *Broker) AddTopic(name string, partitions int) { b.AddConfiguredTopic(name, partitions, nil) }

// AddConfiguredTopic creates a topic. Only max.message.bytes has an effect: Produce refuses records
// whose sizes ([pipeline.Record.Size]) add up to more.
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
	b.made++
	t.id = pipeline.LogID(fmt.Sprintf("log-%d", b.made))
	b.topics[name] = t
}

func (t *topic) grow(partitions int) {
	for len(t.partitions) < partitions {
		t.partitions = append(t.partitions, &shard{unreadable: map[int64]int64{}, splits: map[int64]bool{}})
	}
}

// check refuses records that exceed the topic's limit together.
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

// FailNext makes the next calls of an operation, such as [pipeline.OpFetch], fail, one with each
// error.
func (b *Broker) FailNext(op string, errs ...error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures[op] = append(b.failures[op], errs...)
}

// Expire drops the records before an offset, as retention does; an offset beyond the end leaves the
// partition empty there.
func (b *Broker) Expire(topic string, partition int, first int64) {
	b.with(topic, partition, func(p *shard) {
		p.records = slices.DeleteFunc(p.records, func(r pipeline.Record) bool { return r.Offset < first })
		p.first, p.next = first, max(p.next, first)
	})
}

// Recreate deletes and recreates a topic, which is then empty.
func (b *Broker) Recreate(topic string) {
	b.mu.Lock()
	t := b.topics[topic]
	b.mu.Unlock()
	b.AddConfiguredTopic(topic, len(t.partitions), t.configs)
}

// SetIdentity gives the log of a topic another identity.
func (b *Broker) SetIdentity(topic string, id pipeline.LogID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.topics[topic].id = id
}

// LoseEnd drops the records from an offset on, as the election of a leader without them does.
func (b *Broker) LoseEnd(topic string, partition int, next int64) {
	b.with(topic, partition, func(p *shard) {
		p.records = slices.DeleteFunc(p.records, func(r pipeline.Record) bool { return r.Offset >= next })
		p.first, p.next = min(p.first, next), min(p.next, next)
		p.epoch++
	})
}

// Remove drops the record at an offset, as compaction does.
func (b *Broker) Remove(topic string, partition int, offset int64) {
	b.with(topic, partition, func(p *shard) {
		p.records = slices.DeleteFunc(p.records, func(r pipeline.Record) bool { return r.Offset == offset })
	})
}

// Oversize makes the records from offset up to, but not including, nextOffset a batch over the
// memory budget.
func (b *Broker) Oversize(topic string, partition int, offset, nextOffset int64) {
	b.with(topic, partition, func(p *shard) { p.unreadable[offset] = nextOffset })
}

// Split makes fetches that begin before an offset end there.
func (b *Broker) Split(topic string, partition int, offset int64) {
	b.with(topic, partition, func(p *shard) { p.splits[offset] = true })
}

// Records returns the records of a partition.
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

// mark returns a mark as if each record were its own batch.
func mark(r *pipeline.Record, epoch int32) pipeline.Mark {
	sum := crc32.NewIEEE()
	sum.Write(r.Key)
	sum.Write(r.Value)
	return pipeline.Mark{Offset: r.Offset, Checksum: max(1, sum.Sum32()^uint32(epoch)<<16), Epoch: epoch}
}

// with calls do on an existing partition; it panics if the partition does not exist.
func (b *Broker) with(topic string, partition int, do func(*shard)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, err := b.find(topic, partition)
	if err != nil {
		panic(err)
	}
	do(p)
}

// find looks up a partition. The caller holds the lock.
func (b *Broker) find(name string, number int) (*shard, error) {
	t, ok := b.topics[name]
	if !ok || number < 0 || number >= len(t.partitions) {
		return nil, fmt.Errorf("%s/%d: %w", name, number, pipeline.ErrUnknownTopic)
	}
	return t.partitions[number], nil
}

// fail returns the next error set for the operation. The caller holds the lock.
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
	if err := b.fail(pipeline.OpFetch); err != nil {
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
	fetched := p.from(offset)
	fetched.Log = b.topics[topic].id
	return fetched, b.changed, nil
}

// from returns the records at and after an offset, up to the first unreadable batch.
func (p *shard) from(offset int64) pipeline.Fetched {
	fetched := pipeline.Fetched{NextOffset: p.next, End: p.next}
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

// Produce is part of [pipeline.Producer].
func (b *Broker) Produce(ctx context.Context, topic string, number int, records []pipeline.Record) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := b.fail(pipeline.OpProduce); err != nil {
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
		r.Topic = topic
		r.Partition = number
		r.Offset = p.next
		r.Key = bytes.Clone(r.Key) // the caller may overwrite it and the following
		r.Value = bytes.Clone(r.Value)
		r.Headers = slices.Clone(r.Headers)
		for i := range r.Headers {
			r.Headers[i].Value = bytes.Clone(r.Headers[i].Value)
		}
		if r.Time.IsZero() {
			r.Time = time.Now()
		}
		r.Batch = mark(&r, p.epoch)
		p.records = append(p.records, r)
		p.next++
	}
	close(b.changed)
	b.changed = make(chan struct{})
	return first, nil
}

// OpenWriter returns the broker itself.
func (b *Broker) OpenWriter(context.Context, *pipeline.WriterID, ...pipeline.Target) (pipeline.Producer, error) {
	return b, nil
}

// Offsets is part of [pipeline.Log].
func (b *Broker) Offsets(_ context.Context, topic string, number int) (first, next int64, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fail(pipeline.OpOffsets); err != nil {
		return 0, 0, err
	}
	p, err := b.find(topic, number)
	if err != nil {
		return 0, 0, err
	}
	return p.first, p.next, nil
}

// Written is part of [pipeline.Log]: transactions are never open.
func (b *Broker) Written(ctx context.Context, topic string, number int) (int64, error) {
	_, next, err := b.Offsets(ctx, topic, number)
	return next, err
}

// OffsetAt is part of [pipeline.Log].
func (b *Broker) OffsetAt(_ context.Context, topic string, number int, at time.Time) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fail(pipeline.OpOffsets); err != nil {
		return 0, err
	}
	p, err := b.find(topic, number)
	if err != nil {
		return 0, err
	}
	for i := range p.records {
		if !p.records[i].Time.Before(at) {
			return p.records[i].Offset, nil
		}
	}
	return p.next, nil
}

// Partitions is part of [pipeline.Log].
func (b *Broker) Partitions(_ context.Context, name string) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fail(pipeline.OpPartitions); err != nil {
		return 0, err
	}
	t, ok := b.topics[name]
	if !ok {
		return 0, fmt.Errorf("%s: %w", name, pipeline.ErrUnknownTopic)
	}
	return len(t.partitions), nil
}

// Leaderless is part of [pipeline.Log]: every partition has a leader.
func (b *Broker) Leaderless(context.Context, string) ([]int, error) { return nil, nil }

// Identity is part of [pipeline.Log].
func (b *Broker) Identity(_ context.Context, name string, _ int, _ time.Time) (pipeline.LogID, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fail(pipeline.OpIdentity); err != nil {
		return "", err
	}
	t, ok := b.topics[name]
	if !ok {
		return "", fmt.Errorf("%s: %w", name, pipeline.ErrUnknownTopic)
	}
	return t.id, nil
}
