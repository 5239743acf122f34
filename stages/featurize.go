package stages

import (
	"fmt"
	"math"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
)

// Featurizer maps messages of events to messages of features with one feature set. It belongs to one goroutine.
type Featurizer struct {
	id        string
	set       *wire.FeatureSet
	transform *scoring.Transformer
	reader    *eventReader
	columns   []string // passthrough and label, in the order of the output
	partRows  int32    // rows of a source message that one output message covers
	maxBytes  int64    // of an output message of more than one row

	rows     encoder.Rows // reused
	features []float32    // reused
}

// passthroughRowBytes is what a row of passthrough and label columns is taken to need when messages are cut.
const passthroughRowBytes = 64

// NewFeaturizer prepares a set. Output messages cover a fixed number of source rows, as many as fit maxOutputBytes, so
// that a replay cuts alike.
func NewFeaturizer(set *wire.FeatureSet, limits arrowio.Limits, maxOutputBytes int64) *Featurizer {
	m := set.Set.Features.Len()
	f := &Featurizer{
		id: set.ID(), set: set, transform: scoring.NewTransformer(&set.Set), reader: newEventReader(limits, set.Encoder),
		columns: outputColumns(set.Encoder), maxBytes: maxOutputBytes,
		partRows: int32(min(max(1, maxOutputBytes/(int64(4*m)+passthroughRowBytes)), chunkRows(set.Encoder.Dim), math.MaxInt32)),
	}
	return f
}

// ID is the id of the feature set.
func (f *Featurizer) ID() string { return f.id }

// Featurized is what became of some rows of a message, or of a message that cannot be used.
type Featurized struct {
	Rows   wire.FeatureBatch // what the output covers; zero without one
	Output *pipeline.Record  // nil for a message that cannot be used and for one without rows
	Letter *pipeline.Record  // dead letter: of the rejected ones of these rows, or of the message; nil = none
	Counts FeaturizeCounts
}

// Process maps a message from the given row on: 0, or where an earlier process stopped in the middle of it. It hands
// out the parts of the result in the order of their rows, each as soon as it is made, so that a message of many rows
// needs the memory of one part. The first one stands for the message itself and counts it. A message that cannot be used gives a dead letter; an
// error is emit's, after which nothing more is handed out, or a fault of ours.
func (f *Featurizer) Process(source pipeline.Record, firstRow int32, now time.Time, emit func(Featurized) error) error {
	batches, err := f.reader.read(source.Value)
	if err != nil {
		letter := refusedMessage(StageFeaturize, source, err, now)
		return emit(Featurized{Letter: &letter, Counts: FeaturizeCounts{Messages: 1, Undecodable: 1}})
	}
	defer releaseAll(batches)
	if err := emit(Featurized{Counts: FeaturizeCounts{Messages: 1}}); err != nil {
		return err
	}
	m := featurizing{Featurizer: f, source: source, now: now, emit: emit}
	total := int32(totalRows(batches))
	var rowBase int32
	for _, batch := range batches {
		next := rowBase + int32(batch.NumRows())
		for first := rowBase; first < next; {
			last := min(next, (first/f.partRows+1)*f.partRows) // cuts are at fixed rows of the message
			if last > firstRow {
				first = max(first, firstRow)
				rows := wire.FeatureBatch{
					FeatureSetID: f.id, SourceTopic: source.Topic, SourcePartition: int32(source.Partition),
					SourceOffset: source.Offset, FirstRow: first, RowCount: last - first, SourceRows: total,
				}
				if err := m.part(batch, rowBase, rows); err != nil {
					return fmt.Errorf("featurize %s/%d offset %d rows %d to %d: %w",
						source.Topic, source.Partition, source.Offset, first, last-1, err)
				}
			}
			first = last
		}
		rowBase = next
	}
	return nil
}

// featurizing is a message in hand.
type featurizing struct {
	*Featurizer
	source pipeline.Record
	now    time.Time
	emit   func(Featurized) error
}

// part maps the rows of a batch that one output message covers; long passthrough columns may make it several.
func (m *featurizing) part(batch arrow.Record, rowBase int32, rows wire.FeatureBatch) error {
	slice := batch.NewSlice(int64(rows.FirstRow-rowBase), int64(rows.FirstRow+rows.RowCount-rowBase))
	defer slice.Release()
	if err := m.set.Encoder.Encode(&m.rows, slice, nil); err != nil {
		return err
	}
	value, err := m.encode(slice, rows.FirstRow)
	if err != nil {
		return err
	}
	if int64(len(value)) > m.maxBytes && rows.RowCount > 1 {
		head, tail := halves(rows)
		if err := m.part(batch, rowBase, head); err != nil {
			return err
		}
		return m.part(batch, rowBase, tail)
	}
	headers := append(append([]pipeline.Header(nil), m.source.Headers...), pipelineHeaders(rows.Headers())...)
	done := Featurized{
		Rows: rows, Output: &pipeline.Record{Key: m.source.Key, Value: value, Headers: headers, Time: m.source.Time},
	}
	done.Counts.addEncoded(&m.rows, int64(rows.RowCount))
	if len(m.rows.Rejected) > 0 {
		letter, err := rejectedRows(StageFeaturize, m.source, slice, rows.FirstRow, allRejected(m.rows.Rejected), m.now)
		if err != nil {
			return err
		}
		done.Letter = &letter
	}
	return m.emit(done)
}

func halves(part wire.FeatureBatch) (head, tail wire.FeatureBatch) {
	head, tail = part, part
	head.RowCount = part.RowCount / 2
	tail.FirstRow += head.RowCount
	tail.RowCount -= head.RowCount
	return head, tail
}

func allRejected(rejected []encoder.Rejection) []RejectedRow {
	rows := make([]RejectedRow, len(rejected))
	for i, r := range rejected {
		rows[i] = RejectedRow{Row: r.Row, Reason: r.Reason}
	}
	return rows
}

// encode transforms the encoded rows and puts them, with passthrough and label, into a message. firstRow is the number,
// in the source message, of the slice's first row.
func (f *Featurizer) encode(slice arrow.Record, firstRow int32) ([]byte, error) {
	m := f.transform.Len()
	f.features = resize(f.features, f.rows.N*m)
	f.transform.Transform(f.features, f.rows.X[:f.rows.N*f.rows.Dim], f.rows.N)
	kept, err := TakeRows(slice, f.rows.Row[:f.rows.N], f.columns)
	if err != nil {
		return nil, err
	}
	defer kept.Release()
	numbers := make([]int32, f.rows.N)
	for i, row := range f.rows.Row[:f.rows.N] {
		numbers[i] = firstRow + row
	}
	var label []string
	if f.set.Encoder.Label != nil {
		label = f.set.Encoder.Label.Columns
	}
	return wire.EncodeFeatures(kept, numbers, f.features, m, f.id, label)
}

// addEncoded adds the outcome of encoding so many rows.
func (c *FeaturizeCounts) addEncoded(encoded *encoder.Rows, rows int64) {
	c.Rows += rows
	c.Featurized += int64(encoded.N)
	c.Rejected += int64(len(encoded.Rejected))
	c.Imputed += encoded.Counts.Imputed
	c.UnseenCategory += encoded.Counts.UnseenCategory
	c.Clipped += encoded.Counts.Clipped
	c.UnseenClass += encoded.Counts.UnseenClass
}

// resize returns a slice of n values, reusing the memory of s.
func resize(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}
