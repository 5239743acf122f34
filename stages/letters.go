package stages

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// LetterPlace is where a dead letter stands on its topic.
type LetterPlace struct {
	Partition int   `json:"partition"`
	Offset    int64 `json:"offset"`
}

// String is the place as it is written in flags and file names' text: partition/offset.
func (p LetterPlace) String() string { return fmt.Sprintf("%d/%d", p.Partition, p.Offset) }

// Letter is a dead letter without its value.
type Letter struct {
	wire.DeadLetter
	Place LetterPlace
	Bytes int // of its value; 0 = only coordinates could be kept
}

// LetterFilter selects dead letters; its zero value selects all.
type LetterFilter struct {
	Stages  []string  // empty = of any stage
	Reasons []string  // empty = for any reason
	Since   time.Time // zero = of any time
	Places  []LetterPlace
}

// Matches reports whether a letter is selected.
func (f LetterFilter) Matches(l Letter) bool {
	return (len(f.Stages) == 0 || slices.Contains(f.Stages, l.Stage)) &&
		(len(f.Reasons) == 0 || slices.Contains(f.Reasons, l.Reason)) &&
		!l.Time.Before(f.Since) &&
		(len(f.Places) == 0 || slices.Contains(f.Places, l.Place))
}

// LetterVisitor is told what stands on the dead-letters topic, partition after partition in the order of offsets.
type LetterVisitor struct {
	// Letter is told of each dead letter; its record is valid during the call alone.
	Letter func(l Letter, rec pipeline.Record) error
	// Note, if not nil, is told how far a replay had come.
	Note func(note wire.ReplayNote)
	// Progress, if not nil, is told how many of so many records were read.
	Progress func(done, total int64)
}

// VisitLetters reads the dead letters up to their present end. Records that are none are passed over with a warning.
func VisitLetters(ctx context.Context, r *Runtime, v LetterVisitor) error {
	return ReadTopic(ctx, r, r.Settings.Topics.DeadLetters, func(rec pipeline.Record) error { return v.record(r.Logger, rec) }, v.Progress)
}

// record tells of one record. A refused event may carry any headers, those of a note as well: a letter is known first.
func (v LetterVisitor) record(logger *zap.Logger, rec pipeline.Record) error {
	letter, err := readLetter(rec)
	if err == nil {
		return v.Letter(letter, rec)
	}
	note, isNote, noteErr := wire.ParseReplayNote(wireHeaders(rec.Headers))
	if !isNote || noteErr != nil {
		logger.Warn("record is no dead letter, ignored", zap.String("topic", rec.Topic), zap.Int("partition", rec.Partition),
			zap.Int64("offset", rec.Offset), zap.Error(err))
		return nil
	}
	if v.Note != nil {
		v.Note(note)
	}
	return nil
}

func readLetter(rec pipeline.Record) (Letter, error) {
	d, err := wire.ParseDeadLetterHeaders(wireHeaders(rec.Headers))
	return Letter{DeadLetter: d, Place: LetterPlace{rec.Partition, rec.Offset}, Bytes: len(rec.Value)}, err
}

// readSpan calls do for the records of a partition from first up to, not including, next.
func readSpan(ctx context.Context, r *Runtime, topic string, partition int, first, next int64, do func(pipeline.Record) error) error {
	reader := pipeline.NewReader(r.Broker, r.Logger, topic, partition, pipeline.ReadOptions{From: first, Until: next})
	for rec, err := range reader.Records(ctx) {
		if err == nil {
			err = do(rec)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
