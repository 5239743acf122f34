package stages

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
)

// errExplorationLost says that offsets of a running exploration are no longer in the log.
var errExplorationLost = errors.New("offsets of the exploration are no longer in the log")

// subsamplePartition is the pipeline.Processor of one partition of one exploration.
type subsamplePartition struct {
	*SubsampleRunner
	spec   *wire.Spec
	part   wire.Partition
	logger *zap.Logger
	commit func(context.Context, int64) error
	at     *progress

	core    *Subsampler
	reader  *eventReader
	letters []pipeline.Record

	letterBytes int // of letters

	saved     *wire.Checkpoint // the newest checkpoint that this owner knows to be on the topic
	savedNext int64            // scores offset behind the last record seen
	savedAt   time.Time
	shadowed  bool      // the topic's last record of this exploration is an older one than saved
	lookedAt  time.Time // when what stands behind saved was last looked at
	lost      bool
	booked    wire.Counts // counts already added to the process's counters
	traffic   Traffic     // not added yet
}

// restore reads the checkpoint with the greatest next ordinal and starts the core from it. One that an older one hides
// from compaction is written again.
func (p *subsamplePartition) restore(ctx context.Context) error {
	p.reader = newEventReader(p.spec.Limits, p.spec.Encoder)
	failpoint.Hit(failpoint.RestoreBefore)
	if err := p.readScores(ctx); err != nil {
		return err
	}
	if p.saved != nil {
		if err := p.saved.CheckAgainst(p.spec, scoring.Kernel()); errors.Is(err, wire.ErrKernelMismatch) {
			p.logger.Warn("checkpoint was made by a kernel with other bits, scores are computed again from the start",
				zap.Error(err))
			p.saved = nil
		}
	}
	restored := p.saved != nil
	core, err := NewSubsampler(p.spec, p.sharedBank(p.spec), p.part, cloneCheckpoint(p.saved))
	if err != nil {
		return pipeline.Permanent(err)
	}
	held := p.held.of(p.spec, p.part.Partition)
	switch {
	case restored:
	case held != nil:
		core.takeHeld(held)
	default:
		core.held = p.held.start(p.spec, p.part.Partition)
	}
	p.core, p.booked, p.savedAt, p.lookedAt = core, core.Counts(), p.Clock(), p.Clock()
	p.logger.Info("subsampling", zap.Int64("next_offset", core.NextOffset()), zap.Int64("next_ordinal", core.NextOrdinal()),
		zap.Bool("restored", restored), zap.Bool("from_memory", held != nil && !restored), zap.Bool("closed", core.Closed()))
	failpoint.Hit(failpoint.RestoreAfter)
	return p.unshadow(ctx)
}

// run reads events until the partition closes or ctx ends. A partition that is closed already reads nothing more: a
// batch that cannot be read must not change what it counted.
func (p *subsamplePartition) run(ctx context.Context) error {
	if !p.core.Closed() {
		p.at = p.Counters.follow(StageSubsample, int(p.part.Partition), p.core.NextOffset())
		defer p.at.leave()
		p.noteSaved()
		return pipeline.RunPartition(ctx, p.Broker, p.logger, p.Settings.Topics.Events, int(p.part.Partition), p.DrainTimeout, p)
	}
	work, cancel := pipeline.Drain(ctx, p.DrainTimeout)
	defer cancel()
	return p.Close(work)
}

func cloneCheckpoint(c *wire.Checkpoint) *wire.Checkpoint {
	if c == nil {
		return nil
	}
	clone := *c
	if c.Sums != nil { // a Gram is not continued
		clone.Sums = c.Sums.Clone()
	}
	return &clone
}

