package status

import (
	"context"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
)

// tail reads the ends of a topic's partitions: first the last records, then new ones, a bounded
// number of records and bytes at a time. It skips and counts the rest, but always reads the newest
// record.
type tail struct {
	log   pipeline.Log
	topic string

	most  int64 // offsets of a partition to read at a time, and before the end at first
	bytes int   // of a partition to read at a time, approximately

	next   map[int]int64 // by partition
	passed int64         // skipped offsets
}

// forget makes reading start over at the ends.
func (t *tail) forget() { t.next = nil }

// read calls do for the new records of a partition. The log spans start to end.
func (t *tail) read(ctx context.Context, partition int, start, end int64, do func(pipeline.Record)) error {
	r := pipeline.NewReader(t.log, zap.NewNop(), t.topic, partition,
		pipeline.ReadOptions{From: t.from(partition, start, end), Until: end})
	spent := 0
	var failed error
	for fetched, err := range r.Fetches(ctx) {
		failed = err
		for _, record := range fetched.Records {
			spent += record.Size()
			do(record)
		}
		if at := r.NextOffset(); spent > t.bytes && at < end-1 {
			t.passed += end - 1 - at
			r.MoveTo(end - 1)
		}
	}
	t.settle(partition, r.NextOffset())
	return failed
}

// from returns the offset at which reading begins.
func (t *tail) from(partition int, start, end int64) int64 {
	at, known := t.next[partition]
	if !known || at > end { // the topic may have been recreated
		return max(start, end-t.most)
	}
	at = max(at, start)
	if at < end-t.most {
		t.passed += end - t.most - at
		at = end - t.most
	}
	return at
}

func (t *tail) settle(partition int, at int64) {
	if t.next == nil {
		t.next = map[int]int64{}
	}
	t.next[partition] = at
}
