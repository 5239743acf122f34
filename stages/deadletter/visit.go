package deadletter

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/topics"
)

// Place is the position of a dead letter on its topic.
type Place struct {
	Partition int   `json:"partition"`
	Offset    int64 `json:"offset"`
}

// String returns partition/offset, the form of flags and file names.
func (p Place) String() string { return fmt.Sprintf("%d/%d", p.Partition, p.Offset) }

// Letter is a dead letter without its value.
type Letter struct {
	wire.DeadLetter
	Place Place
	Bytes int // of its value; 0 = it holds only the coordinates
}

// Filter selects dead letters; its zero value selects all.
type Filter struct {
	Stages  []string  // empty = all
	Reasons []string  // empty = all
	Since   time.Time // zero = all
	Places  []Place
}

// Matches reports whether the filter selects a dead letter.
func (f Filter) Matches(l Letter) bool {
	return (len(f.Stages) == 0 || slices.Contains(f.Stages, l.Stage)) &&
		(len(f.Reasons) == 0 || slices.Contains(f.Reasons, l.Reason)) &&
		!l.Time.Before(f.Since) &&
		(len(f.Places) == 0 || slices.Contains(f.Places, l.Place))
}

// Visit reads the dead letters up to the present end of the topic, partition by partition in offset
// order. A record is valid only during the call of do. Records that are not dead letters are
// skipped with a warning. Progress, if not nil, is called with the number of records read and their
// total.
func Visit(
	ctx context.Context,
	log pipeline.Log,
	logger *zap.Logger,
	topic string,
	do func(Letter, pipeline.Record) error,
	progress func(done, total int64),
) error {
	return topics.Read(ctx, log, logger, topic, func(rec pipeline.Record) error {
		deadLetter, err := wire.ParseDeadLetterHeaders(rec.Headers)
		if err != nil {
			logger.Warn("ignoring record that is not a dead letter", zap.String("topic", rec.Topic),
				zap.Int("partition", rec.Partition), zap.Int64("offset", rec.Offset), zap.Error(err))
			return nil
		}
		place := Place{rec.Partition, rec.Offset}
		return do(Letter{DeadLetter: deadLetter, Place: place, Bytes: len(rec.Value)}, rec)
	}, progress)
}
