package calibrate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/topics"
)

// log reads the events of a pipeline for a plan.
type log struct{ env env.Env }

// source returns how to read events whose schemas the admission accepts; nil = all schemas.
func (l *log) source(s Settings, admission *events.Admission) events.Source {
	return events.Source{
		Limits:    s.Limits.Decoder(),
		Format:    s.Events.Format,
		Schema:    s.Schema,
		Registry:  l.env.Registry,
		Admission: admission,
		Slots:     l.env.Slots,
	}
}

// probeOffsets is the number of offsets at the end of a partition from which the size of its
// messages is estimated.
const probeOffsets = 8

// extent describes the contents of a partition.
type extent struct {
	first, end  int64   // offsets
	rows, bytes float64 // estimates per offset; 0 = unknown
	out         bool    // excluded, not looked up
}

// ranges returns the range of each partition of events, in partition order.
func (l *log) ranges(ctx context.Context, s Settings, from wire.From, r Request) ([]wire.Partition, error) {
	partitions, err := l.extents(ctx, r.Excluded)
	if err != nil {
		return nil, err
	}
	share := 1.0
	if from == wire.FromRecent {
		if err := l.probe(ctx, s, partitions); err != nil {
			return nil, err
		}
		share = windowShare(partitions, s.Exploration.Window, s.Exploration.WindowBytes)
	}
	ranges := make([]wire.Partition, len(partitions))
	for i, p := range partitions {
		if p.out {
			ranges[i] = leftOut(int32(i), r)
			continue
		}
		start := p.end - int64(math.Ceil(share*float64(p.end-p.first)))
		if from == wire.FromNext && r.Last != nil && sameLog(r.Last, s.EventsLog) {
			if before, ok := r.Last.Partition(int32(i)); ok {
				next := before.EndOffset
				if r.Unfinished {
					next = before.StartOffset
				}
				start = min(max(next, p.first), p.end)
			}
		}
		ranges[i] = wire.Partition{Partition: int32(i), StartOffset: start, EndOffset: p.end}
	}
	return ranges, nil
}

// identity returns the identity of the log of events.
func (l *log) identity(ctx context.Context) (string, error) {
	id, err := pipeline.Retry(
		ctx,
		l.env.Logger,
		"look up the identity of "+l.env.Topics.Events,
		func() (pipeline.LogID, error) {
			return l.env.Broker.Identity(ctx, l.env.Topics.Events, pipeline.AnyPartition, time.Now())
		},
	)
	return string(id), err
}

// sameLog reports whether the offsets of a spec may belong to a log.
func sameLog(spec *wire.Spec, log string) bool {
	return spec.EventsLog == "" || log == "" || spec.EventsLog == log
}

// leftOut returns the range of an excluded partition: empty, at the offset where the next
// exploration would continue.
func leftOut(partition int32, r Request) wire.Partition {
	var at int64
	if r.Last != nil {
		before, _ := r.Last.Partition(partition)
		if at = before.EndOffset; r.Unfinished {
			at = before.StartOffset
		}
	}
	return wire.Partition{Partition: partition, StartOffset: at, EndOffset: at}
}

// windowShare returns the share of the partitions' contents, newest first, that fits the window.
func windowShare(partitions []extent, rows, bytes int64) float64 {
	var offsets, allRows, allBytes, probed float64
	for _, p := range partitions {
		offsets += float64(p.end - p.first)
		if p.rows > 0 || p.bytes > 0 {
			probed += float64(p.end - p.first)
			allRows += p.rows * float64(p.end-p.first)
			allBytes += p.bytes * float64(p.end-p.first)
		}
	}
	if probed == 0 {
		return 1
	}
	allRows, allBytes = allRows*offsets/probed, allBytes*offsets/probed // assumes that the other partitions are similar
	return min(1, float64(rows)/allRows, float64(bytes)/allBytes)
}

// extents looks up the extent of each partition of events below its last stable offset, except for
// the excluded ones.
func (l *log) extents(ctx context.Context, without []wire.Exclusion) ([]extent, error) {
	n, err := l.env.Broker.Partitions(ctx, l.env.Topics.Events)
	if err != nil {
		return nil, fmt.Errorf("topic %s: %w", l.env.Topics.Events, err)
	}
	for _, topic := range []string{l.env.Topics.Scores, l.env.Topics.Samples} {
		switch have, err := l.env.Broker.Partitions(ctx, topic); {
		case err != nil:
			return nil, fmt.Errorf("topic %s: %w", topic, err)
		case have < n:
			return nil, fmt.Errorf("topic %s: %d partitions, events has %d: %w", topic, have, n, topics.ErrNotCoPartitioned)
		}
	}
	partitions := make([]extent, n)
	for _, w := range without {
		if int(w.Partition) < n {
			partitions[w.Partition].out = true
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(Scanners)
	for i := range partitions {
		if partitions[i].out {
			continue
		}
		group.Go(func() error {
			first, end, err := l.env.Broker.Offsets(ctx, l.env.Topics.Events, i)
			if err != nil {
				return &partitionError{int32(i), fmt.Errorf("offsets of %s/%d: %w", l.env.Topics.Events, i, err)}
			}
			partitions[i] = extent{first: first, end: max(first, end)}
			return nil
		})
	}
	return partitions, group.Wait()
}

// probe measures the last messages of each non-empty partition.
func (l *log) probe(ctx context.Context, s Settings, partitions []extent) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(Scanners)
	for i := range partitions {
		p := &partitions[i]
		if p.first == p.end {
			continue
		}
		group.Go(func() error {
			from := max(p.first, p.end-probeOffsets)
			err := l.each(
				ctx,
				l.source(s, nil),
				s,
				i,
				pipeline.ReadOptions{From: from, Until: p.end},
				func([]byte) {},
				func(record pipeline.Record, m message, _ error) {
					p.bytes += float64(record.Size())
					p.rows += float64(m.rows)
				},
			)
			p.rows /= float64(p.end - from)
			p.bytes /= float64(p.end - from)
			return err
		})
	}
	return group.Wait()
}

// sameRows reports whether the last exploration read, or is reading, exactly these ranges under the
// same configuration, limits and arithmetic. A cancelled or abandoned exploration does not count.
func sameRows(ranges []wire.Partition, s Settings, last *wire.Spec) bool {
	return last != nil && last.Status != wire.StatusCancelled && last.Status != wire.StatusAbandoned &&
		last.ConfigHash == s.hash() &&
		last.Limits == s.Limits.Decoder() && last.Messages == s.messages() &&
		(last.BatchBudget == 0 || last.BatchBudget == s.BatchBudget) &&
		last.Arithmetic == scoring.Arithmetic() &&
		sameLog(last, s.EventsLog) &&
		slices.EqualFunc(ranges, last.Partitions, func(a, b wire.Partition) bool {
			return a.Partition == b.Partition && a.StartOffset == b.StartOffset && a.EndOffset == b.EndOffset
		})
}
