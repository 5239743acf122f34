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

const (
	// blockInterval is the shortest time between two writes of final blocks, unless they span
	// unsentBytes of outputs.
	blockInterval = time.Second
	unsentBytes   = live.BlockBytes / 4
	// provisionalAfter is the age of an open block at which it is published as a provisional one,
	// and the shortest time between two versions of it.
	provisionalAfter = time.Minute
)

// blocks makes blocks of the live errors of a partition. They are made of acknowledged outputs and
// sent after them, so that a new owner can rebuild the unsent and the open ones. Their contents
// depend on the log alone; only the times of sending, and provisional blocks, depend on the clock.
type blocks struct {
	owned
	builder *live.Builder // nil = the topic lacks the partition
	unsent  []pipeline.Record
	bytes   int // of the outputs since the last write
	sentAt  time.Time
	open    openBlock
}

// openBlock is the version of the open block that was considered last.
type openBlock struct {
	first, next   int64 // offsets
	firstRow, row int32
	since         time.Time // opened or published
}

// add adds an acknowledged output.
func (b *blocks) add(m live.Message) {
	if b.builder == nil {
		return
	}
	b.bytes += m.Bytes
	for _, block := range b.builder.Add(m) {
		b.queue(block)
	}
}

func (b *blocks) queue(block *wire.Block) {
	value, err := wire.EncodeBlock(block)
	if err != nil {
		b.logger.Error("block of live errors not published", zap.Int64("from_offset", block.FirstOffset), zap.Error(err))
		return
	}
	b.unsent = append(b.unsent, pipeline.Record{Key: wire.BlockKey(block), Value: value, Time: b.runner.Env.Clock()})
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

// take returns the records to send now: final blocks if they are due or all are wanted, and a
// provisional block that is old enough and has changed.
func (b *blocks) take(all bool) []pipeline.Record {
	if b.builder == nil {
		return nil
	}
	now := b.runner.Env.Clock()
	if !all {
		b.queueProvisional(now)
	}
	if !all && now.Sub(b.sentAt) < blockInterval && b.bytes < unsentBytes {
		return nil
	}
	taken := b.unsent
	b.unsent = nil
	b.bytes = 0
	b.sentAt = now
	return taken
}

// queueProvisional queues the open block if it is old enough and has changed.
func (b *blocks) queueProvisional(now time.Time) {
	block := b.builder.Provisional()
	if block == nil {
		b.open = openBlock{}
		return
	}
	o := &b.open
	if o.since.IsZero() || o.first != block.FirstOffset || o.firstRow != block.FirstRow {
		*o = openBlock{first: block.FirstOffset, firstRow: block.FirstRow, since: now}
		return
	}
	if now.Sub(o.since) < provisionalAfter || o.next == block.NextOffset && o.row == block.NextRow {
		return
	}
	o.next, o.row = block.NextOffset, block.NextRow
	o.since = now
	b.queue(block)
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
func (b *blocks) resume(ctx context.Context, end position) error {
	b.builder = &live.Builder{Pipeline: b.runner.Env.Pipeline, Partition: int32(b.number)}
	last, err := b.last(ctx, end)
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

// last returns the newest final block of the partition, or nil. A block after the end of the output
// is not ours.
func (b *blocks) last(ctx context.Context, end position) (last *wire.Block, err error) {
	err = b.backwards(ctx, b.runner.Env.Topics.Live, func(rec *pipeline.Record) {
		found, err := wire.DecodeBlock(rec.Value)
		ours := err == nil && found.Pipeline == b.runner.Env.Pipeline && int(found.Partition) == b.number
		if ours && !found.Provisional && found.NextOffset <= end.next {
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
		return covered || bytes > 2*(live.BlockBytes+unsentBytes) // open, and in an unfinished request
	})
	if err != nil || first < 0 {
		return err
	}
	_, next, err := b.runner.Env.Broker.Offsets(ctx, b.runner.Env.Topics.Features, b.number)
	if err != nil || first >= next {
		return err
	}
	env := b.runner.Env
	return topics.ReadSpan(
		ctx,
		env.Broker,
		b.logger,
		env.Topics.Features,
		b.number,
		first,
		next,
		func(rec pipeline.Record) error {
			if m, ok := b.messageIn(&rec); ok {
				b.add(m)
			}
			return nil
		},
	)
}

// messageIn returns the output in a record; false if it does not come from this partition of
// events.
func (b *blocks) messageIn(rec *pipeline.Record) (live.Message, bool) {
	rows, err := wire.ParseFeatureHeaders(rec.Headers)
	if err != nil || rows.SourceTopic != b.runner.Env.Topics.Events || int(rows.SourcePartition) != b.number {
		return live.Message{}, false
	}
	sums, err := wire.ParseLive(rec.Headers)
	if err == nil && sums != nil && sums.Rows > int64(rows.RowCount) {
		sums, err = nil, fmt.Errorf("%d rows compared of %d", sums.Rows, rows.RowCount)
	}
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
