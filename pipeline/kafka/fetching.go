package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/eerf-stream/eerf/pipeline"
)

// fetching is one fetch: its request, its memory, and the decoding of its response.
type fetching struct {
	client   *Client
	reader   *setReader
	at       place
	offset   int64
	key      partitionKey
	memory   *account
	onlyFree bool

	stats    fetchStats
	maxBytes int    // requested size
	funds    *grant // nil = the response takes free memory when it arrives
}

// run takes no memory before the first request if memory is ample or the partition is not known to
// have data. If the memory turns out too small, it releases everything, waits for more and asks the
// broker again, at last with the memory of the worst fetch.
func (f *fetching) run(ctx context.Context) (pipeline.Fetched, error) {
	f.prepare()
	if f.stats.end > f.offset && !f.memory.ample() {
		if err := f.wait(ctx, f.need(f.maxBytes, 0)); err != nil {
			return pipeline.Fetched{}, err
		}
	}
	for {
		response, err := f.request(ctx)
		if room := (*roomError)(nil); errors.As(err, &room) {
			f.maxBytes = max(f.maxBytes, min(room.set, f.reader.budget))
			err = f.wait(ctx, room.need)
			if err == nil {
				continue
			}
		}
		if err != nil {
			return pipeline.Fetched{}, err
		}
		fetched, err := f.decode(response)
		if !errors.Is(err, errShort) {
			return fetched, err
		}
		if err := f.wait(ctx, worstFetch(f.reader.budget)); err != nil {
			return pipeline.Fetched{}, err
		}
	}
}

// prepare chooses the size of the request: a share of the memory, so that all partitions can hold
// one fetch and have another ahead. It is within the budget, because several batches together must
// not look like a single batch over the budget.
func (f *fetching) prepare() {
	c := f.client
	var partitions int
	f.stats, partitions = c.stats.begin(f.key)
	share := float64(f.memory.size()) / float64(2*partitions) / (1 + f.stats.growth)
	f.maxBytes = min(max(int(share), leastAsked, f.stats.batch), c.config.FetchMaxBytes, f.reader.budget)
}

// need estimates the memory for a set and its decoded records from the stats of the partition.
func (f *fetching) need(set, aborted int) int64 {
	const slack = 16 << 10
	stored := int64(set) + 16*int64(aborted)
	grown := int64(1.25*f.stats.growth*float64(set)) + slack
	return min(stored+min(grown, int64(f.reader.budget)), max(stored, worstFetch(f.reader.budget)))
}

// wait releases all memory and then waits for more.
func (f *fetching) wait(ctx context.Context, bytes int64) (err error) {
	f.funds.release()
	f.funds = nil
	if !f.onlyFree {
		f.funds, err = f.memory.wait(ctx, bytes)
	} else if f.funds = f.memory.try(bytes); f.funds == nil {
		err = pipeline.ErrNoMemory
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%v: wait for memory: %w", f.at, ctx.Err())
	}
	return err
}

// request sends the fetch and returns the response, whose memory has been taken.
func (f *fetching) request(ctx context.Context) (*fetchResponse, error) {
	c := f.client
	var response *fetchResponse
	var failure error
	err := c.call(ctx, f.at, c.config.RequestTimeout+2*c.config.FetchMaxWait, func(ctx context.Context) error {
		pending := &pendingFetch{
			partitionKey: f.key,
			offset:       f.offset,
			maxBytes:     f.maxBytes,
			maxSet:       f.reader.budget,
			cold:         f.stats.cold,
			deadline:     time.Now().Add(c.config.FetchMaxWait),
			memory:       f.memory,
			need:         f.need,
			funds:        f.funds,
			done:         make(chan struct{}),
		}
		var err error
		if f.funds, err = c.leaders.fetch(ctx, pending); err == nil {
			response = pending.response
			if code := kafkago.Error(response.code); isOtherLog(code) {
				c.identities.forget(f.at.topic, pending.log)
				err = fmt.Errorf("%w: no log has the id %s", kafkago.UnknownTopicOrPartition, pending.log)
			} else if code != 0 {
				err = code
			}
		}
		failure = err
		return err
	})
	var large *oversizedSetError
	var room *roomError
	if errors.As(failure, &large) || errors.As(failure, &room) || errors.Is(failure, kafkago.OffsetOutOfRange) {
		return nil, failure
	}
	return response, err
}

// decode decodes a response within its memory, or within free memory, up to the budget.
func (f *fetching) decode(response *fetchResponse) (pipeline.Fetched, error) {
	set, budget := response.set, f.reader.budget
	fetched := pipeline.Fetched{NextOffset: f.offset, End: response.end, Log: response.log}
	if len(set) == 0 {
		f.funds.release()
		f.learn(response, nil)
		return fetched, nil
	}
	stored := int64(cap(set)) + 16*int64(len(response.aborted))
	if f.memory.ample() { // held only while decoding
		f.funds.extend(stored + int64(budget))
	}
	memory := &allowance{left: budget, room: min(int(f.funds.bytes-stored), budget)}
	records, next, err := f.reader.readWithin(memory, set, f.offset, response.aborted)
	if memory.short && f.funds.extend(stored+int64(budget)) {
		memory = &allowance{left: budget, room: budget}
		records, next, err = f.reader.readWithin(memory, set, f.offset, response.aborted)
	}
	f.learn(response, memory)
	if bad := (*unreadableError)(nil); errors.As(err, &bad) {
		bad.next = min(bad.next, max(response.end, f.offset+1)) // a damaged header may state any offset
	}
	if err != nil {
		return pipeline.Fetched{}, err
	}
	if next == f.offset {
		err := fmt.Errorf("%v: the response of %d bytes has no complete batch at the offset", f.at, len(set))
		return pipeline.Fetched{}, err
	}
	for i := range records {
		records[i].Topic, records[i].Partition = f.at.topic, f.at.partition
	}
	fetched.Records, fetched.NextOffset = records, next
	if len(records) == 0 {
		f.funds.release()
		return fetched, nil
	}
	f.funds.shrink(int64(cap(set)) + int64(memory.taken))
	return fetched.Holding(f.funds.release), nil
}

// learn updates the stats after a fetch; memory is nil if it returned no records.
func (f *fetching) learn(response *fetchResponse, memory *allowance) {
	f.client.stats.learn(f.key, func(s *fetchStats) {
		s.end, s.cold = response.end, memory == nil
		if memory == nil {
			return
		}
		s.grew(len(response.set), int64(memory.taken))
		s.batch = 0
		if len(response.set) > f.maxBytes {
			s.batch = len(response.set)
		}
	})
}
