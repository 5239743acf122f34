package calibrate

import (
	"context"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/state"
)

// interval is a range of offsets.
type interval struct{ from, to int64 }

// reported returns the offsets of each partition whose dead letters were already sent: the offsets
// that earlier explorations noted, joined with the offsets that the current set was made from.
// Offsets that an exploration left out, or that another configuration refused, are not reported.
func reported(now state.Snapshot) map[int32]interval {
	last := now.Spec
	if last == nil {
		return nil
	}
	found := make(map[int32]interval, len(last.Partitions))
	for _, p := range last.Partitions {
		if note := last.Note(p.Partition); !note.ReportedWhole {
			found[p.Partition] = interval{note.ReportedFrom, note.ReportedTo}
		}
	}
	set := now.CurrentSet()
	if set == nil || set.Set.Lineage.Exploration != last.Exploration {
		return found
	}
	for _, p := range set.Set.Lineage.Partitions {
		found[p.Partition] = found[p.Partition].and(interval{p.StartOffset, p.NextOffset})
	}
	return found
}

// and joins intervals that touch; otherwise it returns other.
func (i interval) and(other interval) interval {
	if i.from == i.to || i.to < other.from || other.to < i.from {
		return other
	}
	return interval{min(i.from, other.from), max(i.to, other.to)}
}

// forgetLost forgets the reported offsets of partitions that were truncated since: other events may
// now have these offsets.
func (l *log) forgetLost(ctx context.Context, scans []*scan, r Request) error {
	if r.Last == nil {
		return nil
	}
	for _, s := range scans {
		p := s.part.Partition
		if _, ok := r.Reported[p]; !ok || s.last == (wire.BatchMark{}) {
			continue // nothing to forget, or nothing read that could be reported
		}
		last := r.Last.Note(p).LastBatch
		if last == (wire.BatchMark{}) {
			continue
		}
		mark := pipeline.Mark{Offset: last.Offset, Checksum: last.Checksum}
		holds, err := pipeline.Holds(ctx, l.env.Broker, l.env.Logger, l.env.Topics.Events, int(p), mark)
		if err != nil {
			return err
		}
		if !holds {
			delete(r.Reported, p)
		}
	}
	return nil
}

// carry copies to the spec which dead letters of the same log were reported, under the same
// configuration or before the first exploration.
func (r *Request) carry(spec *wire.Spec) {
	last := r.Last
	if last != nil && (last.ConfigHash != spec.ConfigHash || last.EventsLog != spec.EventsLog ||
		last.Limits != spec.Limits ||
		last.Messages != spec.Messages) {
		return
	}
	for _, p := range spec.Partitions {
		if was := r.Reported[p.Partition]; was != (interval{}) {
			note := spec.EditNote(p.Partition)
			note.ReportedFrom = was.from
			note.ReportedTo = was.to
			note.ReportedWhole = last == nil
		}
	}
}
