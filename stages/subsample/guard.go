package subsample

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/state"
)

// scoresTail is the owner's view of its partition of the scores topic.
type scoresTail struct {
	saved    *wire.Checkpoint // the newest checkpoint known to be on the topic
	refused  *wire.Refusal    // refusal of the latest refused attempt
	next     int64            // offset after the last record seen
	shadowed bool             // the topic's last record of this exploration is older than saved
	lookedAt time.Time        // when the records after saved were last read
	log      pipeline.LogID   // identity of the topic incarnation that was read
}

// readScores finds the newest checkpoint of this exploration on the partition of scores. An
// undecodable record is treated like a stale record of a former owner.
func (p *partition) readScores(ctx context.Context) error {
	decoder := p.decoder()
	var err error
	p.scores.log, err = pipeline.Retry(
		ctx,
		p.logger,
		"look up the identity of "+p.Env.Topics.Scores,
		func() (pipeline.LogID, error) {
			return p.Env.Broker.Identity(ctx, p.Env.Topics.Scores, int(p.part.Partition), time.Now())
		},
	)
	if err != nil {
		return err
	}
	next, err := pipeline.ReadAll(ctx, p.Env.Broker, p.logger, p.Env.Topics.Scores, int(p.part.Partition),
		func(rec pipeline.Record) error {
			found, newer := p.see(decoder, rec)
			if newer {
				p.scores.saved = found.Checkpoint
			}
			if r := found.Refusal; r != nil && (p.scores.refused == nil || r.Attempt > p.scores.refused.Attempt) {
				p.scores.refused = r
			}
			return nil
		})
	p.scores.next = next
	return err
}

// see decodes a record of the exploration. newer reports a checkpoint that supersedes the saved
// one. Any other record under the exploration's key shadows the saved checkpoint: compaction would
// keep the record instead.
func (p *partition) see(decoder *arrowio.Decoder, rec pipeline.Record) (found wire.ScoresRecord, newer bool) {
	if !bytes.Equal(rec.Key, wire.CheckpointKey(p.spec.Exploration)) {
		return found, false
	}
	if p.scores.shadowed = true; rec.Value == nil {
		return found, false
	}
	found, ok := p.decode(decoder, rec)
	if !ok {
		return wire.ScoresRecord{}, false
	}
	newer = found.Checkpoint != nil &&
		(p.scores.saved == nil || state.Supersedes(found.Checkpoint, p.scores.saved, p.spec.Arithmetic))
	p.scores.shadowed = !newer
	return found, newer
}

// decode decodes a record under the exploration's key and checks that it belongs to this partition
// and spec.
func (p *partition) decode(decoder *arrowio.Decoder, rec pipeline.Record) (found wire.ScoresRecord, ok bool) {
	found, err := wire.DecodeScores(decoder, rec.Value)
	switch c, r := found.Checkpoint, found.Refusal; {
	case err != nil:
	case r != nil && (r.Partition != p.part.Partition || r.SpecHash != p.specHash):
		err = fmt.Errorf("refusal of partition %d under spec hash %s", r.Partition, r.SpecHash)
	case c != nil && c.Partition != p.part.Partition:
		err = fmt.Errorf("checkpoint of partition %d", c.Partition)
	case c != nil:
		if err = c.CheckAgainst(p.spec, scoring.Arithmetic()); errors.Is(err, wire.ErrArithmeticMismatch) {
			err = nil // an owner with another kernel wrote it, for the same exploration
		}
	}
	if err != nil {
		p.Env.Meter.AddUndecodable(rec.Topic)
		p.logger.Error("ignoring unusable scores record", zap.Int64("offset", rec.Offset), zap.Error(err))
	}
	return found, err == nil
}

// guard keeps the last checkpoint of a closed partition the newest on its topic until the
// exploration ends or the selection refuses its samples.
func (p *partition) guard(ctx context.Context) error {
	if !p.core.Closed() {
		return nil
	}
	return pipeline.EndOf(ctx, p.lookUntil(ctx, pipeline.Forever))
}

// lookWhileIdle is guard for an open partition without new rows. It reads scores at most once per
// checkpoint interval.
func (p *partition) lookWhileIdle(ctx context.Context) error {
	if p.scores.saved == nil || p.Env.Clock().Sub(p.scores.lookedAt) < p.Config.CheckpointInterval {
		return nil
	}
	p.scores.lookedAt = p.Env.Clock()
	if err := p.lookUntil(ctx, pipeline.PresentEnd); err != nil {
		return fmt.Errorf("watch checkpoints of partition %d: %w", p.part.Partition, err)
	}
	return nil
}

// lookUntil checks the records after the last checkpoint. If the topic was truncated, the
// checkpoint is lost too.
func (p *partition) lookUntil(ctx context.Context, until int64) error {
	reader := pipeline.NewReader(p.Env.Broker, p.logger, p.Env.Topics.Scores, int(p.part.Partition), pipeline.ReadOptions{
		From:  p.scores.next,
		Until: until,
		Watch: pipeline.WatchLog,
		Place: pipeline.Place{Log: p.scores.log},
		OnGap: func(g pipeline.Gap) error {
			g.Log(p.logger)
			if g.Changed() {
				p.Env.Meter.AddGap(g)
				p.scores.shadowed, p.scores.log = true, g.Now
			}
			return nil
		},
	})
	for fetched, err := range reader.Fetches(pipeline.ForState(ctx)) { // the partition may hold events meanwhile
		if err == nil {
			err = p.lookAt(ctx, fetched)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lookAt checks records after the last checkpoint. If a former owner has written an older
// checkpoint, which compaction would keep, lookAt rewrites its own. It returns a [refusedError] or
// [errOvertaken] if the attempt is over.
func (p *partition) lookAt(ctx context.Context, fetched pipeline.Fetched) error {
	p.scores.next = fetched.NextOffset
	decoder := p.decoder()
	for _, rec := range fetched.Records {
		saved := p.scores.saved
		found, newer := p.see(decoder, rec)
		switch other, refusal := found.Checkpoint, found.Refusal; {
		case refusal != nil && refusal.Attempt >= saved.Attempt:
			p.void = true
			return &refusedError{attempt: refusal.Attempt, reason: refusal.Reason}
		case newer && (other.Attempt > saved.Attempt || saved.Closed && !other.Closed):
			p.void = true
			return errOvertaken
		}
	}
	return p.unshadow(ctx)
}

// unshadow rewrites the last checkpoint if an older one follows it.
func (p *partition) unshadow(ctx context.Context) error {
	if p.scores.saved == nil || !p.scores.shadowed {
		return nil
	}
	p.logger.Warn("latest checkpoint was overwritten by a stale record; rewriting it",
		zap.Int64("next_offset", p.scores.saved.NextOffset), zap.Int64("scores_next_offset", p.scores.next))
	again := *p.scores.saved
	again.WrittenAt = p.Env.Clock()
	return p.write(ctx, &again)
}
