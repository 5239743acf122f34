package train

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/training"
)

// FileTrainer fits a model to the rows of a file. They count as partition 0, each as an event with
// the number of the row as offset. The same rows are therefore held out in every file format, and a
// topic of these events gives the same weights if nothing is forgotten. A FileTrainer does not
// forget, because the order of a file may not be the order of time.
type FileTrainer struct {
	trainer   *Trainer
	rows      *Partition
	transform *scoring.Transformer
	hasher    *rowid.Hasher
	z         []float32 // reused
	counts    RowCounts
}

// RowCounts are the outcomes of the rows of a file: Rows = Trained + Unlabelled + UnseenClass +
// Rejected.
type RowCounts struct {
	Rows       int64 `json:"rows"`
	Trained    int64 `json:"trained"`    // including held-out ones
	Unlabelled int64 `json:"unlabelled"` // without a usable label
	Rejected   int64 `json:"rejected"`   // with values that are not finite or too large for sums
	// UnseenClass is the number of rows of classes that the feature set does not know. Held-out
	// rows among them count as errors. UnseenClasses names the most frequent of these classes.
	UnseenClass   int64               `json:"unseen_class"`
	UnseenClasses []encoder.ClassRows `json:"unseen_classes,omitempty"`
	// Columns are the uses of the values of the columns, set once all rows are read.
	Columns []encoder.Tally `json:"-"`
}

// FileSplit decides which rows of a file are held out.
type FileSplit struct {
	Rule wire.Split
	// HeldOut takes the number of a row, from 0.
	HeldOut func(row int64) bool
	// Copies is the share of the rows that equal an earlier row; 0 if it is unknown.
	Copies float64
}

// NewFile returns a trainer without rows for the named file. If the feature set was explored on the
// same file, the scored rows are not held out as long as there are others. Without a split, rows
// are held out as for a topic.
func NewFile(set *wire.FeatureSet, config Config, name string, split *FileSplit) (*FileTrainer, error) {
	config.MinRows = 0 // no more rows will arrive
	config.Forget, config.Window = false, 0
	if split != nil {
		config.HeldOutSeed, config.HeldOutFraction = split.Rule.Seed, split.Rule.Fraction
	}
	t, err := New(set, config, arrowio.DefaultLimits(), 1)
	if err != nil {
		return nil, err
	}
	t.split = split
	if split != nil || leftOut(set) == 0 {
		t.learnedFrom = sampledRows(set, name)
	}
	f := &FileTrainer{
		trainer:   t,
		rows:      t.Partition(0),
		transform: scoring.NewTransformer(&set.Set),
		hasher:    rowid.NewHasher(set.Lineage.Identity),
	}
	f.rows.lane.reset()
	hasher := scoring.NewHasher(set.Lineage.SampleSeed^scoring.CalibrationTag, 0)
	f.rows.rows.Number = func(row int32) int64 { return f.counts.Rows + int64(row) }
	f.rows.rows.Teaching = func(row int32) uint64 { return hasher.Row(f.counts.Rows + int64(row)) }
	return f, nil
}

// sampledRows returns the rows of a file that taught a set its features: none if the exploration
// held out the rows of a split, or read other rows.
func sampledRows(set *wire.FeatureSet, name string) []wire.Span {
	l := set.Lineage
	if l.Split != nil || l.EventsTopic != name || len(l.Partitions) != 1 {
		return nil
	}
	return []wire.Span{{
		NextOffset: l.Partitions[0].ClosingOrdinal,
		SampleRate: l.SampleRate,
		SampleSeed: l.SampleSeed,
	}}
}

// Counts returns the outcomes of the rows so far.
func (f *FileTrainer) Counts() RowCounts {
	counts := f.counts
	counts.UnseenClasses = f.trainer.UnseenClasses()
	return counts
}

// Tallies returns the use of the values of the columns.
func (f *FileTrainer) Tallies() []encoder.Tally {
	_, all := f.rows.rows.Tallies()
	return all
}

// Add adds the next rows of the file.
func (f *FileTrainer) Add(batch arrow.Record) error {
	if err := f.check(batch.Schema()); err != nil {
		return err
	}
	dim := f.trainer.set.Encoder.Dim
	return events.EachChunk(batch, dim, func(_ int64, chunk arrow.Record) error { return f.addChunk(chunk) })
}

// check reports columns that are missing or have another type. In a stream, rows without a label
// column are unlabelled. In a file a missing label column is a mistake.
func (f *FileTrainer) check(schema *arrow.Schema) error {
	for _, name := range f.trainer.set.Encoder.Label.Columns {
		if !schema.HasField(name) {
			return fmt.Errorf("the label, column %q, is missing", name)
		}
	}
	return f.trainer.set.Encoder.Check(schema)
}

func (f *FileTrainer) addChunk(chunk arrow.Record) error {
	rows := &f.rows.rows
	if err := f.trainer.set.Encoder.Encode(rows, chunk, nil); err != nil {
		return err
	}
	m, n := f.transform.Len(), rows.N
	f.z = append(f.z[:0], make([]float32, n*m)...)
	f.transform.Transform(f.z, rows.X[:n*rows.Dim], n)
	f.rows.addUnseen()
	f.rows.buffers.reset()
	of := f.rows.rangeOf(wire.FeatureBatch{})
	place := func(row int32) uint64 { return rowid.PlaceOf(0, f.counts.Rows+int64(row), 0) }
	var identities []uint64
	if n > 0 {
		identities = f.hasher.Identities(chunk, rows.Row[:n], place)
	}
	for i := range n {
		id := training.RowID{Identity: identities[i], Offset: f.counts.Rows + int64(rows.Row[i])}
		switch {
		case rows.Unseen[i]:
			f.rows.judgeUnseen(f.z[i*m:(i+1)*m], id)
			continue
		case !rows.Labelled[i]:
			f.counts.Unlabelled++
			continue
		}
		if !f.rows.addRow(i, f.z[i*m:(i+1)*m], id) {
			f.counts.Rejected++
			continue
		}
		f.counts.Trained++
		f.rows.fillCell(of, time.Time{})
	}
	f.counts.Rows += chunk.NumRows()
	f.counts.Rejected += int64(len(rows.Rejected))
	f.counts.UnseenClass += rows.Counts.UnseenClass
	of.NextOffset = f.counts.Rows
	f.rows.take(of, time.Time{})
	return nil
}

// Solve fits a model as [Trainer.Solve] does. The model reports no errors if some held-out rows
// taught the features, because unlike in a topic no other rows will arrive.
func (f *FileTrainer) Solve(ctx context.Context, pipelineName string, now time.Time) (*wire.Model, error) {
	model, err := f.trainer.Solve(ctx, pipelineName, now)
	if err != nil {
		return nil, err
	}
	if model.Metrics.Seen != nil {
		model.Metrics.Measures, model.Metrics.MeasuredRows = training.Measures{}, 0
	}
	if split := f.trainer.split; split != nil {
		model.Split = &split.Rule
	}
	return model, nil
}
