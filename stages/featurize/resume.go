package featurize

import (
	"context"
	"fmt"
	"math"
	"sort"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
)

// resume finds where the output ends: in the output partition itself, else in the group's committed offset, else as
// configured. Outputs from another log of events are not positions in this one.
func (p *partition) resume(ctx context.Context) error {
	failpoint.Hit(failpoint.ResumeBefore)
	if err := p.findPosition(ctx); err != nil {
		return fmt.Errorf("resume featurizing %s/%d: %w", p.Topics.Events, p.number, err)
	}
	return nil
}

func (p *partition) findPosition(ctx context.Context) error {
	var t *tail
	found, err := pipeline.Retry(ctx, p.logger, "find the end of the output", func() (bool, error) {
		t = &tail{partition: p}
		return t.find(ctx)
	})
	if err != nil {
		return err
	}
	t.report()
	committed, err := pipeline.Retry(ctx, p.logger, "look up the committed offset", func() (int64, error) { return t.readCommitted(ctx) })
	if err != nil {
		return err
	}
	if committed >= 0 && (!found || committed > p.next) {
		p.next, p.nextRow, p.partlyOut, p.batch, found = committed, 0, "", pipeline.Mark{}, true
	}
	p.committed = committed
	if found {
		return nil
	}
	return p.begin(ctx, t.others+t.replaced > 0)
}

// begin starts where the configuration says, or at the first event of a log that replaced another one. The end of the
// log will have moved by the next start, so it is committed before anything arrives after it.
func (p *partition) begin(ctx context.Context, anew bool) error {
	log, err := pipeline.Retry(ctx, p.logger, "look up offsets", func() (log extent, err error) {
		log.first, log.end, err = p.Broker.Offsets(ctx, p.Topics.Events, p.number)
		return log, err
	})
	if err != nil {
		return err
	}
	if p.next = log.first; p.Config.Start != StartLatest || anew {
		return nil
	}
	p.next = log.end
	err = pipeline.Try(ctx, p.logger, "commit where featurizing begins", func() error { return p.commit(ctx, p.next, p.source.id) })
	if err == nil {
		p.committed = p.next
	}
	return err
}

// extent is what a partition of events held when it was looked up.
type extent struct {
	first, end int64
}

// tail is what the output partition says about where it ends.
type tail struct {
	*partition
	log extent

	others   int // messages of another log of events
	strange  int // messages of events beyond the end of the log
	replaced int // messages of events that others have replaced
}

// find moves the position past the last message in the output partition that came from this partition of events as the
// log holds it, and reports whether there is one.
func (t *tail) find(ctx context.Context) (found bool, err error) {
	topic := t.Topics.Features
	if err := pipeline.CheckStable(ctx, t.Broker, topic, t.number); err != nil { // anything hidden would be written twice
		return false, err
	}
	first, next, err := t.Broker.Offsets(ctx, topic, t.number)
	if err != nil {
		return false, err
	}
	// Looked up after the end of the output, so that the output has no event that the log lacks.
	if t.log.first, t.log.end, err = t.Broker.Offsets(ctx, t.Topics.Events, t.number); err != nil {
		return false, err
	}
	id, err := t.Broker.Identity(ctx, t.Topics.Events, t.number, time.Now())
	if err != nil {
		return false, err
	}
	t.source = sourceLog{id: id}
	losses := 0
	for back, to := int64(1), next; ; back *= 2 {
		from := max(first, next-back)
		claims, err := t.claims(ctx, from, to, &losses)
		if err != nil {
			return false, err
		}
		n, err := t.holding(ctx, claims)
		if err != nil {
			return false, err
		}
		t.replaced += len(claims) - n
		if n > 0 {
			t.take(claims[n-1])
		}
		if n > 0 || from == first {
			t.source.losses = losses
			if t.replaced+t.strange > 0 {
				t.source.losses++
			}
			return n > 0, nil
		}
		to = from
	}
}

