package featurize

import (
	"context"
	"fmt"

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
	found, err := pipeline.Retry(ctx, p.logger, "find the end of the output", func() (bool, error) { return p.readTail(ctx) })
	if err != nil {
		return err
	}
	committed, err := pipeline.Retry(ctx, p.logger, "look up the committed offset", func() (int64, error) {
		return p.Broker.Committed(ctx, p.Group, p.Topics.Events, p.number)
	})
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
	p.next, err = pipeline.Retry(ctx, p.logger, "look up offsets", func() (int64, error) {
		first, next, err := p.Broker.Offsets(ctx, p.Topics.Events, p.number)
		if p.Config.Start == "latest" {
			return next, err
		}
		return first, err
	})
	return err
}

// readTail moves the position behind the last message of the output partition that came from this partition of events, and
// reports whether there is one.
func (p *partition) readTail(ctx context.Context) (found bool, err error) {
	topic := p.Topics.Features
	first, next, err := p.Broker.Offsets(ctx, topic, p.number)
	if err != nil {
		return false, err
	}
	for back := int64(1); ; back *= 2 {
		from := max(first, next-back)
		r := pipeline.NewReader(p.Broker, p.logger, topic, p.number, pipeline.ReadOptions{From: from, Until: next})
		for rec, err := range r.Records(ctx) {
			if err != nil {
				return false, err
			}
			found = p.moveBehindRecord(rec) || found
		}
		if found || from == first {
			return found, nil
		}
	}
}

// moveBehindRecord moves the position behind a record of the output, if it came from this partition of events.
func (p *partition) moveBehindRecord(rec pipeline.Record) bool {
	rows, err := wire.ParseFeatureHeaders(events.Headers(rec.Headers))
	if err != nil || rows.SourceTopic != p.Topics.Events || int(rows.SourcePartition) != p.number {
		return false
	}
	p.moveBehind(rows)
	return true
}

// moveBehind moves the position behind the rows of an output.
func (p *partition) moveBehind(rows wire.FeatureBatch) {
	p.next, p.nextRow, p.partlyOut = rows.SourceOffset+1, 0, ""
	if !rows.Last() {
		p.next, p.nextRow, p.partlyOut = rows.SourceOffset, rows.FirstRow+rows.RowCount, rows.FeatureSetID
	}
}