// readScores takes the newest checkpoint of this exploration from what the partition of scores holds.
func (p *subsamplePartition) readScores(ctx context.Context) error {
	decoder := arrowio.NewDecoder(p.Watch.limits)
	hash := p.spec.Hash()
	next, err := pipeline.ReadAll(ctx, p.Broker, p.logger, p.Settings.Topics.Scores, int(p.part.Partition),
		func(rec pipeline.Record) error {
			p.savedNext = rec.Offset + 1
			if !p.isMine(rec) {
				return nil
			}
			if p.shadowed = true; rec.Value == nil {
				return nil
			}
			checkpoint, err := wire.DecodeCheckpoint(decoder, rec.Value)
			if err != nil {
				return pipeline.Permanent(fmt.Errorf("checkpoint at %s/%d offset %d: %w",
					rec.Topic, rec.Partition, rec.Offset, err))
			}
			if p.spec.Pass > 0 && checkpoint.SpecHash != hash { // of another plan for the pass: nothing is lost without it
				return nil
			}
			if p.saved == nil || supersedes(checkpoint, p.saved, p.spec.Kernel) {
				p.saved, p.shadowed = checkpoint, false
			}
			return nil
		})
	p.savedNext = max(p.savedNext, next)
	return err
}

func (p *subsamplePartition) isMine(rec pipeline.Record) bool {
	return bytes.Equal(rec.Key, wire.CheckpointKey(p.spec.Exploration, p.spec.Pass))
}

// supersedes reports whether, of two checkpoints of one partition, c is to be taken and not last: one of the spec's
// kernel before any other, then the one that has come further, then c.
func supersedes(c, last *wire.Checkpoint, kernel string) bool {
	if right := c.Kernel == kernel; right != (last.Kernel == kernel) {
		return right
	}
	return cmp.Or(cmp.Compare(c.NextOrdinal, last.NextOrdinal), cmp.Compare(c.NextOffset, last.NextOffset)) >= 0
}

func (p *subsamplePartition) NextOffset() int64 { return p.core.NextOffset() }

