package featurize

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// position is where featurizing goes on in a partition of events.
type position struct {
	next      int64         // offset of events to read
	nextRow   int32         // its first row that is not in the output
	partlyOut string        // feature set of the rows before nextRow; empty if nextRow is 0
	source    sourceLog     // the log that next belongs to
	batch     pipeline.Mark // the batch of events read last
}

// positionAfter returns the position after an output; ok is false for a record that was not made of this partition of
// events.
func positionAfter(rec pipeline.Record, topic string, partition int) (at position, ok bool) {
	rows, err := wire.ParseFeatureHeaders(rec.Headers)
	if err != nil || rows.SourceTopic != topic || int(rows.SourcePartition) != partition || rows.SourceOffset == math.MaxInt64 {
		return position{}, false
	}
	at.source = parseSourceLog(rows.SourceLog)
	at.batch = pipeline.Mark{Offset: rows.SourceBatch.Offset, Checksum: rows.SourceBatch.Checksum}
	at.advancePast(rows)
	return at, true
}

// advancePast moves the position past the rows of an output.
func (at *position) advancePast(rows wire.FeatureBatch) {
	at.next, at.nextRow, at.partlyOut = rows.SourceOffset+1, 0, ""
	if !rows.Last() {
		at.next, at.nextRow, at.partlyOut = rows.SourceOffset, rows.FirstRow+rows.RowCount, rows.FeatureSetID
	}
}

// resume goes on after the last output whose events the log still holds; without one, at the group's committed offset,
// else as configured. A committed offset past the end of the output is obeyed: the events before it became dead letters if a
// member of the group committed it, else an operator wants them left out.
func (p *partition) resume(ctx context.Context) error {
	failpoint.Hit(failpoint.ResumeBefore)
	if err := p.findPosition(ctx); err != nil {
		return fmt.Errorf("resume featurizing %s/%d: %w", p.Env.Topics.Events, p.number, err)
	}
	if !p.hasLive {
		return nil
	}
	return pipeline.Try(ctx, p.logger, "resume live errors", func() error { return p.blocks.resume(ctx) })
}

func (p *partition) findPosition(ctx context.Context) error {
	var o *outputEnd
	found, err := pipeline.Retry(ctx, p.logger, "find the end of the output", func() (found bool, err error) {
		o = &outputEnd{partition: p}
		p.position, found, err = o.find(ctx)
		return found, err
	})
	if err != nil {
		return err
	}
	o.report()
	committed, err := pipeline.Retry(ctx, p.logger, "look up the committed offset", func() (pipeline.Committed, error) {
		return p.Env.Broker.Committed(ctx, p.Env.Group, p.Env.Topics.Events, p.number)
	})
	p.committed = committed.Next
	switch {
	case err != nil:
		return err
	case p.committed > o.end:
		p.logger.Error("committed offset is past the end of the log; ignoring it", zap.Int64("committed", p.committed), zap.Int64("end", o.end))
		p.committed = -1
	case p.committed < 0 || o.lost() > 0 || found && p.committed <= p.next:
	case committed.ByMember:
		if found {
			p.logger.Warn("events after the end of the output are dead letters according to the committed offset: going on there",
				zap.Int64("committed", p.committed), zap.Int64("next_offset", p.next))
		}
		p.position, found = position{next: p.committed, source: p.source}, true
	case found || o.none:
		return p.leaveOut(ctx, o, found)
	default: // what the output was is not known any more
		p.position, found = position{next: p.committed, source: p.source}, true
	}
	if found {
		return nil
	}
	return p.begin(ctx, o)
}

// countingTime is how long the rows that an operator leaves out are counted. Their offsets are known without.
const countingTime = 2 * time.Second

// leaveOut goes on at a committed offset that no member of the group has committed: an operator reset the group. What that leaves out
// is said and counted once, since the next offset that is committed is a member's again.
func (p *partition) leaveOut(ctx context.Context, o *outputEnd, found bool) error {
	from := p.position
	if !found {
		from.next = o.first
	}
	p.position, p.committed = position{next: p.committed, source: p.source}, -1
	offsets := p.next - from.next
	if offsets <= 0 {
		return nil
	}
	rows, upTo, err := p.countRows(ctx, from)
	if err != nil {
		return err
	}
	p.logger.Warn("the group's offset was reset past the end of the output: going on there; the events before it are left out",
		zap.Int64("committed", p.next), zap.Int64("next_offset", from.next), zap.Int32("next_row", from.nextRow),
		zap.Int64("left_out_offsets", offsets), zap.Int64("left_out_rows", rows), zap.Int64("rows_counted_up_to", upTo))
	p.Env.Meter.AddFeaturize(meter.FeaturizeCounts{MissingOffsets: offsets})
	return nil
}

// countRows counts the rows of the readable events from a position to the present one, as far as it gets within countingTime.
func (p *partition) countRows(ctx context.Context, from position) (rows, upTo int64, err error) {
	if err := p.chooseSet(ctx); err != nil {
		return 0, 0, err
	}
	bounded, cancel := context.WithTimeout(ctx, countingTime)
	defer cancel()
	rows, upTo = -int64(from.nextRow), from.next
	all := pipeline.NewReader(p.Env.Broker, p.logger, p.Env.Topics.Events, p.number, pipeline.ReadOptions{From: from.next, Until: p.next})
	for rec, err := range all.Records(bounded) {
		if err == nil {
			err = p.core.reader.Prepare(bounded, rec.Value)
		}
		if err == nil {
			err = p.core.reader.Begin(bounded)
		}
		if err != nil {
			return max(rows, 0), upTo, ctx.Err()
		}
		if batches, err := p.core.reader.Read(rec.Value); err == nil {
			rows += events.CountRows(batches)
			events.Release(batches)
		}
		p.core.reader.End()
		upTo = rec.Offset + 1
	}
	return max(rows, 0), p.next, nil
}

