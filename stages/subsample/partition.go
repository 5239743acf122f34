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

// refusedError reports that the selection refused the samples of an attempt.
type refusedError struct {
	attempt int
	reason  string
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("samples of attempt %d refused: %s", e.attempt, e.reason)
}

// errOvertaken reports that another owner of the partition has written a checkpoint to continue
// from: one of a later attempt, or one past the offsets that this owner considered lost.
var errOvertaken = errors.New("another owner has written a newer checkpoint")

// partition is the pipeline.Processor of one partition in one attempt.
type partition struct {
	*Runner
	spec     *wire.Spec
	specHash string
	part     wire.Partition
	writer   pipeline.Producer // shared by checkpoints, samples and dead letters
	logger   *zap.Logger
	commit   func(context.Context, int64, pipeline.LogID) error
	at       *meter.Position

	core        *Subsampler
	void        bool // do not save the core's state
	reader      *events.Reader
	deadLetters []deadletter.Draft // queued for the next checkpoint

	deadLetterBytes int

	lastBatch pipeline.Mark // the last batch of events read
	fetchedAt time.Time     // when the last added records were fetched

	scores   scoresTail
	savedAt  time.Time
	recorded wire.Counts   // counts already added to the process's counters
	traffic  meter.Traffic // not yet added to the process's counters
}