func (p *subsamplePartition) Process(ctx context.Context, f pipeline.Fetched) error {
	defer p.Counters.worked(StageSubsample, time.Now())
	p.at.fetched(f, p.Clock())
	for _, rec := range f.Records {
		if p.core.Closed() || p.reachesEnd(rec.Offset) {
			break
		}
		if err := p.add(rec); err != nil {
			return err
		}
		p.at.done(p.core.NextOffset())
	}
	next := f.NextOffset
	if p.part.EndOffset >= 0 {
		next = min(next, p.part.EndOffset) // where the next exploration goes on, however long this fetch was
	}
	p.core.Advance(next)
	p.at.done(p.core.NextOffset())
	p.book()
	p.noteSaved()
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

// reachesEnd stops before the exploration's end offset, of which Advance then tells the core.
func (p *subsamplePartition) reachesEnd(offset int64) bool {
	return p.part.EndOffset >= 0 && offset >= p.part.EndOffset
}

func (p *subsamplePartition) add(rec pipeline.Record) error {
	defer p.Counters.handled(StageSubsample, time.Now())
	span := p.startSpan(StageSubsample, rec)
	defer span.End()
	batches, err := p.reader.read(rec.Value)
	if err != nil {
		failSpan(span, err)
		p.traffic.UndecodableBytes += int64(rec.Size())
		p.addLetter(refusedMessage(StageSubsample, rec, err, p.Clock()))
		p.core.Refuse(rec.Offset + 1)
		return nil
	}
	defer releaseAll(batches)
	p.traffic.UsedBytes += int64(rec.Size())
	rejected, err := p.core.Add(rec.Offset, batches)
	if err != nil {
		return fmt.Errorf("score %s/%d offset %d: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	var rowBase int32
	for i, rows := range rejected {
		if len(rows) > 0 {
			letter, err := rejectedRows(StageSubsample, rec, batches[i], rowBase, rows, p.Clock())
			if err != nil {
				return err
			}
			p.addLetter(letter)
		}
		rowBase += int32(batches[i].NumRows())
	}
	return nil
}

// letterBytesMax is how many bytes of dead letters wait for a checkpoint at most, besides those of one fetch.
const letterBytesMax = 4 << 20

func (p *subsamplePartition) addLetter(letter pipeline.Record) {
	if p.spec.Pass > 0 { // the first pass has sent it
		return
	}
	p.letters = append(p.letters, cloneRecord(letter))
	p.letterBytes += letter.Size()
}

// Gap has a batch that cannot be read in the dead letters. Where offsets of the exploration are gone it asks for a new one:
// the result would not depend on the log alone any more.
func (p *subsamplePartition) Gap(ctx context.Context, g pipeline.Gap) error {
	if g.Kind == pipeline.GapUnreadable {
		p.addLetter(refusedBatch(StageSubsample, g, p.Clock()))
		p.core.Refuse(g.To)
		return p.Process(ctx, pipeline.Fetched{NextOffset: p.core.NextOffset()})
	}
	request := wire.Request{
		Action: wire.ActionRestart, ID: p.spec.Exploration, Exploration: p.spec.Exploration,
		Reason: fmt.Sprintf("%v: %v", errExplorationLost, g.Err), Time: p.Clock(),
	}
	if err := SendRequest(ctx, p.Runtime, request); err != nil {
		return err
	}
	p.lost = true
	return fmt.Errorf("%w: %w", errExplorationLost, g.Err)
}

// Close saves what was read since the last checkpoint, where it can be saved.
func (p *subsamplePartition) Close(ctx context.Context) error {
	failpoint.Hit(failpoint.SubsampleDrain)
	p.book()
	if p.lost || !p.core.CanSave() || p.saved != nil && p.saved.NextOffset == p.core.NextOffset() && p.saved.Closed == p.core.Closed() {
		return nil
	}
	return p.save(ctx)
}

func (p *subsamplePartition) checkpointDue() bool {
	if !p.core.CanSave() {
		return false
	}
	next := int64(0)
	if p.saved != nil {
		next = p.saved.NextOrdinal
	}
	rows := p.core.NextOrdinal() - next
	return p.letterBytes >= letterBytesMax || rows >= p.Settings.Subsample.CheckpointRows ||
		(rows > 0 || len(p.letters) > 0) && p.Clock().Sub(p.savedAt) >= p.Settings.Subsample.CheckpointInterval
}

// save sends the dead letters, then writes the checkpoint that says that they are out, then tells the group.
func (p *subsamplePartition) save(ctx context.Context) error {
	partition := int(p.part.Partition)
	err := pipeline.Try(ctx, p.logger, "send dead letters", func() error {
		return deadLetters{p.Broker, p.Settings.Topics.DeadLetters}.send(ctx, partition, p.letters)
	})
	if err != nil {
		return fmt.Errorf("send dead letters of partition %d: %w", partition, err)
	}
	p.Counters.addLetters(p.letters)
	p.letters, p.letterBytes = nil, 0
	failpoint.Hit(failpoint.CheckpointBefore)
	checkpoint := p.core.Checkpoint(p.Clock())
	if err := p.write(ctx, checkpoint); err != nil {
		return err
	}
	failpoint.Hit(failpoint.CheckpointAfter)
	if p.spec.Pass > 0 { // the offset that lag monitors look at is that of the first pass
		return nil
	}
	if err := p.commit(ctx, checkpoint.NextOffset); err != nil {
		p.logger.Warn("offset not committed, lag monitors are behind", zap.Error(err))
	}
	return nil
}

func (p *subsamplePartition) write(ctx context.Context, checkpoint *wire.Checkpoint) error {
	value, err := wire.EncodeCheckpoint(checkpoint)
	if err != nil {
		return err
	}
	record := pipeline.Record{Key: wire.CheckpointKey(checkpoint.Exploration, checkpoint.Pass), Value: value, Time: checkpoint.WrittenAt}
	offset, err := pipeline.Retry(ctx, p.logger, "write checkpoint", func() (int64, error) {
		return p.Broker.Produce(ctx, p.Settings.Topics.Scores, int(checkpoint.Partition), []pipeline.Record{record})
	})
	if err != nil {
		return fmt.Errorf("write checkpoint of partition %d at next offset %d: %w", checkpoint.Partition, checkpoint.NextOffset, err)
	}
	p.saved, p.savedAt, p.savedNext, p.shadowed = checkpoint, p.Clock(), offset+1, false
	p.noteSaved()
	return nil
}

// noteSaved tells how old the newest checkpoint is and how many rows would have to be read again without another one.
func (p *subsamplePartition) noteSaved() {
	var at time.Time
	var next int64
	if p.saved != nil {
		at, next = p.saved.WrittenAt, p.saved.NextOrdinal
	}
	unsaved := p.core.NextOrdinal() - next
	if !p.core.CanSave() {
		unsaved = 0
	}
	p.at.saved(at, unsaved)
}

// guard keeps the last checkpoint of a closed partition the newest until the exploration is over.
func (p *subsamplePartition) guard(ctx context.Context) error {
	if p.lost || !p.core.Closed() {
		return nil
	}
	return endOf(ctx, p.lookBehind(ctx, pipeline.Forever))
}

// lookWhileIdle does for an open partition to which no rows come, at most once in a checkpoint interval, what guard does
// for a closed one.
func (p *subsamplePartition) lookWhileIdle(ctx context.Context) error {
	if p.saved == nil || p.Clock().Sub(p.lookedAt) < p.Settings.Subsample.CheckpointInterval {
		return nil
	}
	p.lookedAt = p.Clock()
	return p.lookBehind(ctx, pipeline.PresentEnd)
}

// lookBehind reads what stands on the topic behind the last checkpoint, and writes that again should an owner that lost the
// partition have written an older one behind it, which compaction would keep.
func (p *subsamplePartition) lookBehind(ctx context.Context, until int64) error {
	r := pipeline.NewReader(p.Broker, p.logger, p.Settings.Topics.Scores, int(p.part.Partition),
		pipeline.ReadOptions{From: p.savedNext, Until: until})
	for fetched, err := range r.Fetches(ctx) {
		if err != nil {
			return fmt.Errorf("watch checkpoints: %w", err)
		}
		p.savedNext = fetched.NextOffset
		for _, rec := range fetched.Records {
			if !p.isMine(rec) {
				continue
			}
			other, err := wire.DecodeCheckpoint(arrowio.NewDecoder(p.Watch.limits), rec.Value) // an error for a tombstone
			p.shadowed = err != nil || other.SpecHash != p.saved.SpecHash || p.saved.Closed && !other.Closed ||
				!supersedes(other, p.saved, p.spec.Kernel)
		}
		if err := p.unshadow(ctx); err != nil {
			return err
		}
		r.MoveTo(p.savedNext)
	}
	return nil
}

// unshadow writes the last checkpoint again where an older one stands behind it.
func (p *subsamplePartition) unshadow(ctx context.Context) error {
	if p.saved == nil || !p.shadowed {
		return nil
	}
	p.logger.Warn("an older checkpoint was written behind the last one, which is written again",
		zap.Int64("next_offset", p.saved.NextOffset), zap.Int64("scores_next_offset", p.savedNext))
	again := *p.saved
	again.WrittenAt = p.Clock()
	return p.write(ctx, &again)
}

// book adds what was counted since the last call to the process's counters. Rows count in the first pass alone.
func (p *subsamplePartition) book() {
	before, traffic := p.booked, p.traffic
	p.booked, p.traffic = p.core.Counts(), Traffic{}
	p.at.count(p.booked.Messages-before.Messages, p.booked.Rows-before.Rows)
	if p.spec.Pass > 0 {
		return
	}
	p.Counters.addScoring(p.booked, before)
	p.Counters.addTraffic(StageSubsample, traffic)
}
