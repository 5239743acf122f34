package pipeline

import (
	"errors"
	"fmt"

	"go.uber.org/zap"
)

// GapKind is the reason for skipping offsets; it decides where reading continues.
type GapKind string

// The kinds of gaps. Missing offsets inside a log, as compaction and transactions leave them, are
// not gaps.
const (
	// GapRetention means that the log begins after the offset. Reading continues at its first
	// offset.
	GapRetention GapKind = "retention"
	// GapTruncated means that the log lost its last records (an unclean leader election, a broker
	// that returned without them), whether or not it has grown past the offset since. A reader that
	// watches batches continues after the last unchanged batch. Any other reader notices only a log
	// that ends before the offset, or before the end that it had when reading began; records that
	// it read may be invalid, and it restarts at the first offset. A bounded reader ends where the
	// log ends now.
	GapTruncated GapKind = "truncated"
	// GapRecreated means that the topic was deleted and recreated, and has a new log. Reading
	// starts at its first offset.
	GapRecreated GapKind = "recreated"
	// GapUnreadable means that the batch is damaged, has an old format, or exceeds the memory
	// budget. Reading continues after it.
	GapUnreadable GapKind = "unreadable"
)

// Gap is a range of offsets that a reader cannot read.
type Gap struct {
	Topic     string
	Partition int
	Kind      GapKind
	// From is the first offset that cannot be read, and To is where reading continues: before From
	// in a log that was truncated or recreated.
	From, To int64
	// First and End are the bounds of the log, [First, End); 0 (unknown) for an unreadable batch.
	First, End int64
	// Err is the log's response: an [*OffsetOutOfRangeError], an [*UnreadableBatchError] or a
	// [*LogChangedError].
	Err error
	// Lost is the number of offsets that a truncated or recreated log lost, as far as the reader
	// knows. It includes unread offsets and, for a truncated log, offsets already read.
	Lost int64
	// Now is the identity of the current log; empty if the reader does not watch it.
	Now LogID
}

// Changed reports whether the log no longer holds some of the records that were read before.
func (g Gap) Changed() bool { return g.Kind == GapTruncated || g.Kind == GapRecreated }

// Missing is the number of missing offsets, as far as it is known for a truncated or recreated log.
func (g Gap) Missing() int64 {
	if g.Changed() {
		return g.Lost
	}
	return g.To - g.From
}

// Log logs a gap. Retention is routine, the others are warnings.
func (g Gap) Log(logger *zap.Logger) {
	fields := []zap.Field{
		zap.String("topic", g.Topic),
		zap.Int("partition", g.Partition),
		zap.Int64("offset", g.From),
		zap.Int64("next_offset", g.To),
		zap.Error(g.Err),
	}
	switch g.Kind {
	case GapRetention:
		logger.Info("records were removed by retention; continuing at the first offset", fields...)
	case GapTruncated:
		fields = append(fields, zap.Int64("lost_offsets", g.Lost))
		logger.Warn("log was truncated; continuing after the last unchanged batch, or from the start", fields...)
	case GapRecreated:
		fields = append(fields, zap.String("log", string(g.Now)))
		logger.Warn("topic was recreated; reading the new log from its first offset", fields...)
	default:
		logger.Warn("batch cannot be read; skipping it", fields...)
	}
}

// gapOf interprets the error of a fetch at the next offset.
func (r *Reader) gapOf(err error) (Gap, bool) { return r.gapAt(r.next, err) }

// gapAt interprets the error of a fetch at an offset.
func (r *Reader) gapAt(next int64, err error) (Gap, bool) {
	g := Gap{Topic: r.topic, Partition: r.partition, Err: err}
	var unreadable *UnreadableBatchError
	var outOfRange *OffsetOutOfRangeError
	switch {
	case errors.As(err, &unreadable) && unreadable.NextOffset > next:
		g.Kind = GapUnreadable
		g.From = unreadable.Offset
		g.To = unreadable.NextOffset
	case errors.As(err, &outOfRange) && outOfRange.First > next:
		g.Kind = GapRetention
	case outOfRange != nil && (outOfRange.First < next || outOfRange.Next < r.end):
		g.Kind = GapTruncated
	default:
		return Gap{}, false
	}
	if outOfRange != nil {
		g.From = next
		g.To = outOfRange.First
		g.First = outOfRange.First
		g.End = outOfRange.Next
	}
	if g.Kind == GapTruncated {
		g.Lost = g.From - min(g.From, g.End)
	}
	return g, true
}

// String describes the gap in one line.
func (g Gap) String() string {
	return fmt.Sprintf("%s/%d from offset %d: %s, reading continues at %d", g.Topic, g.Partition, g.From, g.Kind, g.To)
}
