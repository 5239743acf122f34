package subsample

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// refusedError says that the selection refused the samples of an attempt.
type refusedError struct {
	attempt int
	reason  string
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("the samples of attempt %d were refused: %s", e.attempt, e.reason)
}

// errOvertaken says that another owner of the partition has written a checkpoint to continue from: of a later attempt,
// or beyond the offsets that the log seemed to have lost.
var errOvertaken = errors.New("another owner is further along")

// partition is the pipeline.Processor of one partition in one attempt.
type partition struct {
	*Runner
	spec     *wire.Spec
	specHash string
	part     wire.Partition
	writer   pipeline.Producer // of everything
	logger   *zap.Logger
	commit   func(context.Context, int64, pipeline.LogID) error
	at       *meter.Position

	core        *Subsampler
	void        bool // the core's state must not be saved
	reader      *events.Reader
	deadLetters []deadletter.Draft // that wait for a checkpoint

	deadLetterBytes int

	lastBatch pipeline.Mark // the batch of events read last
	fetchedAt time.Time     // when the records added last were fetched

	scores   scoresTail
	savedAt  time.Time
	recorded wire.Counts   // counts already added to the process's counters
	traffic  meter.Traffic // not added yet
}

// restore starts the core from the newest checkpoint, or from the start of the range: of the first attempt that is not refused,
// and not of an earlier one than the one given. A checkpoint that an older one hides from compaction is written again.
func (p *partition) restore(ctx context.Context, attempt int) error {
	p.reader = events.SourceOf(p.spec, p.Env.Registry, p.Env.Slots).Reader(p.spec.Encoder)
	failpoint.Hit(failpoint.RestoreBefore)
	if err := p.readScores(ctx); err != nil {
		return err
	}
	if saved := p.scores.saved; saved != nil {
		if err := saved.CheckAgainst(p.spec, scoring.Arithmetic()); errors.Is(err, wire.ErrArithmeticMismatch) {
			p.logger.Warn("checkpoint was made by a kernel with other bits, scores are computed again from the start",
				zap.Error(err))
			p.scores.saved = nil
		}
	}
	if refused := p.scores.refused; refused != nil {
		attempt = max(attempt, refused.Attempt+1)
	}
	if saved := p.scores.saved; saved != nil && saved.Attempt < attempt {
		p.scores.saved, p.scores.shadowed = nil, false
	}
	core, err := New(p.spec, p.sharedBank(p.spec), p.part, cloneCheckpoint(p.scores.saved))
	if err != nil {
		return pipeline.Permanent(err)
	}
	if p.core = core; p.scores.saved == nil {
		if err := p.begin(ctx, attempt); err != nil {
			return err
		}
	}
	if saved := p.scores.saved; saved != nil {
		p.lastBatch = pipeline.Mark{Offset: saved.LastBatch.Offset, Checksum: saved.LastBatch.Checksum}
	}
	p.recorded, p.savedAt, p.scores.lookedAt = core.Counts(), p.Env.Clock(), p.Env.Clock()
	p.logger.Info("subsampling", zap.Int64("next_offset", core.NextOffset()), zap.Int64("next_ordinal", core.NextOrdinal()),
		zap.Bool("restored", p.scores.saved != nil), zap.Int("attempt", attempt), zap.Bool("closed", core.Closed()))
	failpoint.Hit(failpoint.RestoreAfter)
	return p.unshadow(ctx)
}

// begin begins an attempt: its samples come after what their topic holds now.
func (p *partition) begin(ctx context.Context, attempt int) error {
	var end int64
	if p.spec.Criterion.NeedsRows() {
		err := pipeline.Try(ctx, p.logger, "look up offsets of "+p.Env.Topics.Samples, func() (err error) {
			_, end, err = p.Env.Broker.Offsets(ctx, p.Env.Topics.Samples, int(p.part.Partition))
			return err
		})
		if err != nil {
			return fmt.Errorf("look up offsets of %s/%d: %w", p.Env.Topics.Samples, p.part.Partition, err)
		}
	}
	p.core.Begin(attempt, end)
	return nil
}

