package featurize

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/topics"
)

// blocks makes blocks of the live errors of a partition. They are made of acknowledged outputs and
// sent after them, so that a new owner can rebuild the open one.
type blocks struct {
	owned
	builder *live.Builder // nil = the topic lacks the partition
	closed  []pipeline.Record
}

// add adds an output that is acknowledged.
func (b *blocks) add(m live.Message) {
	if b.builder == nil {
		return
	}
	for _, block := range b.builder.Add(m) {
		value, err := wire.EncodeBlock(block)
		if err != nil {
			b.logger.Error("block of live errors not published", zap.Int64("from_offset", block.FirstOffset), zap.Error(err))
			continue
		}
		b.closed = append(b.closed, pipeline.Record{Key: []byte(block.Pipeline), Value: value, Time: b.runner.Env.Clock()})
	}
}

// messageOf is an output as blocks see it, whether it was just sent or is reread.
func messageOf(rows wire.FeatureBatch, sums *wire.LiveSums, output *pipeline.Record) live.Message {
	return live.Message{
		Rows:  rows,
		Live:  sums,
		Time:  meter.EventTime(output).Truncate(time.Millisecond),
		Bytes: len(output.Value),
	}
}

func (b *blocks) take() []pipeline.Record {
	closed := b.closed
	b.closed = nil
	return closed
}

// sendBlocks sends closed blocks. Features do not wait for the live topic: blocks that cannot be
// written are missing from it.
func (q *request) sendBlocks(ctx context.Context) {
	if len(q.blocks) == 0 {
		return
	}
	failpoint.Hit(failpoint.BlocksBefore)
	err := pipeline.Try(ctx, q.logger, "write live errors", func() error {
		_, err := q.writer.Produce(ctx, q.runner.Env.Topics.Live, q.number, q.blocks)
		return err
	})
	failpoint.Hit(failpoint.BlocksAfter)
	if err != nil && ctx.Err() == nil {
		q.logger.Error("blocks of live errors not published", zap.String("topic", q.runner.Env.Topics.Live),
			zap.Int("partition", q.number), zap.Error(err))
	}
}

// hasLive reports whether the topic of live errors has the partition.
func (r *Runner) hasLive(ctx context.Context, logger *zap.Logger, number int) (bool, error) {
	partitions, err := pipeline.Retry(ctx, logger, "look up topic "+r.Env.Topics.Live, func() (int, error) {
		n, err := r.Env.Broker.Partitions(ctx, r.Env.Topics.Live)
		if errors.Is(err, pipeline.ErrUnknownTopic) || errors.Is(err, pipeline.ErrDenied) {
			return 0, nil
		}
		return n, err
	})
	if err == nil && partitions <= number {
		logger.Warn("no live errors: their topic lacks the partition or access is denied; run `featurizer topics create`",
			zap.String("topic", r.Env.Topics.Live))
	}
	return partitions > number, err
}

// resume finds the last block on the topic and adds the outputs after it.
func (b *blocks) resume(ctx context.Context) error {
	b.builder = &live.Builder{Pipeline: b.runner.Env.Pipeline, Partition: int32(b.number)}
	last, err := b.last(ctx)
	if err != nil {
		return fmt.Errorf("find the last block of %s/%d: %w", b.runner.Env.Topics.Live, b.number, err)
	}
	if last != nil {
		b.builder.After(last)
	}
	if err := b.addSince(ctx); err != nil {
		return fmt.Errorf("read the outputs after the last block: %w", err)
	}
	return nil
}

// last returns the newest block of the partition, or nil.
func (b *blocks) last(ctx context.Context) (last *wire.Block, err error) {
	err = b.backwards(ctx, b.runner.Env.Topics.Live, func(rec *pipeline.Record) {
		found, err := wire.DecodeBlock(rec.Value)
		if err == nil && found.Pipeline == b.runner.Env.Pipeline && int(found.Partition) == b.number {
			last = found
		}
	}, func() bool { return last != nil })
	return last, err
}

// addSince adds the outputs that may belong to a block that is not on the topic. It searches
// backwards for the first of them and then reads forwards, because there may be any number of small
// outputs.
func (b *blocks) addSince(ctx context.Context) error {
	first, begins := int64(-1), int64(-1)
	covered := false
	bytes := 0
	err := b.backwards(ctx, b.runner.Env.Topics.Features, func(rec *pipeline.Record) {
		m, ok := b.messageIn(rec)
		switch {
		case !ok:
			return
		case b.builder.Covers(m.Rows):
			first, covered = rec.Offset+1, true
		case begins < 0:
			begins = rec.Offset
		}
		bytes += m.Bytes
	}, func() bool {
		if !covered && begins >= 0 {
			first = begins
		}
		begins = -1
		return covered || bytes > 2*live.BlockBytes
	})
	if err != nil || first < 0 {
		return err
	}
	_, next, err := b.runner.Env.Broker.Offsets(ctx, b.runner.Env.Topics.Features, b.number)
	if err != nil || first >= next {
		return err
	}
	env := b.runner.Env
	return topics.ReadSpan(ctx, env.Broker, b.logger, env.Topics.Features, b.number, first, next, func(rec pipeline.Record) error {
		if m, ok := b.messageIn(&rec); ok {
			b.add(m)
		}
		return nil
	})
}

// messageIn returns the output in a record; false if it does not come from this partition of
// events.
func (b *blocks) messageIn(rec *pipeline.Record) (live.Message, bool) {
	rows, err := wire.ParseFeatureHeaders(rec.Headers)
	if err != nil || rows.SourceTopic != b.runner.Env.Topics.Events || int(rows.SourcePartition) != b.number {
		return live.Message{}, false
	}
	sums, err := wire.ParseLive(rec.Headers)
	if err != nil {
		b.logger.Warn("ignoring invalid live errors in a header", zap.Int64("offset", rec.Offset), zap.Error(err))
	}
	return messageOf(rows, sums, rec), true
}

// backwards reads a partition from its end, in pieces of doubling length, until enough returns
// true.
func (b *blocks) backwards(ctx context.Context, topic string, read func(*pipeline.Record), enough func() bool) error {
	first, next, err := b.runner.Env.Broker.Offsets(ctx, topic, b.number)
	if err != nil {
		return err
	}
	for length := int64(1); next > first; length *= 2 {
		from := max(first, next-length)
		each := func(rec pipeline.Record) error {
			read(&rec)
			return nil
		}
		err := topics.ReadSpan(ctx, b.runner.Env.Broker, b.logger, topic, b.number, from, next, each)
		if err != nil || enough() {
			return err
		}
		next = from
	}
	return nil
}
