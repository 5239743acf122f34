package deadletter

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/topics"
)

// Place is the position of a dead letter on its topic.
type Place struct {
	Partition int   `json:"partition"`
	Offset    int64 `json:"offset"`
}

// String returns the place as flags and file names have it: partition/offset.
func (p Place) String() string { return fmt.Sprintf("%d/%d", p.Partition, p.Offset) }

// Letter is a dead letter without its value.
type Letter struct {
	wire.DeadLetter
	Place Place
	Bytes int // of its value; 0 = only the coordinates could be kept
}

// Filter selects dead letters; its zero value selects all.
type Filter struct {
	Stages  []string  // empty = of any stage
	Reasons []string  // empty = for any reason
	Since   time.Time // zero = of any time
	Places  []Place
}

// Matches reports whether the filter selects a dead letter.
func (f Filter) Matches(l Letter) bool {
	return (len(f.Stages) == 0 || slices.Contains(f.Stages, l.Stage)) &&
		(len(f.Reasons) == 0 || slices.Contains(f.Reasons, l.Reason)) &&
		!l.Time.Before(f.Since) &&
		(len(f.Places) == 0 || slices.Contains(f.Places, l.Place))
}

// Visitor receives the records of the dead-letters topic, partition by partition in offset order.
type Visitor struct {
	// Letter is called with each dead letter. Its record is valid during the call only.
	Letter func(l Letter, rec pipeline.Record) error
	// Note, if not nil, is called with each note of a replay.
	Note func(note wire.ReplayNote)
	// Progress, if not nil, is called with the number of records read and their total.
	Progress func(done, total int64)
}

// Visit reads the dead letters up to the present end of the topic. It skips other records with a warning.
func Visit(ctx context.Context, log pipeline.Log, logger *zap.Logger, topic string, v Visitor) error {
	return topics.Read(ctx, log, logger, topic, func(rec pipeline.Record) error { return v.record(logger, rec) }, v.Progress)
}

// record handles one record. A refused event may carry any headers, even those of a note, so dead letters are
// recognised first.
func (v Visitor) record(logger *zap.Logger, rec pipeline.Record) error {
	deadLetter, err := readDeadLetter(rec)
	if err == nil {
		return v.Letter(deadLetter, rec)
	}
	note, isNote, noteErr := wire.ParseReplayNote(events.Headers(rec.Headers))
	if !isNote || noteErr != nil {
		logger.Warn("record is not a dead letter, ignored", zap.String("topic", rec.Topic), zap.Int("partition", rec.Partition),
			zap.Int64("offset", rec.Offset), zap.Error(err))
		return nil
	}
	if v.Note != nil {
		v.Note(note)
	}
	return nil
}

func readDeadLetter(rec pipeline.Record) (Letter, error) {
	d, err := wire.ParseDeadLetterHeaders(events.Headers(rec.Headers))
	return Letter{DeadLetter: d, Place: Place{rec.Partition, rec.Offset}, Bytes: len(rec.Value)}, err
}