// restore starts the core from the newest checkpoint or, without a usable one, from the start of
// the range. It skips refused attempts and attempts before the given one. It rewrites a checkpoint
// that a stale record shadows.
func (p *partition) restore(ctx context.Context, attempt int) error {
	p.reader = events.SourceOf(p.spec, p.Env.Registry, p.Env.Slots).Reader(p.spec.Encoder)
	failpoint.Hit(failpoint.RestoreBefore)
	if err := p.readScores(ctx); err != nil {
		return err
	}
	if saved := p.scores.saved; saved != nil {
		if err := saved.CheckAgainst(p.spec, scoring.Arithmetic()); errors.Is(err, wire.ErrArithmeticMismatch) {
			p.logger.Warn("checkpoint was computed by a different numeric kernel; recomputing scores from the start",
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
	p.logger.Info(
		"subsampling",
		zap.Int64("next_offset", core.NextOffset()),
		zap.Int64("next_ordinal", core.NextOrdinal()),
		zap.Bool("restored", p.scores.saved != nil),
		zap.Int("attempt", attempt),
		zap.Bool("closed", core.Closed()),
	)
	failpoint.Hit(failpoint.RestoreAfter)
	return p.unshadow(ctx)
}

// begin begins an attempt. Its samples start at the current end of their topic.
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

// run reads events until the partition closes or ctx ends. An already closed partition reads
// nothing: an unreadable batch must not change its counts.
func (p *partition) run(ctx context.Context) error {
	if !p.core.Closed() {
		p.at = p.Env.Meter.Follow(meter.StageSubsample, p.Env.Topics.Events, int(p.part.Partition), p.core.NextOffset())
		defer p.at.Leave()
		p.reportSaved()
		return pipeline.RunPartition(
			ctx,
			p.Env.Broker,
			p.logger,
			p.Env.Topics.Events,
			int(p.part.Partition),
			p.Env.DrainTimeout,
			p,
		)
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
	if err := p.reader.Prepare(ctx, &rec); errors.Is(err, events.ErrRegistryChanged) {
		p.logger.Error("cannot finish the exploration; closing the partition",
			zap.Int64("offset", rec.Offset), zap.Error(err))
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
		return p.save(ctx) // more than a partition may keep; it holds the slot meanwhile
	}
	return nil
}

// score adds the rows of a message. It holds a slot meanwhile.
func (p *partition) score(rec pipeline.Record, span trace.Span) error {
	if rec.Value == nil {
		p.traffic.UsedBytes += int64(rec.Size())
		p.core.Skip(rec.Offset + 1)
		return nil
	}
	batches, err := p.reader.ReadRecord(&rec)
	if err != nil {
		meter.FailSpan(span, deadletter.Reason(err), err)
		p.traffic.UndecodableBytes += int64(rec.Size())
		p.addDeadLetter(rec.Offset, true, deadletter.Refused(meter.StageSubsample, rec, err, p.Env.Clock()))
		p.core.Refuse(rec.Offset + 1)
		return nil
	}
	defer events.Release(batches)
	p.traffic.UsedBytes += int64(rec.Size())
	budget := arrowio.NewBudget(p.reader.Left()) // shared by all queued dead letters
	err = p.core.Add(rec.Offset, batches, func(piece arrow.Record, rowBase int32, rows []deadletter.RejectedRow) error {
		deadLetter, err := deadletter.Rejected(meter.StageSubsample, rec, piece, rowBase, rows, &budget, p.Env.Clock())
		if err == nil {
			p.addDeadLetter(rec.Offset, false, deadLetter)
		}
		return err
	})
	if err != nil {
		p.void = true
		return fmt.Errorf("score %s/%d offset %d: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	return nil
}

// addDeadLetter queues a dead letter, of a whole message or of rows, for the next checkpoint unless
// it was already sent. A repeated attempt sends none: the refused one had read and reported the
// same rows. A dead letter larger than the queue's limit is sent before the records of its fetch
// are released, so that it need not be copied.
func (p *partition) addDeadLetter(offset int64, whole bool, deadLetter deadletter.Draft) {
	if p.core.Attempt() > 0 || p.spec.Note(p.part.Partition).Reported(offset, whole) {
		return
	}
	size := deadLetter.Memory()
	if p.deadLetterBytes+size <= p.deadLetterShare() {
		deadLetter = deadLetter.Clone()
	}
	p.deadLetters = append(p.deadLetters, deadLetter)
	p.deadLetterBytes += size
}

// sendWaiting sends dead letters or samples that exceed their limits. A checkpoint follows dead
// letters, but not samples.
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

// sampleBytes is the size of the collected samples.
func (p *partition) sampleBytes() int64 {
	if samples := p.core.Samples(); samples != nil {
		return 4 * int64(len(samples.X))
	}
	return 0
}

// Gap implements pipeline.Processor. With lost or replaced rows, the result would no longer
// describe a single log: the partition closes, and the exploration yields no feature set.
func (p *partition) Gap(ctx context.Context, g pipeline.Gap) error {
	if g.Kind == pipeline.GapUnreadable {
		p.addDeadLetter(g.From, true, deadletter.RefusedBatch(meter.StageSubsample, g, p.Env.Clock()))
		p.core.Refuse(g.To)
		return p.Process(ctx, pipeline.Fetched{NextOffset: p.core.NextOffset(), End: g.End})
	}
	p.logger.Warn("events lost offsets of the exploration; closing the partition",
		zap.Stringer("gap", g), zap.Error(g.Err))
	p.Env.Meter.AddGap(g)
	p.core.Lose()
	if err := p.save(ctx); err != nil {
		return err
	}
	return pipeline.ErrDone
}

// Close saves the rows read since the last checkpoint, unless the state is void.
func (p *partition) Close(ctx context.Context) error {
	failpoint.Hit(failpoint.SubsampleDrain)
	p.report()
	saved := p.scores.saved
	if p.void || saved != nil && saved.NextOffset == p.core.NextOffset() && saved.Closed == p.core.Closed() {
		return nil
	}
	return p.save(ctx)
}

// report adds the counts since the last call to the process's counters.
func (p *partition) report() {
	before, traffic := p.recorded, p.traffic
	p.recorded, p.traffic = p.core.Counts(), meter.Traffic{}
	p.at.Count(p.recorded.Messages-before.Messages, p.recorded.Rows-before.Rows)
	p.Env.Meter.AddScoring(meter.Sub(p.recorded, before))
	p.Env.Meter.AddTraffic(meter.StageSubsample, traffic)
}

// reportSaved reports the age of the newest checkpoint and the number of rows that a restart would
// reread.
func (p *partition) reportSaved() {
	var at time.Time
	var next int64
	if saved := p.scores.saved; saved != nil {
		at, next = saved.WrittenAt, saved.NextOrdinal
	}
	p.at.Saved(at, p.core.NextOrdinal()-next)
}