// run reads events until the partition closes or ctx ends. A partition that is closed already reads nothing more: a
// batch that cannot be read must not change what it counted.
func (p *partition) run(ctx context.Context) error {
	if !p.core.Closed() {
		p.at = p.Env.Meter.Follow(meter.StageSubsample, p.Env.Topics.Events, int(p.part.Partition), p.core.NextOffset())
		defer p.at.Leave()
		p.reportSaved()
		return pipeline.RunPartition(ctx, p.Env.Broker, p.logger, p.Env.Topics.Events, int(p.part.Partition), p.Env.DrainTimeout, p)
	}
	work, cancel := pipeline.Drain(ctx, p.Env.DrainTimeout)
	defer cancel()
	return p.Close(work)
}

func cloneCheckpoint(c *wire.Checkpoint) *wire.Checkpoint {
	if c == nil {
		return nil
	}
	clone := *c
	clone.Sums = c.Sums.Clone()
	return &clone
}

// NextOffset implements pipeline.Processor.
func (p *partition) NextOffset() int64 { return p.core.NextOffset() }

// Start implements pipeline.Processor.
func (p *partition) Start() (at pipeline.Place, batchBudget int64) {
	return pipeline.Place{Log: pipeline.LogID(p.spec.EventsLog), Batch: p.lastBatch}, p.spec.BatchBudget
}

// Process implements pipeline.Processor.
func (p *partition) Process(ctx context.Context, f pipeline.Fetched) error {
	defer p.Env.Meter.Worked(meter.StageSubsample, time.Now())
	events.DropReserved(f.Records)
	p.at.Fetched(f, p.Env.Clock())
	p.fetchedAt = time.Now()
	for _, rec := range f.Records {
		if p.core.Closed() || rec.Offset >= p.part.EndOffset {
			break
		}
		if err := p.add(ctx, rec); err != nil {
			return err
		}
		p.lastBatch = rec.Batch
		p.at.Done(p.core.NextOffset())
		if err := p.sendWaiting(ctx); err != nil {
			return err
		}
	}
	p.core.Advance(f.NextOffset)
	p.at.Done(p.core.NextOffset())
	p.report()
	p.reportSaved()
	var err error
	switch {
	case p.core.Closed() || p.checkpointDue():
		err = p.save(ctx)
	case len(f.Records) == 0:
		err = p.lookWhileIdle(ctx)
	}
	if err != nil {
		return err
	}
	if p.core.Closed() {
		return pipeline.ErrDone
	}
	return nil
}

func (p *partition) add(ctx context.Context, rec pipeline.Record) error {
	defer p.Env.Meter.Handled(meter.StageSubsample, time.Now())
	span := meter.StartSpan(p.Env.Tracer, p.Env.Group, meter.StageSubsample, rec)
	defer span.End()
	if err := p.reader.Prepare(ctx, rec.Value); errors.Is(err, events.ErrRegistryChanged) {
		p.logger.Error("the exploration cannot be finished", zap.Int64("offset", rec.Offset), zap.Error(err))
		p.core.Disagree()
		return nil
	} else if err != nil {
		return err
	}
	if err := p.reader.Begin(ctx); err != nil {
		return err
	}
	defer p.reader.End()
	slot := p.reader.Slot()
	p.core.Use(slot)
	defer p.core.Trim(slot)
	if err := p.score(rec, span); err != nil {
		return err
	}
	if p.deadLetterBytes > 2*p.deadLetterShare() || p.sampleBytes() > 2*p.sampleShare() {
		return p.save(ctx) // more than a partition may keep: the slot is held meanwhile
	}
	return nil
}

