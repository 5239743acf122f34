package train

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/training"
)

// FileTrainer fits a model to the rows of a file. They count as partition 0, each an event of its own whose offset is
// the row's number. So the same rows are held out whatever the file's format, and the weights are those that a topic of
// these events gives as long as nothing is forgotten: the order of a file's rows says nothing of rows to come.
type FileTrainer struct {
	*Partition
	transform *scoring.Transformer
	z         []float32 // reused
	file      RowCounts
}

// RowCounts says what became of the rows of a file: Rows = Trained + Unlabelled + Rejected.
type RowCounts struct {
	Rows        int64 `json:"rows"`
	Trained     int64 `json:"trained"`      // including held-out ones
	Unlabelled  int64 `json:"unlabelled"`   // without a usable label
	Rejected    int64 `json:"rejected"`     // with values that are not finite
	UnseenClass int64 `json:"unseen_class"` // among those unlabelled: of a class that the feature set does not know
}

// FileSplit says which rows of a file are held out.
type FileSplit struct {
	Rule wire.Split
	// HeldOut is asked for row numbers, from 0.
	HeldOut func(row int64) bool
}

// NewFile returns a trainer without rows for the named file. If the feature set was explored on rows of the same file,
// those that were scored are not held out as long as there are others. split = nil holds rows out as for a topic.
func NewFile(set *wire.FeatureSet, config Config, name string, split *FileSplit) (*FileTrainer, error) {
	config.MinRows, config.Forget, config.Window = 0, false, 0 // no more rows will come, and their order says nothing
	if split != nil {
		config.HeldOutSeed, config.HeldOutFraction = split.Rule.Seed, split.Rule.Fraction
	}
	t, err := New(set, config, arrowio.DefaultLimits(), 1)
	if err != nil {
		return nil, err
	}
	t.split, t.learnedFrom = split, sampledRows(set, name)
	f := &FileTrainer{Partition: t.Partition(0)}
	f.reset()
	f.transform = scoring.NewTransformer(&set.Set)
	return f, nil
}

// sampledRows identifies the rows of a file that taught a set its features: none if the exploration held out the rows
// of a split, or read something else.
func sampledRows(set *wire.FeatureSet, name string) []wire.Span {
	l := set.Lineage
	if l.Split != nil || l.EventsTopic != name || len(l.Partitions) != 1 {
		return nil
	}
	return []wire.Span{{NextOffset: l.Partitions[0].ClosingOrdinal, SampleRate: l.SampleRate, SampleSeed: l.SampleSeed}}
}

// Counts says what became of the rows so far.
func (f *FileTrainer) Counts() RowCounts { return f.file }

// Add adds the next rows of the file.
func (f *FileTrainer) Add(batch arrow.Record) error {
	if err := f.check(batch.Schema()); err != nil {
		return err
	}
	return events.EachChunk(batch, f.set.Encoder.Dim, func(_ int64, chunk arrow.Record) error { return f.addChunk(chunk) })
}

// check reports columns that are missing or of another kind. In a stream, rows without a label column are unlabelled;
// in a file that is a mistake.
func (f *FileTrainer) check(schema *arrow.Schema) error {
	for _, name := range f.set.Encoder.Label.Columns {
		if !schema.HasField(name) {
			return fmt.Errorf("the label, column %q, is missing", name)
		}
	}
	return f.set.Encoder.Check(schema)
}

func (f *FileTrainer) addChunk(chunk arrow.Record) error {
	if err := f.set.Encoder.Encode(&f.rows, chunk, nil); err != nil {
		return err
	}
	m, n := f.transform.Len(), f.rows.N
	f.z = append(f.z[:0], make([]float32, n*m)...)
	f.transform.Transform(f.z, f.rows.X[:n*f.rows.Dim], n)
	f.buffers.reset()
	of := f.rangeOf(wire.FeatureBatch{})
	for i := range n {
		if !f.rows.Labelled[i] {
			f.file.Unlabelled++
			continue
		}
		id := training.RowID{Offset: f.file.Rows + int64(f.rows.Row[i])}
		f.addRow(i, f.z[i*m:(i+1)*m], id)
		f.file.Trained++
		f.fillCell(of, time.Time{})
	}
	f.file.Rows += chunk.NumRows()
	f.file.Rejected += int64(len(f.rows.Rejected))
	f.file.UnseenClass += f.rows.Counts.UnseenClass
	of.NextOffset = f.file.Rows
	f.take(of, time.Time{})
	return nil
}

// Solve is that of a [Trainer]. Errors are not said if rows that taught the features are among those held out: unlike a
// topic's, a file's rows are all there is.
func (f *FileTrainer) Solve(ctx context.Context, pipelineName string, now time.Time) (*wire.Model, error) {
	model, err := f.Trainer.Solve(ctx, pipelineName, now)
	if err != nil {
		return nil, err
	}
	if model.Metrics.Seen != nil {
		model.Metrics.Measures, model.Metrics.MeasuredRows = training.Measures{}, 0
	}
	if f.split != nil {
		model.Split = &f.split.Rule
	}
	return model, nil
}