// claims returns the coordinates of the outputs in a piece of the output partition that may be positions in the log.
func (t *tail) claims(ctx context.Context, from, to int64, losses *int) (claims []wire.FeatureBatch, err error) {
	r := pipeline.NewReader(t.Broker, t.logger, t.Topics.Features, t.number, pipeline.ReadOptions{From: from, Until: to})
	for rec, err := range r.Records(ctx) {
		if err != nil {
			return nil, err
		}
		rows, ours := t.coordinates(rec)
		if !ours {
			continue
		}
		of := parseSourceLog(rows.SourceLog)
		switch {
		case of.id != "" && t.source.id != "" && !t.source.follows(of):
			t.others++
		case rows.SourceOffset >= t.log.end:
			t.strange++
		default:
			claims = append(claims, rows)
			*losses = max(*losses, of.losses)
		}
	}
	return claims, nil
}

// holding counts the claims, from the first on, whose events the log still holds.
func (t *tail) holding(ctx context.Context, claims []wire.FeatureBatch) (n int, err error) {
	holds := func(i int) bool {
		at := claims[i].SourceBatch
		if err != nil || at == (wire.BatchMark{}) {
			return true
		}
		var same bool
		same, err = pipeline.Holds(ctx, t.Broker, t.logger, t.Topics.Events, t.number, pipeline.Mark{Offset: at.Offset, Checksum: at.Checksum})
		return same
	}
	if n = len(claims); n == 0 || holds(n-1) {
		return n, err
	}
	return sort.Search(n-1, func(i int) bool { return !holds(i) }), err
}

// take moves the position past an output.
func (t *tail) take(rows wire.FeatureBatch) {
	t.moveBehind(rows)
	t.batch = pipeline.Mark{Offset: rows.SourceBatch.Offset, Checksum: rows.SourceBatch.Checksum}
}

// report reports what is wrong with the output, if anything.
func (t *tail) report() {
	fields := []zap.Field{zap.String("log", t.source.String()), zap.Int64("events_end", t.log.end), zap.Int64("next_offset", t.next)}
	gap := pipeline.Gap{Topic: t.Topics.Events, Partition: t.number, From: t.next, To: t.next, Now: t.source.id}
	if t.others > 0 {
		t.logger.Error("features are of another log of events than there is now, the topic was deleted and made again: they are no positions in it",
			append(fields, zap.Int("messages", t.others))...)
		gap.Kind = pipeline.GapRecreated
		t.Meter.AddGap(gap)
	}
	if t.strange+t.replaced > 0 {
		t.logger.Error("features name events that the log does not hold: it has lost its end, or somebody else wrote them: passed over",
			append(fields, zap.Int("messages_behind_the_end", t.strange), zap.Int("messages_of_other_events", t.replaced))...)
		gap.Kind = pipeline.GapTruncated
		t.Meter.AddGap(gap)
	}
}

// readCommitted returns the committed offset, or -1 if there is none, if events do not reach it, or if the log has lost
// its end since.
func (t *tail) readCommitted(ctx context.Context) (int64, error) {
	committed, err := t.Broker.Committed(ctx, t.Group, t.Topics.Events, t.number)
	switch {
	case err != nil || committed < 0:
		return -1, err
	case t.replaced > 0:
		return -1, nil // of an earlier log
	case committed > t.log.end:
		t.logger.Error("the committed offset is behind the end of events, which were truncated or made again: it is passed over",
			zap.Int64("committed", committed), zap.Int64("end", t.log.end))
		return -1, nil
	}
	return committed, nil
}

// coordinates returns those of an output record that came from this partition of events.
func (p *partition) coordinates(rec pipeline.Record) (rows wire.FeatureBatch, ours bool) {
	rows, err := wire.ParseFeatureHeaders(events.Headers(rec.Headers))
	return rows, err == nil && rows.SourceTopic == p.Topics.Events && int(rows.SourcePartition) == p.number && rows.SourceOffset < math.MaxInt64
}

// moveBehind moves the position past the rows of an output.
func (p *partition) moveBehind(rows wire.FeatureBatch) {
	p.next, p.nextRow, p.partlyOut = rows.SourceOffset+1, 0, ""
	if !rows.Last() {
		p.next, p.nextRow, p.partlyOut = rows.SourceOffset, rows.FirstRow+rows.RowCount, rows.FeatureSetID
	}
}
