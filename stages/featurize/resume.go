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

// position is where featurizing continues in a partition of events.
type position struct {
	next      int64         // offset of events to read
	nextRow   int32         // its first row that is not in the output
	partlyOut string        // feature set of the rows before nextRow; empty if nextRow is 0
	source    sourceLog     // log of next
	batch     pipeline.Mark // last batch of events that was read
}

// positionAfter returns the position after an output; ok is false for a record that does not come
// from this partition of events.
func positionAfter(rec pipeline.Record, topic string, partition int) (at position, ok bool) {
	rows, err := wire.ParseFeatureHeaders(rec.Headers)
	if err != nil || rows.SourceTopic != topic || int(rows.SourcePartition) != partition ||
		rows.SourceOffset == math.MaxInt64 {
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

// resume continues after the last output whose events the log still holds; without one, at the
// group's committed offset, or else as configured. A committed offset past the end of the output
// wins: the events before it became dead letters if a member of the group committed it; otherwise
// an operator skips them.
func (p *partition) resume(ctx context.Context) error {
	failpoint.Hit(failpoint.ResumeBefore)
	if err := p.findPosition(ctx); err != nil {
		return fmt.Errorf("resume featurizing %s/%d: %w", p.runner.Env.Topics.Events, p.number, err)
	}
	if !p.hasLive {
		return nil
	}
	return pipeline.Try(ctx, p.logger, "resume live errors", func() error { return p.blocks.resume(ctx, p.position) })
}

func (p *partition) findPosition(ctx context.Context) error {
	var o *outputEnd
	found, err := pipeline.Retry(ctx, p.logger, "find the end of the output", func() (found bool, err error) {
		o = &outputEnd{owned: p.owned}
		p.position, found, err = o.find(ctx)
		return found, err
	})
	if err != nil {
		return err
	}
	o.report(p.position)
	committed, err := pipeline.Retry(ctx, p.logger, "look up the committed offset", func() (pipeline.Committed, error) {
		return p.runner.Env.Broker.Committed(ctx, p.runner.Env.Group, p.runner.Env.Topics.Events, p.number)
	})
	p.committed = committed.Next
	switch {
	case err != nil:
		return err
	case p.committed > o.end:
		p.logger.Error("committed offset is past the end of the log; ignoring it",
			zap.Int64("committed", p.committed), zap.Int64("end", o.end))
		p.committed = -1
	case p.committed < 0 || o.lost() > 0 || found && p.committed <= p.next:
	case committed.ByMember:
		if found {
			p.logger.Warn("events after the end of the output became dead letters; continuing at the committed offset",
				zap.Int64("committed", p.committed), zap.Int64("next_offset", p.next))
		}
		p.position, found = position{next: p.committed, source: p.source}, true
	case found || o.none:
		return p.skipTo(ctx, o, found)
	default: // the output is lost
		p.position, found = position{next: p.committed, source: p.source}, true
	}
	if found {
		return nil
	}
	return p.begin(ctx, o)
}

// countingTime bounds the counting of rows that an operator skips. Their offsets are known without
// it.
const countingTime = 2 * time.Second

// skipTo continues at a committed offset that an operator set. Skipped offsets are logged and
// counted once, because the next committed offset is a member's again.
func (p *partition) skipTo(ctx context.Context, o *outputEnd, found bool) error {
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
	p.logger.Warn("group offset was reset past the end of the output; skipping the events before it",
		zap.Int64("committed", p.next), zap.Int64("next_offset", from.next), zap.Int32("next_row", from.nextRow),
		zap.Int64("skipped_offsets", offsets), zap.Int64("skipped_rows", rows), zap.Int64("rows_counted_up_to", upTo))
	p.runner.Env.Meter.AddFeaturize(meter.FeaturizeCounts{MissingOffsets: offsets})
	return nil
}

// countRows counts the rows of the readable events from a position to the present one, within
// countingTime.
func (p *partition) countRows(ctx context.Context, from position) (rows, upTo int64, err error) {
	if err := p.chooseSet(ctx); err != nil {
		return 0, 0, err
	}
	bounded, cancel := context.WithTimeout(ctx, countingTime)
	defer cancel()
	rows, upTo = -int64(from.nextRow), from.next
	all := pipeline.NewReader(p.runner.Env.Broker, p.logger, p.runner.Env.Topics.Events, p.number,
		pipeline.ReadOptions{From: from.next, Until: p.next})
	for rec, err := range all.Records(bounded) {
		if err == nil {
			err = p.core.reader.Prepare(bounded, &rec)
		}
		if err == nil {
			err = p.core.reader.Begin(bounded)
		}
		if err != nil {
			return max(rows, 0), upTo, ctx.Err()
		}
		if batches, err := p.core.reader.ReadRecord(&rec); err == nil {
			rows += events.CountRows(batches)
			events.Release(batches)
		}
		p.core.reader.End()
		upTo = rec.Offset + 1
	}
	return max(rows, 0), p.next, nil
}

// begin starts where the configuration says, or at the first event of a log without outputs. The
// end of the log will have moved by the next start, so it is committed before events arrive after
// it.
func (p *partition) begin(ctx context.Context, o *outputEnd) error {
	p.next = o.first
	if p.runner.Config.Start != StartLatest || o.lost() > 0 {
		return nil
	}
	p.next = o.end
	err := pipeline.Try(ctx, p.logger, "commit the start of featurizing", func() error {
		return p.commit(ctx, p.next, p.source.id)
	})
	if err == nil {
		p.committed = p.next
	}
	return err
}

// outputEnd finds the end of the output.
type outputEnd struct {
	owned
	first, end int64          // of the log of events
	log        pipeline.LogID // of events
	none       bool           // the output never had a record

	// Outputs after the end, whose events the log does not hold.
	otherLog int // from another log
	lostEnd  int // from a truncated log, or written by another program
	losses   int // the greatest number of truncations that they name

	unmarked int // outputs that do not name their log and batch, as those of featurizers do
}

// lost is the number of outputs whose events the log does not hold.
func (o *outputEnd) lost() int { return o.otherLog + o.lostEnd }

// find searches for the last output whose events the log holds, from the end of the output
// partition backwards.
func (o *outputEnd) find(ctx context.Context) (at position, found bool, err error) {
	topic := o.runner.Env.Topics.Features
	// hidden records would be written twice
	if err := pipeline.CheckStable(ctx, o.runner.Env.Broker, topic, o.number); err != nil {
		return at, false, err
	}
	first, next, err := o.runner.Env.Broker.Offsets(ctx, topic, o.number)
	if err != nil {
		return at, false, err
	}
	o.none = next == 0
	// After the end of the output was looked up, so that the output has no event after the end of
	// the log.
	if o.first, o.end, err = o.runner.Env.Broker.Offsets(ctx, o.runner.Env.Topics.Events, o.number); err != nil {
		return at, false, err
	}
	if o.log, err = o.runner.Env.Broker.Identity(ctx, o.runner.Env.Topics.Events, o.number, time.Now()); err != nil {
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

// last returns the position after the last output in a piece of the output partition whose events
// the log holds.
func (o *outputEnd) last(ctx context.Context, from, to int64) (position, bool, error) {
	var all []position
	r := pipeline.NewReader(o.runner.Env.Broker, o.logger, o.runner.Env.Topics.Features, o.number,
		pipeline.ReadOptions{From: from, Until: to})
	for rec, err := range r.Records(ctx) {
		if err != nil {
			return position{}, false, err
		}
		at, ok := positionAfter(rec, o.runner.Env.Topics.Events, o.number)
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
		held, err = pipeline.Holds(ctx, o.runner.Env.Broker, o.logger, o.runner.Env.Topics.Events, o.number, at.batch)
	}
	if err == nil && !held {
		o.lostEnd++
		o.losses = max(o.losses, at.source.losses)
	}
	return held, err
}

// report logs outputs whose events the log does not hold. Featurizing resumes at a position.
func (o *outputEnd) report(at position) {
	if o.unmarked > 0 {
		o.logger.Error("ignoring features that do not name the log and batch of their events; another program wrote them",
			zap.Int("messages", o.unmarked), zap.Int64("next_offset", at.next))
	}
	if o.lost() == 0 {
		return
	}
	gap := pipeline.Gap{
		Topic:     o.runner.Env.Topics.Events,
		Partition: o.number,
		Kind:      pipeline.GapTruncated,
		From:      at.next,
		To:        at.next,
		Now:       o.log,
	}
	if o.otherLog > 0 {
		gap.Kind = pipeline.GapRecreated
	}
	o.logger.Error("ignoring features of missing events; events was recreated or truncated, or another program wrote them",
		zap.Int("messages_of_other_logs", o.otherLog), zap.Int("messages_of_lost_events", o.lostEnd),
		zap.String("log", at.source.String()), zap.Int64("events_end", o.end), zap.Int64("next_offset", at.next))
	o.runner.Env.Meter.AddGap(gap)
}
