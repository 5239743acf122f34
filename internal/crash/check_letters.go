package crash

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/meter"
)

// rowNumbers returns the numbers of the rows in a dead letter.
func rowNumbers(batch arrow.Record) []int32 {
	at := batch.Schema().FieldIndices(wire.ColumnRejectedRow)
	if len(at) == 0 {
		return nil
	}
	numbers, _ := batch.Column(at[0]).(*array.Int32)
	return slices.Clone(numbers.Int32Values())
}

// checkLetters checks that the dead letters are exactly the inputs that are not in features.
func (r *run) checkLetters(ctx context.Context) error {
	for partition := range partitions {
		letters, err := r.letters(ctx, partition)
		if err != nil {
			return err
		}
		have := map[string]map[[2]int64]bool{
			string(meter.StageCalibrate): {},
			string(meter.StageFeaturize): {},
			string(meter.StageSubsample): {},
		}
		for _, l := range letters {
			if have[l.Stage] == nil {
				r.fault("dead-letters/%d offset %d: unexpected stage %s: %s", partition, l.record.Offset, l.Stage, l.Detail)
				continue
			}
			r.checkLetter(partition, l)
			for _, row := range append(l.rows, wholeIf(l.Rows == 0)...) {
				have[l.Stage][[2]int64{l.Offset, int64(row)}] = true
			}
		}
		r.checkFeaturizeLetters(partition, have[string(meter.StageFeaturize)])
		planned := have[string(meter.StageCalibrate)]
		if usable := lacking(planned, r.unusable(partition, r.logs...)); len(usable) > 0 {
			r.fault("dead-letters/%d: unexpected from calibrate: %v", partition, usable)
		}
		r.checkSubsampleLetters(partition, have[string(meter.StageSubsample)], planned)
	}
	for _, e := range r.sets {
		var rows, messages int64
		for _, refused := range e.refused {
			for at := range refused {
				if at[1] == whole {
					messages++
				} else {
					rows++
				}
			}
		}
		if c := e.Lineage.Counts; rows != c.Rejected || messages != c.Undecodable {
			r.fault("exploration %d: %d rows and %d messages cannot be used, counted %d and %d",
				e.Lineage.Sequence, rows, messages, c.Rejected, c.Undecodable)
		}
	}
	return nil
}

// whole stands for the row number if a whole message was refused.
const whole = -1

func wholeIf(refused bool) []int32 {
	if refused {
		return []int32{whole}
	}
	return nil
}

// checkLetter checks that a message refused whole kept its bytes.
func (r *run) checkLetter(partition int, l letter) {
	is := func(m *Message) bool { return m.Refused() && bytes.Equal(l.record.Value, m.Value) }
	switch {
	case int(l.Partition) != partition || l.Offset >= allMessages:
		r.fault("dead-letters/%d offset %d: names event %d of partition %d", partition, l.record.Offset, l.Offset,
			l.Partition)
	case l.Rows == 0 && !r.inSomeLog(partition, l.Offset, is):
		r.fault("dead-letters/%d offset %d: event %d (%s) has other bytes or is usable",
			partition, l.record.Offset, l.Offset, l.Reason)
	}
}

func (r *run) checkFeaturizeLetters(partition int, have map[[2]int64]bool) {
	want := r.unusable(partition, r.logs...)
	missing := lacking(r.unusable(partition, r.events()), have)
	if extra := lacking(have, want); len(missing)+len(extra) > 0 {
		r.fault("dead-letters/%d: of %d rows and messages of featurize, %v are missing; unexpected: %v",
			partition, len(want), missing, extra)
	}
}

// lacking returns the members of one set that another lacks.
func lacking(of, in map[[2]int64]bool) map[[2]int64]bool {
	missing := maps.Clone(of)
	maps.DeleteFunc(missing, func(at [2]int64, _ bool) bool { return in[at] })
	return missing
}

// unusable returns the rows and whole messages of a partition that cannot be used, in any of the
// logs.
func (r *run) unusable(partition int, logs ...*eventLog) map[[2]int64]bool {
	found := map[[2]int64]bool{}
	for _, log := range logs {
		for offset, m := range log.input[partition] {
			for _, row := range append(slices.Clone(m.Bad), wholeIf(m.Refused())...) {
				if m.Refused() == (row == whole) {
					found[[2]int64{int64(offset), int64(row)}] = true
				}
			}
		}
	}
	return found
}

// checkSubsampleLetters checks that the dead letters of subsample are exactly the inputs that
// explorations refused. Overlapping owners may start explorations that give no set, and
// explorations of a lost log are abandoned: their dead letters are allowed. Subsample need not
// repeat whole messages up to the last one that calibrate reported before the first exploration.
func (r *run) checkSubsampleLetters(partition int, have, planned map[[2]int64]bool) {
	want := map[[2]int64]bool{}
	for _, e := range r.sets {
		if !r.plan.has(ActLose) || e.log == r.events() && !e.gone {
			maps.Copy(want, e.refused[partition])
		}
	}
	maps.DeleteFunc(want, func(at [2]int64, _ bool) bool { return r.mayHaveLost(partition, at[0]) })
	known := maps.Clone(want)
	reported := int64(-1)
	for at := range planned {
		reported = max(reported, at[0])
	}
	maps.DeleteFunc(want, func(at [2]int64, _ bool) bool { return at[1] == whole && at[0] <= reported })
	if r.plan.overlaps() || r.plan.abandons() {
		known = r.unusable(partition, r.logs...)
	}
	missing, usable := lacking(want, have), lacking(have, known)
	if len(missing)+len(usable) > 0 {
		r.fault("dead-letters/%d: missing from subsample: %v; unexpected: %v", partition, missing, usable)
	}
}

// mayHaveLost reports whether the broker may have lost the dead letters of a message that it kept:
// a set that reads the message may have been explored before the loss. Processes that hold the set
// rewrite it, and later explorations assume that its dead letters were sent.
func (r *run) mayHaveLost(partition int, offset int64) bool {
	return slices.ContainsFunc(r.sets, func(e *explored) bool {
		return slices.ContainsFunc(e.spec.Partitions, func(p wire.Partition) bool {
			return int(p.Partition) == partition && p.StartOffset <= offset && offset < p.EndOffset &&
				p.EndOffset <= int64(r.events().kept[partition])
		})
	})
}
