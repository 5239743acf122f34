package subsample

import (
	"context"
	"fmt"
	"slices"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/meter"
)

// Limits on the bytes of x that partitions collect before they send them.
const (
	SampleBytes      = 1 << 20  // upper limit per partition
	leastSampleShare = 64 << 10 // lower limit per partition
	samplesWaiting   = 16 << 20 // over all partitions
)

// SampleShare returns roughly how many bytes of x a partition collects before it sends them, given
// the number of partitions.
func SampleShare(partitions int) int64 {
	return min(SampleBytes, max(leastSampleShare, samplesWaiting/int64(max(1, partitions))))
}

func (p *partition) checkpointDue() bool {
	next := int64(0)
	if p.scores.saved != nil {
		next = p.scores.saved.NextOrdinal
	}
	rows := p.core.NextOrdinal() - next
	return rows >= p.Config.CheckpointRows ||
		(rows > 0 || len(p.deadLetters) > 0) && p.Env.Clock().Sub(p.savedAt) >= p.Config.CheckpointInterval
}

// confirm closes the partition as lost if the events topic is no longer the log that the
// exploration reads: the last records may come from its replacement. It looks up the identity after
// the records were read, so that rows of two logs are never saved together.
func (p *partition) confirm(ctx context.Context) error {
	if p.spec.EventsLog == "" || p.core.CloseReason() == wire.CloseLost || p.fetchedAt.IsZero() {
		return nil
	}
	now, err := pipeline.Retry(
		ctx,
		p.logger,
		"look up the identity of "+p.Env.Topics.Events,
		func() (pipeline.LogID, error) {
			return p.Env.Broker.Identity(ctx, p.Env.Topics.Events, int(p.part.Partition), p.fetchedAt)
		},
	)
	if err != nil || now == "" || string(now) == p.spec.EventsLog {
		return err
	}
	g := pipeline.Gap{
		Topic:     p.Env.Topics.Events,
		Partition: int(p.part.Partition),
		Kind:      pipeline.GapRecreated,
		From:      p.core.NextOffset(),
		Now:       now,
	}
	p.logger.Warn("events topic was recreated during the exploration; closing the partition", zap.Stringer("gap", g))
	p.Env.Meter.AddGap(g)
	p.deadLetters, p.deadLetterBytes = nil, 0 // they may come from the new log, which will be read from its start
	p.core.Lose()
	return nil
}

// save sends the dead letters and the samples, writes the checkpoint that counts them, and then
// commits the offset.
func (p *partition) save(ctx context.Context) error {
	if err := p.confirm(ctx); err != nil {
		return err
	}
	sender := deadletter.Sender{To: p.writer, Topic: p.Env.Topics.DeadLetters, Meter: p.Env.Meter, Logger: p.logger}
	if err := sender.Send(ctx, int(p.part.Partition), p.deadLetters); err != nil {
		return err
	}
	p.deadLetters, p.deadLetterBytes = nil, 0
	if err := p.sendSamples(ctx); err != nil {
		return err
	}
	failpoint.Hit(failpoint.CheckpointBefore)
	checkpoint := p.core.Checkpoint(p.Env.Clock())
	checkpoint.EventsLog = p.spec.EventsLog
	checkpoint.LastBatch = wire.BatchMark{Offset: p.lastBatch.Offset, Checksum: p.lastBatch.Checksum}
	if err := p.write(ctx, checkpoint); err != nil {
		return err
	}
	failpoint.Hit(failpoint.CheckpointAfter)
	if err := p.commit(ctx, checkpoint.NextOffset, pipeline.LogID(checkpoint.EventsLog)); err != nil {
		p.logger.Warn("offset commit failed; reported lag will be too high", zap.Error(err))
	}
	return nil
}

// sendSamples writes the collected samples to their topic and waits for the acknowledgement.
func (p *partition) sendSamples(ctx context.Context) error {
	samples := p.core.Samples()
	if samples == nil || samples.Rows() == 0 {
		return nil
	}
	failpoint.Hit(failpoint.SamplesBefore)
	for first := 0; first < samples.Rows(); {
		next := min(samples.Rows(), first+p.rowsPerMessage())
		if err := p.sendRows(ctx, samples, first, next); err != nil {
			return fmt.Errorf("write samples of partition %d from ordinal %d: %w", p.part.Partition, samples.Ordinal[first], err)
		}
		first = next
	}
	failpoint.Hit(failpoint.SamplesAfter)
	p.core.ClearSamples()
	return nil
}

// rowsPerMessage is the maximum number of sampled rows in a message.
func (p *partition) rowsPerMessage() int {
	row := wire.SampleRowBytes(p.spec.Encoder.Dim, p.spec.Encoder.Outputs())
	return int(max(1, min(SampleBytes, p.Env.Topics.MaxMessageBytes/2)/row))
}

func (p *partition) sendRows(ctx context.Context, samples *wire.Samples, first, next int) error {
	value, headers, err := wire.EncodeSamples(samples.Slice(first, next))
	if err != nil {
		return pipeline.Permanent(err)
	}
	message := []pipeline.Record{{
		Key: wire.CheckpointKey(p.spec.Exploration), Value: value, Headers: slices.Concat(nil, headers), Time: p.Env.Clock(),
	}}
	err = pipeline.Try(ctx, p.logger, "write samples", func() error {
		_, err := p.writer.Produce(ctx, p.Env.Topics.Samples, int(p.part.Partition), message)
		return err
	})
	if err == nil {
		p.Env.Meter.AddTraffic(meter.StageSubsample, meter.Traffic{OutputMessages: 1, OutputBytes: int64(message[0].Size())})
	}
	return err
}

func (p *partition) write(ctx context.Context, checkpoint *wire.Checkpoint) error {
	value, err := wire.EncodeCheckpoint(checkpoint)
	if err != nil {
		return err
	}
	message := []pipeline.Record{
		{Key: wire.CheckpointKey(checkpoint.Exploration), Value: value, Time: checkpoint.WrittenAt},
	}
	offset, err := pipeline.Retry(ctx, p.logger, "write checkpoint", func() (int64, error) {
		return p.writer.Produce(ctx, p.Env.Topics.Scores, int(checkpoint.Partition), message)
	})
	if err != nil {
		return fmt.Errorf(
			"write checkpoint of partition %d at next offset %d: %w",
			checkpoint.Partition,
			checkpoint.NextOffset,
			err,
		)
	}
	p.savedAt = p.Env.Clock()
	p.scores.saved, p.scores.next, p.scores.shadowed = checkpoint, offset+1, false
	p.reportSaved()
	return nil
}
