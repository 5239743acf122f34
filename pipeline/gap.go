package pipeline

import (
	"errors"
	"fmt"

	"go.uber.org/zap"
)

// GapKind says why a reader skips offsets, and so where it continues.
type GapKind string

// The kinds of gaps. Offsets without a record within what a log holds, as compaction and transactions leave them, are no gap.
const (
	// GapRetention: the log begins behind the offset. Reading goes on with the first one that is left.
	GapRetention GapKind = "retention"
	// GapTruncated: the log ends before the offset, or before the end that it had when reading began. It has lost its end
	// (an unclean leader election) or was recreated, so what was read before may be invalid: reading begins
	// again with the first offset, and a bounded reader ends where the log ends now. A recreated log that has
	// grown beyond the offset cannot be recognised by offsets.
	GapTruncated GapKind = "truncated"
	// GapUnreadable: the batch there is damaged, of an old format, or over the memory budget. Reading goes on behind it.
	GapUnreadable GapKind = "unreadable"
)

// Gap is a piece of a partition that a reader cannot read.
type Gap struct {
	Topic     string
	Partition int
	Kind      GapKind
	// From is the first offset that cannot be read, and To the one at which reading goes on: before From in a truncated log.
	From, To int64
	// First and End are what the log holds, [First, End); not known (0) of an unreadable batch.
	First, End int64
	// Err is the log's response, an [*OffsetOutOfRangeError] or an [*UnreadableBatchError].
	Err error
}

// Missing is the number of offsets that are gone; of a truncated log those that are gone at its end.
func (g Gap) Missing() int64 {
	if g.Kind == GapTruncated {
		return g.From - g.End
	}
	return g.To - g.From
}

// Log writes a line about a gap. Retention is nothing unusual.
func (g Gap) Log(logger *zap.Logger) {
	fields := []zap.Field{zap.String("topic", g.Topic), zap.Int("partition", g.Partition), zap.Int64("offset", g.From),
		zap.Int64("next_offset", g.To), zap.Error(g.Err)}
	switch g.Kind {
	case GapRetention:
		logger.Info("records are no longer in the log, reading continues with the first that is", fields...)
	case GapTruncated:
		logger.Warn("the log ends before the offset to read, it was truncated or recreated: reading starts again at its first offset", fields...)
	default:
		logger.Warn("records cannot be read, skipped", fields...)
	}
}

// gapOf interprets the error of a fetch at the next offset.
func (r *Reader) gapOf(err error) (Gap, bool) {
	g := Gap{Topic: r.topic, Partition: r.partition, Err: err}
	var unreadable *UnreadableBatchError
	var outOfRange *OffsetOutOfRangeError
	switch {
	case errors.As(err, &unreadable) && unreadable.NextOffset > r.next:
		g.Kind, g.From, g.To = GapUnreadable, unreadable.Offset, unreadable.NextOffset
	case errors.As(err, &outOfRange) && outOfRange.First > r.next:
		g.Kind = GapRetention
	case outOfRange != nil && (outOfRange.First < r.next || outOfRange.Next < r.end):
		g.Kind = GapTruncated
	default:
		return Gap{}, false
	}
	if outOfRange != nil {
		g.From, g.To, g.First, g.End = r.next, outOfRange.First, outOfRange.First, outOfRange.Next
	}
	return g, true
}

// String says it in one line.
func (g Gap) String() string {
	return fmt.Sprintf("%s/%d from offset %d: %s, reading goes on at %d", g.Topic, g.Partition, g.From, g.Kind, g.To)
}
