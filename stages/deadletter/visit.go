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

// Place is where a dead letter stands on its topic.
type Place struct {
	Partition int   `json:"partition"`
	Offset    int64 `json:"offset"`
}

// String is the place as it is written in flags and file names' text: partition/offset.
func (p Place) String() string { return fmt.Sprintf("%d/%d", p.Partition, p.Offset) }

// Letter is a dead letter without its value.
type Letter struct {
	wire.DeadLetter
	Place Place
	Bytes int // of its value; 0 = only coordinates could be kept
}

// Filter selects dead letters; its zero value selects all.
type Filter struct {
	Stages  []string  // empty = of any stage
	Reasons []string  // empty = for any reason
	Since   time.Time // zero = of any time
	Places  []Place
}

// Matches reports whether a dead letter is selected.
func (f Filter) Matches(l Letter) bool {
	return (len(f.Stages) == 0 || slices.Contains(f.Stages, l.Stage)) &&
		(len(f.Reasons) == 0 || slices.Contains(f.Reasons, l.Reason)) &&
		!l.Time.Before(f.Since) &&
		(len(f.Places) == 0 || slices.Contains(f.Places, l.Place))
}

// Visitor receives the records of the dead-letters topic, partition by partition in the order of offsets.
type Visitor struct {
	// Letter is called with each dead letter; its record is valid during the call only.
	Letter func(l Letter, rec pipeline.Record) error
	// Note, if not nil, is called with how far a replay had come.
	Note func(note wire.ReplayNote)
	// Progress, if not nil, is called with the records read and their total.
	Progress func(done, total int64)
}

// Visit reads the dead letters up to their present end. Other records are skipped with a warning.
func Visit(ctx context.Context, log pipeline.Log, logger *zap.Logger, topic string, v Visitor) error {
	return topics.Read(ctx, log, logger, topic, func(rec pipeline.Record) error { return v.record(logger, rec) }, v.Progress)
}

// record handles one record. A refused event may carry any headers, even those of a note, so dead letters are recognised first.
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
