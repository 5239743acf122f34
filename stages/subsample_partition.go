package stages

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

	core    *Subsampler
	reader  *eventReader
	letters []pipeline.Record

	letterBytes int // of letters

	saved     *wire.Checkpoint // the newest checkpoint that this owner knows to be on the topic
	savedNext int64            // scores offset behind the last record seen
	savedAt   time.Time
	lost      bool
	booked    wire.Counts // counts already added to the process's counters
}

// restore reads the checkpoint with the greatest next ordinal and starts the core from it.
func (p *subsamplePartition) restore(ctx context.Context) error {
	p.reader = newEventReader(p.spec.Limits, p.spec.Encoder)
	if err := p.readScores(ctx); err != nil {
		return err
	}
	from := p.saved
	if from != nil {
		if err := from.CheckAgainst(p.spec, scoring.Kernel()); errors.Is(err, wire.ErrKernelMismatch) {
			p.logger.Warn("checkpoint was made by a kernel with other bits, scores are computed again from the start",
				zap.Error(err))
			from = nil
		}
	}
	core, err := NewSubsampler(p.spec, p.sharedBank(p.spec), p.part, cloneCheckpoint(from))
	if err != nil {
		return pipeline.Permanent(err)
	}
	p.core, p.booked, p.savedAt = core, core.Counts(), p.Clock()
	p.logger.Info("subsampling", zap.Int64("next_offset", core.NextOffset()), zap.Int64("next_ordinal", core.NextOrdinal()),
		zap.Bool("restored", from != nil), zap.Bool("closed", core.Closed()))
	return nil
}

func cloneCheckpoint(c *wire.Checkpoint) *wire.Checkpoint {
	if c == nil {
		return nil
	}
	clone := *c
	clone.Sums = c.Sums.Clone()
	return &clone
}

// readScores takes the newest checkpoint of this exploration from what the partition of scores holds.
func (p *subsamplePartition) readScores(ctx context.Context) error {
	decoder := arrowio.NewDecoder(p.Watch.limits)
	next, err := pipeline.ReadAll(ctx, p.Broker, p.logger, p.Settings.Topics.Scores, int(p.part.Partition),
		func(rec pipeline.Record) error {
			p.savedNext = rec.Offset + 1
			if !bytes.Equal(rec.Key, wire.CheckpointKey(p.spec.Exploration)) || rec.Value == nil {
				return nil
			}
			checkpoint, err := wire.DecodeCheckpoint(decoder, rec.Value)
			if err != nil {
				return pipeline.Permanent(fmt.Errorf("checkpoint at %s/%d offset %d: %w",
					rec.Topic, rec.Partition, rec.Offset, err))
			}
			if p.saved == nil || checkpoint.NextOrdinal >= p.saved.NextOrdinal {
				p.saved = checkpoint
			}
			return nil
		})
	p.savedNext = max(p.savedNext, next)
	return err
}

func (p *subsamplePartition) NextOffset() int64 { return p.core.NextOffset() }