// score adds the rows of a message, which is worked on in a slot.
func (p *partition) score(rec pipeline.Record, span trace.Span) error {
	batches, err := p.reader.Read(rec.Value)
	if err != nil {
		meter.FailSpan(span, deadletter.Reason(err), err)
		p.traffic.UndecodableBytes += int64(rec.Size())
		p.addDeadLetter(rec.Offset, deadletter.Refused(meter.StageSubsample, rec, err, p.Env.Clock()))
		p.core.Refuse(rec.Offset + 1)
		return nil
	}
	defer events.Release(batches)
	p.traffic.UsedBytes += int64(rec.Size())
	budget := arrowio.NewBudget(p.reader.Left()) // of all letters: they wait together
	err = p.core.Add(rec.Offset, batches, func(piece arrow.Record, rowBase int32, rows []deadletter.RejectedRow) error {
		deadLetter, err := deadletter.Rejected(meter.StageSubsample, rec, piece, rowBase, rows, &budget, p.Env.Clock())
		if err == nil {
			p.addDeadLetter(rec.Offset, deadLetter)
		}
		return err
	})
	if err != nil {
		p.void = true
		return fmt.Errorf("score %s/%d offset %d: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	return nil
}

// addDeadLetter has the dead letter of an offset wait for the next checkpoint, unless an earlier exploration has sent it. One that is larger than what may wait is sent before the records of
// its fetch are given back, so that it need not be copied.
func (p *partition) addDeadLetter(offset int64, deadLetter deadletter.Draft) {
	if p.spec.Note(p.part.Partition).Reported(offset) {
		return
	}
	size := deadLetter.Memory()
	if p.deadLetterBytes+size <= p.deadLetterShare() {
		deadLetter = deadLetter.Clone()
	}
	p.deadLetters = append(p.deadLetters, deadLetter)
	p.deadLetterBytes += size
}

// sendWaiting sends what is more than may wait: dead letters followed by a checkpoint, samples alone.
func (p *partition) sendWaiting(ctx context.Context) error {
	switch {
	case p.deadLetterBytes > p.deadLetterShare():
		return p.save(ctx)
	case p.sampleBytes() >= p.sampleShare():
		return p.sendSamples(ctx)
	}
	return nil
}

func (p *partition) deadLetterShare() int { return deadletter.Share(p.Env.Partitions) }

func (p *partition) sampleShare() int64 { return SampleShare(p.Env.Partitions) }

// sampleBytes is what the samples that wait take.
func (p *partition) sampleBytes() int64 {
	if samples := p.core.Samples(); samples != nil {
		return 4 * int64(len(samples.X))
	}
	return 0
}

// Gap implements pipeline.Processor. With rows gone, or others in their place, the result would not depend on one log alone any
// more: the partition closes, and the exploration yields no feature set.
func (p *partition) Gap(ctx context.Context, g pipeline.Gap) error {
	if g.Kind == pipeline.GapUnreadable {
		p.addDeadLetter(g.From, deadletter.RefusedBatch(meter.StageSubsample, g, p.Env.Clock()))
		p.core.Refuse(g.To)
		return p.Process(ctx, pipeline.Fetched{NextOffset: p.core.NextOffset(), End: g.End})
	}
	p.logger.Warn("offsets of the exploration are no longer in the log", zap.Stringer("gap", g), zap.Error(g.Err))
	p.Env.Meter.AddGap(g)
	p.core.Lose()
	if err := p.save(ctx); err != nil {
		return err
	}
	return pipeline.ErrDone
}

// Close saves what was read since the last checkpoint, unless it is unusable.
func (p *partition) Close(ctx context.Context) error {
	failpoint.Hit(failpoint.SubsampleDrain)
	p.report()
	saved := p.scores.saved
	if p.void || saved != nil && saved.NextOffset == p.core.NextOffset() && saved.Closed == p.core.Closed() {
		return nil
	}
	return p.save(ctx)
}

// report adds what was counted since the last call to the process's counters.
func (p *partition) report() {
	before, traffic := p.recorded, p.traffic
	p.recorded, p.traffic = p.core.Counts(), meter.Traffic{}
	p.at.Count(p.recorded.Messages-before.Messages, p.recorded.Rows-before.Rows)
	p.Env.Meter.AddScoring(meter.Sub(p.recorded, before))
	p.Env.Meter.AddTraffic(meter.StageSubsample, traffic)
}

// reportSaved reports how old the newest checkpoint is and how many rows would have to be read again without another one.
func (p *partition) reportSaved() {
	var at time.Time
	var next int64
	if saved := p.scores.saved; saved != nil {
		at, next = saved.WrittenAt, saved.NextOrdinal
	}
	p.at.Saved(at, p.core.NextOrdinal()-next)
}