// begin starts where the configuration says, or at the first event of a log that is not the one of the outputs. The end
// of the log will have moved by the next start, so it is committed before anything arrives after it.
func (p *partition) begin(ctx context.Context, o *outputEnd) error {
	if p.next = o.first; p.Config.Start != StartLatest || o.lost() > 0 {
		return nil
	}
	p.next = o.end
	err := pipeline.Try(ctx, p.logger, "commit where featurizing begins", func() error { return p.commit(ctx, p.next, p.source.id) })
	if err == nil {
		p.committed = p.next
	}
	return err
}

// outputEnd looks for the end of the output.
type outputEnd struct {
	*partition
	first, end int64          // what the log of events holds
	log        pipeline.LogID // that log
	none       bool           // nothing was ever put out

	// Outputs after the end, whose events the log does not hold.
	otherLog int // because they belong to another log
	lostEnd  int // because the log has lost its end, or somebody else wrote them
	losses   int // the greatest number of losses that they name

	unmarked int // outputs that do not say which log and batch they were made from, as those of featurizers do
}

// lost is the number of outputs whose events the log does not hold.
func (o *outputEnd) lost() int { return o.otherLog + o.lostEnd }

// find looks for the last output whose events the log holds, from the end of the output partition backwards.
func (o *outputEnd) find(ctx context.Context) (at position, found bool, err error) {
	topic := o.Env.Topics.Features
	if err := pipeline.CheckStable(ctx, o.Env.Broker, topic, o.number); err != nil { // anything hidden would be written twice
		return at, false, err
	}
	first, next, err := o.Env.Broker.Offsets(ctx, topic, o.number)
	if err != nil {
		return at, false, err
	}
	o.none = next == 0
	// Looked up after the end of the output, so that the output has no event that the log lacks.
	if o.first, o.end, err = o.Env.Broker.Offsets(ctx, o.Env.Topics.Events, o.number); err != nil {
		return at, false, err
	}
	if o.log, err = o.Env.Broker.Identity(ctx, o.Env.Topics.Events, o.number, time.Now()); err != nil {
		return at, false, err
	}
	for back, to := int64(1), next; to > first && !found; back *= 2 {
		from := max(first, next-back)
		if at, found, err = o.last(ctx, from, to); err != nil {
			return at, false, err
		}
		to = from
	}
	losses := at.source.losses
	if o.lostEnd > 0 {
		losses = max(losses, o.losses) + 1
	}
	at.source = sourceLog{o.log, losses}
	return at, found, nil
}

// last returns the position after the last output in a piece of the output partition whose events the log holds.
func (o *outputEnd) last(ctx context.Context, from, to int64) (position, bool, error) {
	var all []position
	r := pipeline.NewReader(o.Env.Broker, o.logger, o.Env.Topics.Features, o.number, pipeline.ReadOptions{From: from, Until: to})
	for rec, err := range r.Records(ctx) {
		if err != nil {
			return position{}, false, err
		}
		at, ok := positionAfter(rec, o.Env.Topics.Events, o.number)
		switch {
		case !ok:
		case o.log != "" && (at.source.id == "" || at.batch == pipeline.Mark{}):
			o.unmarked++
		default:
			all = append(all, at)
		}
	}
	for _, at := range slices.Backward(all) {
		held, err := o.holds(ctx, at)
		if err != nil || held {
			return at, held, err
		}
	}
	return position{}, false, nil
}

// holds reports whether the log holds the events before a position, and counts an output if not.
func (o *outputEnd) holds(ctx context.Context, at position) (held bool, err error) {
	if at.source.id != "" && o.log != "" && at.source.id != o.log {
		o.otherLog++
		return false, nil
	}
	if held = at.next <= o.end && (at.nextRow == 0 || at.next < o.end); held && at.batch != (pipeline.Mark{}) {
		held, err = pipeline.Holds(ctx, o.Env.Broker, o.logger, o.Env.Topics.Events, o.number, at.batch)
	}
	if err == nil && !held {
		o.lostEnd++
		o.losses = max(o.losses, at.source.losses)
	}
	return held, err
}

// report reports outputs whose events the log does not hold.
func (o *outputEnd) report() {
	if o.unmarked > 0 {
		o.logger.Error("features name events without saying which log and batch they are from: somebody else wrote them; ignoring them",
			zap.Int("messages", o.unmarked), zap.Int64("next_offset", o.next))
	}
	if o.lost() == 0 {
		return
	}
	gap := pipeline.Gap{Topic: o.Env.Topics.Events, Partition: o.number, Kind: pipeline.GapTruncated, From: o.next, To: o.next, Now: o.log}
	if o.otherLog > 0 {
		gap.Kind = pipeline.GapRecreated
	}
	o.logger.Error("features name events that the log does not hold: the topic was recreated, it has lost its end, or somebody else wrote them; ignoring them",
		zap.Int("messages_of_other_logs", o.otherLog), zap.Int("messages_of_lost_events", o.lostEnd),
		zap.String("log", o.source.String()), zap.Int64("events_end", o.end), zap.Int64("next_offset", o.next))
	o.Env.Meter.AddGap(gap)
}