func (p *subsamplePartition) Process(ctx context.Context, f pipeline.Fetched) error {
	for _, rec := range f.Records {
		if p.core.Closed() || p.reachesEnd(rec.Offset) {
			break
		}
		if err := p.add(rec); err != nil {
			return err
		}
	}
	if !p.core.Closed() {
		next := f.NextOffset
		if p.part.EndOffset >= 0 {
			next = min(next, p.part.EndOffset) // where the next exploration goes on, however long this fetch was
		}
		p.core.Advance(next)
	}
	p.book()
	if p.core.Closed() || p.checkpointDue() {
		if err := p.save(ctx); err != nil {
			return err
		}
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
	batches, err := p.reader.read(rec.Value)
	if err != nil {
		p.addLetter(refusedMessage(StageSubsample, rec, err, p.Clock()))
		p.core.Refuse(rec.Offset + 1)
		return nil
	}
	defer releaseAll(batches)
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
	p.letters = append(p.letters, letter)
	p.letterBytes += letter.Size()
}

func (p *subsamplePartition) Refuse(ctx context.Context, e *pipeline.UnreadableBatchError) error {
	p.addLetter(refusedBatch(StageSubsample, e, p.Clock()))
	p.core.Refuse(e.NextOffset)
	return p.Process(ctx, pipeline.Fetched{NextOffset: p.core.NextOffset()})
}

// Missing asks for a new exploration where retention passed the offsets of this one: with rows gone, its result
// would not depend on the log alone any more. A partition that is closed needs none of them.
func (p *subsamplePartition) Missing(ctx context.Context, e *pipeline.OffsetOutOfRangeError) error {
	if p.core.Closed() {
		return p.Process(ctx, pipeline.Fetched{NextOffset: p.core.NextOffset()})
	}
	request := wire.Request{
		Action: wire.ActionRestart, ID: p.spec.Exploration, Exploration: p.spec.Exploration,
		Reason: fmt.Sprintf("%v: %v", errExplorationLost, e), Time: p.Clock(),
	}
	if err := SendRequest(ctx, p.Runtime, request); err != nil {
		return err
	}
	p.lost = true
	return fmt.Errorf("%w: %w", errExplorationLost, e)
}

// Close saves what was read since the last checkpoint.
func (p *subsamplePartition) Close(ctx context.Context) error {
	p.book()
	if p.lost || p.saved != nil && p.saved.NextOffset == p.core.NextOffset() && p.saved.Closed == p.core.Closed() {
		return nil
	}
	return p.save(ctx)
}

func (p *subsamplePartition) checkpointDue() bool {
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
	p.letters, p.letterBytes = nil, 0
	checkpoint := p.core.Checkpoint(p.Clock())
	if err := p.write(ctx, checkpoint); err != nil {
		return err
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
	record := pipeline.Record{Key: wire.CheckpointKey(checkpoint.Exploration), Value: value, Time: checkpoint.WrittenAt}
	offset, err := pipeline.Retry(ctx, p.logger, "write checkpoint", func() (int64, error) {
		return p.Broker.Produce(ctx, p.Settings.Topics.Scores, int(checkpoint.Partition), []pipeline.Record{record})
	})
	if err != nil {
		return fmt.Errorf("write checkpoint of partition %d at next offset %d: %w", checkpoint.Partition, checkpoint.NextOffset, err)
	}
	p.saved, p.savedAt, p.savedNext = checkpoint, p.Clock(), offset+1
	return nil
}

// guard waits until the exploration is over and writes the last checkpoint again should an owner that lost the
// partition write an older one behind it, which compaction would keep.
func (p *subsamplePartition) guard(ctx context.Context) error {
	if p.lost || !p.core.Closed() {
		return nil
	}
	topic, partition := p.Settings.Topics.Scores, int(p.part.Partition)
	decoder := arrowio.NewDecoder(p.Watch.limits)
	for ctx.Err() == nil {
		fetched, err := pipeline.Retry(ctx, p.logger, "watch checkpoints", func() (pipeline.Fetched, error) {
			return p.Broker.Fetch(ctx, topic, partition, p.savedNext)
		})
		if after, ok := passOver(err, p.savedNext); ok { // compaction was quicker
			p.savedNext = after
			continue
		}
		if err != nil {
			return endOf(ctx, fmt.Errorf("watch checkpoints of partition %d: %w", partition, err))
		}
		p.savedNext = fetched.NextOffset
		for _, rec := range fetched.Records {
			if !bytes.Equal(rec.Key, wire.CheckpointKey(p.spec.Exploration)) {
				continue
			}
			older, err := wire.DecodeCheckpoint(decoder, rec.Value) // an error for a tombstone
			if err == nil && older.NextOrdinal >= p.saved.NextOrdinal && older.Closed == p.saved.Closed {
				continue
			}
			p.logger.Warn("an older checkpoint was written behind the last one, which is written again",
				zap.Int64("scores_offset", rec.Offset))
			again := *p.saved
			again.WrittenAt = p.Clock()
			if err := p.write(ctx, &again); err != nil {
				return endOf(ctx, err)
			}
		}
	}
	return nil
}

// book adds what was counted since the last call to the process's counters.
func (p *subsamplePartition) book() {
	p.Counters.addScoring(p.core.Counts(), p.booked)
	p.booked = p.core.Counts()
}
