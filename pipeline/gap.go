package pipeline

import (
	"errors"
	"fmt"

	"go.uber.org/zap"
)

// GapKind says why a reader skips offsets, and where it continues.
type GapKind string

// The kinds of gaps. Missing offsets inside a log, as compaction and transactions leave them, are not gaps.
const (
	// GapRetention: the log begins after the offset. Reading continues at its first offset.
	GapRetention GapKind = "retention"
	// GapTruncated: the log has lost its end (an unclean leader election, a broker that comes back without its last
	// records), whether or not it has grown past the offset since. A reader that watches batches continues after the
	// last batch that is unchanged. Another reader notices a log that ends before the offset, or before the end that it
	// had when reading began. What it read before may be invalid, and it starts again at the first offset. A bounded
	// reader ends where the log ends now.
	GapTruncated GapKind = "truncated"
	// GapRecreated: the topic was deleted and created again, so this is another log than the one read before. Reading
	// starts at its first offset.
	GapRecreated GapKind = "recreated"
	// GapUnreadable: the batch there is damaged, has an old format, or exceeds the memory budget. Reading continues
	// after it.
	GapUnreadable GapKind = "unreadable"
)

// Gap is a piece of a partition that a reader cannot read.
type Gap struct {
	Topic     string
	Partition int
	Kind      GapKind
	// From is the first offset that cannot be read, and To is where reading continues: before From in a log that was
	// truncated or recreated.
	From, To int64
	// First and End are what the log holds, [First, End); 0 (unknown) for an unreadable batch.
	First, End int64
	// Err is the log's response, an [*OffsetOutOfRangeError] or an [*UnreadableBatchError].
	Err error
	// Lost is how many offsets a truncated or recreated log has lost, as far as the reader has seen: of a truncated log
	// those that were read, of both those that were not.
	Lost int64
	// Now is the identity of the present log; empty if the reader does not watch it.
	Now LogID
}

// Changed reports whether what was read before is, at least partly, no longer what the log holds.
func (g Gap) Changed() bool { return g.Kind == GapTruncated || g.Kind == GapRecreated }

// Missing is the number of offsets that are gone, as far as that is known for a truncated or recreated log.
func (g Gap) Missing() int64 {
	if g.Changed() {
		return g.Lost
	}
	return g.To - g.From
}

// Log logs a gap. Retention is nothing unusual.
func (g Gap) Log(logger *zap.Logger) {
	fields := []zap.Field{zap.String("topic", g.Topic), zap.Int("partition", g.Partition), zap.Int64("offset", g.From),
		zap.Int64("next_offset", g.To), zap.Error(g.Err)}
	switch g.Kind {
	case GapRetention:
		logger.Info("records are no longer in the log, reading continues with the first that is", fields...)
	case GapTruncated:
		logger.Warn("the log has lost its end: reading continues after what is left unchanged, or starts over", append(fields, zap.Int64("lost_offsets", g.Lost))...)
	case GapRecreated:
		logger.Warn("the topic was deleted and created again: reading starts at the first offset of the new log", append(fields, zap.String("log", string(g.Now)))...)
	default:
		logger.Warn("records cannot be read, skipped", fields...)
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
		g.Kind, g.From, g.To = GapUnreadable, unreadable.Offset, unreadable.NextOffset
	case errors.As(err, &outOfRange) && outOfRange.First > next:
		g.Kind = GapRetention
	case outOfRange != nil && (outOfRange.First < next || outOfRange.Next < r.end):
		g.Kind = GapTruncated
	default:
		return Gap{}, false
	}
	if outOfRange != nil {
		g.From, g.To, g.First, g.End = next, outOfRange.First, outOfRange.First, outOfRange.Next
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
