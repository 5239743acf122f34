package featurize

import (
	"context"
	"fmt"
	"math"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
)

// resume finds where the output ends: in the output partition itself, else in the group's committed offset, else as
// configured.
func (p *partition) resume(ctx context.Context) error {
	failpoint.Hit(failpoint.ResumeBefore)
	if err := p.findPosition(ctx); err != nil {
		return fmt.Errorf("resume featurizing %s/%d: %w", p.Topics.Events, p.number, err)
	}
	return nil
}

func (p *partition) findPosition(ctx context.Context) error {
	log := &extent{}
	found, err := pipeline.Retry(ctx, p.logger, "find the end of the output", func() (bool, error) {
		*log = extent{}
		return p.readTail(ctx, log)
	})
	if err != nil {
		return err
	}
	committed, err := pipeline.Retry(ctx, p.logger, "look up the committed offset", func() (int64, error) { return p.readCommitted(ctx, log) })
	if err != nil {
		return err
	}
	if committed >= 0 && (!found || committed > p.next) {
		p.next, p.nextRow, p.partlyOut, found = committed, 0, "", true
	}
	p.committed = committed
	if found {
		return nil
	}
	return p.begin(ctx)
}

// begin begins where the configuration says. The end of the log is another one at the next start, so that it is committed
// before anything comes behind it.
func (p *partition) begin(ctx context.Context) error {
	log, err := pipeline.Retry(ctx, p.logger, "look up offsets", func() (log extent, err error) {
		log.first, log.end, err = p.Broker.Offsets(ctx, p.Topics.Events, p.number)
		return log, err
	})
	if err != nil {
		return err
	}
	if p.next = log.first; p.Config.Start != StartLatest {
		return nil
	}
	p.next = log.end
	err = pipeline.Try(ctx, p.logger, "commit where featurizing begins", func() error { return p.commit(ctx, p.next) })
	if err == nil {
		p.committed = p.next
	}
	return err
}

// extent is what a partition of events held when it was looked up.
type extent struct {
	first, end int64
	known      bool
}

// reaches reports whether events reach a next offset.
func (p *partition) reaches(ctx context.Context, log *extent, next int64) (_ bool, err error) {
	if !log.known { // after the output was begun to be read, so that there is no event in it that the log has not
		if log.first, log.end, err = p.Broker.Offsets(ctx, p.Topics.Events, p.number); err != nil {
			return false, err
		}
		log.known = true
	}
	return next <= log.end, nil
}

// readCommitted returns the committed offset, -1 where there is none that events reach.
func (p *partition) readCommitted(ctx context.Context, log *extent) (int64, error) {
	committed, err := p.Broker.Committed(ctx, p.Group, p.Topics.Events, p.number)
	if err != nil || committed < 0 {
		return -1, err
	}
	ok, err := p.reaches(ctx, log, committed)
	if err == nil && !ok {
		p.logger.Error("the committed offset is behind the end of events, which were truncated or made again: it is passed over",
			zap.Int64("committed", committed), zap.Int64("end", log.end))
		committed = -1
	}
	return committed, err
}

// readTail moves the position behind the last message of the output partition that came from this partition of events, and
// reports whether there is one.
func (p *partition) readTail(ctx context.Context, log *extent) (found bool, err error) {
	topic := p.Topics.Features
	first, next, err := p.Broker.Offsets(ctx, topic, p.number)
	if err != nil {
		return false, err
	}
	strange := 0
	defer func() {
		if strange > 0 {
			p.logger.Error("features name events behind the end of events, which were truncated or made again, or somebody else wrote them: passed over",
				zap.Int("messages", strange), zap.Int64("events_end", log.end))
		}
	}()
	for back := int64(1); ; back *= 2 {
		strange = 0
		from := max(first, next-back)
		r := pipeline.NewReader(p.Broker, p.logger, topic, p.number, pipeline.ReadOptions{From: from, Until: next})
		for rec, err := range r.Records(ctx) {
			if err != nil {
				return false, err
			}
			rows, ours := p.coordinates(rec)
			if !ours {
				continue
			}
			ok, err := p.reaches(ctx, log, rows.SourceOffset+1)
			if err != nil {
				return false, err
			}
			if !ok {
				strange++
				continue
			}
			p.moveBehind(rows)
			found = true
		}
		if found || from == first {
			return found, nil
		}
	}
}

// coordinates are those of a record of the output that came from this partition of events.
func (p *partition) coordinates(rec pipeline.Record) (rows wire.FeatureBatch, ours bool) {
	rows, err := wire.ParseFeatureHeaders(events.Headers(rec.Headers))
	return rows, err == nil && rows.SourceTopic == p.Topics.Events && int(rows.SourcePartition) == p.number && rows.SourceOffset < math.MaxInt64
}

// moveBehind moves the position behind the rows of an output.
func (p *partition) moveBehind(rows wire.FeatureBatch) {
	p.next, p.nextRow, p.partlyOut = rows.SourceOffset+1, 0, ""
	if !rows.Last() {
		p.next, p.nextRow, p.partlyOut = rows.SourceOffset, rows.FirstRow+rows.RowCount, rows.FeatureSetID
	}
}
