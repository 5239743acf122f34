package subsample

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// SampleBytes is roughly how many bytes of x a partition collects before it sends them.
const SampleBytes = 1 << 20

func (p *partition) checkpointDue() bool {
	next := int64(0)
	if p.scores.saved != nil {
		next = p.scores.saved.NextOrdinal
	}
	rows := p.core.NextOrdinal() - next
	return p.deadLetterBytes >= deadletter.PendingBytes || rows >= p.Config.CheckpointRows ||
		(rows > 0 || len(p.deadLetters) > 0) && p.Clock().Sub(p.savedAt) >= p.Config.CheckpointInterval
}

// save sends the dead letters and the samples, then writes the checkpoint that counts them, then commits the offset.
func (p *partition) save(ctx context.Context) error {
	sender := deadletter.Sender{Log: p.Broker, Topic: p.Topics.DeadLetters, Meter: p.Meter, Logger: p.logger}
	if err := sender.Send(ctx, int(p.part.Partition), p.deadLetters); err != nil {
		return err
	}
	p.deadLetters, p.deadLetterBytes = nil, 0
	if err := p.sendSamples(ctx); err != nil {
		return err
	}
	failpoint.Hit(failpoint.CheckpointBefore)
	checkpoint := p.core.Checkpoint(p.Clock())
	if err := p.write(ctx, checkpoint); err != nil {
		return err
	}
	failpoint.Hit(failpoint.CheckpointAfter)
	if err := p.commit(ctx, checkpoint.NextOffset); err != nil {
		p.logger.Warn("offset not committed, lag monitors are behind", zap.Error(err))
	}
	return nil
}

// sendSamples puts the collected samples on their topic and waits for the acknowledgement.
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

// rowsPerMessage is how many sampled rows a message holds at most.
func (p *partition) rowsPerMessage() int {
	row := wire.SampleRowBytes(p.spec.Encoder.Dim, p.spec.Encoder.Outputs())
	return int(max(1, min(SampleBytes, p.Topics.MaxMessageBytes/2)/row))
}

func (p *partition) sendRows(ctx context.Context, samples *wire.Samples, first, next int) error {
	value, headers, err := wire.EncodeSamples(samples.Slice(first, next))
	if err != nil {
		return pipeline.Permanent(err)
	}
	record := pipeline.Record{
		Key: wire.CheckpointKey(p.spec.Exploration), Value: value, Headers: events.WithHeaders(nil, headers), Time: p.Clock(),
	}
	err = pipeline.Try(ctx, p.logger, "write samples", func() error {
		_, err := p.Broker.Produce(ctx, p.Topics.Samples, int(p.part.Partition), []pipeline.Record{record})
		return err
	})
	if err == nil {
		p.Meter.AddTraffic(meter.StageSubsample, meter.Traffic{OutputMessages: 1, OutputBytes: int64(record.Size())})
	}
	return err
}

func (p *partition) write(ctx context.Context, checkpoint *wire.Checkpoint) error {
	value, err := wire.EncodeCheckpoint(checkpoint)
	if err != nil {
		return err
	}
	record := pipeline.Record{Key: wire.CheckpointKey(checkpoint.Exploration), Value: value, Time: checkpoint.WrittenAt}
	offset, err := pipeline.Retry(ctx, p.logger, "write checkpoint", func() (int64, error) {
		return p.Broker.Produce(ctx, p.Topics.Scores, int(checkpoint.Partition), []pipeline.Record{record})
	})
	if err != nil {
		return fmt.Errorf("write checkpoint of partition %d at next offset %d: %w", checkpoint.Partition, checkpoint.NextOffset, err)
	}
	p.savedAt = p.Clock()
	p.scores.saved, p.scores.next, p.scores.shadowed = checkpoint, offset+1, false
	p.reportSaved()
	return nil
}
