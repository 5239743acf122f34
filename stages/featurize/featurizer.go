package featurize

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// Featurizer maps messages of events to messages of features with one feature set. It belongs to one goroutine.
//
// Memory: the features are computed where they stand in the output message, which is the receiver's. Outputs that are
// handed back by [Featurizer.Recycle] are written over by later ones, so that a steady flow allocates nothing.
type Featurizer struct {
	id        string
	transform *scoring.Transformer
	encoder   events.RowEncoder
	reader    *events.Reader
	columns   []string // passthrough and label, in the order of the output
	label     []string
	partRows  int32 // rows of a source message that one output message covers
	chunkRows int32 // rows that are encoded at a time, a multiple of partRows
	maxBytes  int64 // of an output message of more than one row
	rowBytes  int64 // that a row is reckoned to add to an output message

	amplification int64      // see [Featurizer.BoundOutput]
	predictor     *predictor // nil = no predictions

	rows    encoder.Rows // reused
	numbers []int32      // reused
	spare   [][]byte     // memory of outputs that were handed back
}

const (
	// passthroughRowBytes is what a row of passthrough and label columns is assumed to need when messages are cut.
	passthroughRowBytes = 64
	// SpareOutputs is how many outputs are kept for later ones: those of a request and of the next one.
	SpareOutputs = 8
)

// New prepares a set. Output messages cover a fixed number of source rows, as many as fit maxOutputBytes, so
// that a replay cuts the same way.
func New(set *wire.FeatureSet, limits arrowio.Limits, maxOutputBytes int64) *Featurizer {
	return NewFrom(set, events.Source{Limits: limits}, maxOutputBytes)
}

// NewFrom is New for messages that are read in a way of their own.
func NewFrom(set *wire.FeatureSet, source events.Source, maxOutputBytes int64) *Featurizer {
	transform, rows := events.NewTransformer(set)
	f := &Featurizer{
		id: set.ID(), transform: transform, encoder: rows, reader: source.Reader(set.Encoder),
		columns: events.OutputColumns(set.Encoder), maxBytes: maxOutputBytes,
	}
	if set.Encoder.Label != nil {
		f.label = set.Encoder.Label.Columns
	}
	f.cutParts(set.Encoder.Dim, 0)
	return f
}

// cutParts says how many rows an output message covers, with so many bytes for the predictions of each.
func (f *Featurizer) cutParts(dim int, predictionBytes int64) {
	chunk := min(events.ChunkRows(dim), math.MaxInt32)
	f.rowBytes = int64(4*f.transform.Len()) + passthroughRowBytes + predictionBytes
	part := min(max(1, f.maxBytes/f.rowBytes), chunk)
	f.partRows, f.chunkRows = int32(part), int32(chunk/part*part)
}

// AttachPredictions adds columns of predictions to what is made from now on, for the model that [Featurizer.UseModel] gives:
// null until then. It is called before the first message. A set without a label has nothing to predict, and one whose
// passthrough or label columns have the names of predictions cannot have them.
func (f *Featurizer) AttachPredictions(set *wire.FeatureSet) (err error) {
	if f.predictor, err = newPredictor(set); err != nil {
		return err
	}
	f.cutParts(set.Encoder.Dim, f.predictor.columns.RowBytes())
	return nil
}

// UseModel changes the model behind the predictions, between messages. nil means that there is none, for the reason given.
func (f *Featurizer) UseModel(model *wire.Model, missing string) { f.predictor.use(model, missing) }

// ID is the id of the feature set.
func (f *Featurizer) ID() string { return f.id }

// Recycle hands back the value of an output that is no longer read. Its memory becomes that of a later output.
func (f *Featurizer) Recycle(value []byte) {
	if len(f.spare) < SpareOutputs {
		f.spare = append(f.spare, value)
	}
}

// memory returns that of an output handed back, or none.
func (f *Featurizer) memory() []byte {
	if len(f.spare) == 0 {
		return nil
	}
	last := len(f.spare) - 1
	value := f.spare[last]
	f.spare = f.spare[:last]
	return value
}

// Part is what became of some rows of a message, or of a message that cannot be used.
type Part struct {
	Rows       wire.FeatureBatch // what the output covers; zero without one
	Output     *pipeline.Record  // nil for a message that cannot be used and for one without rows
	DeadLetter *pipeline.Record  // of the rejected ones of these rows, or of the message; nil = none
	Counts     meter.FeaturizeCounts
	Unseen     []encoder.ClassRows // classes behind Counts.UnseenClass
}

// Ready reports whether a message can be read without asking for a schema.
func (f *Featurizer) Ready(value []byte) bool { return f.reader.Ready(value) }

// Prepare gets what reading a message needs from elsewhere; see [events.Reader.Prepare].
func (f *Featurizer) Prepare(ctx context.Context, value []byte) error {
	return f.reader.Prepare(ctx, value)
}

// Process maps a message from the given row on: 0, or where an earlier process stopped in the middle of it. It emits
// the parts of the result in the order of their rows, each as soon as it is made, so that a message of many rows needs
// the memory of one part. The first one stands for the message itself and counts it. A message that cannot be used gives a
// dead letter; an error is emit's, after which nothing more is emitted, or a fault of ours.
func (f *Featurizer) Process(source pipeline.Record, firstRow int32, now time.Time, emit func(Part) error) error {
	batches, err := f.read(&source)
	if err != nil {
		deadLetter := deadletter.Refused(meter.StageFeaturize, source, err, now)
		return emit(Part{DeadLetter: &deadLetter, Counts: meter.FeaturizeCounts{Messages: 1, Undecodable: 1}})
	}
	defer events.Release(batches)
	if err := emit(Part{Counts: meter.FeaturizeCounts{Messages: 1}}); err != nil {
		return err
	}
	m := message{Featurizer: f, source: source, now: now, firstRow: firstRow, total: int32(events.CountRows(batches)), emit: emit}
	var next int32
	for _, batch := range batches {
		first := next
		next += int32(batch.NumRows())
		if next <= firstRow {
			continue
		}
		// From the beginning of the part that was not finished: it is cut like the first time.
		if err := m.batch(batch, first, max(first, firstRow/f.partRows*f.partRows)); err != nil {
			return fmt.Errorf("featurize %s/%d offset %d: %w", source.Topic, source.Partition, source.Offset, err)
		}
	}
	return nil
}

// read decodes a message that may be mapped.
func (f *Featurizer) read(source *pipeline.Record) ([]arrow.Record, error) {
	batches, err := f.reader.Read(source.Value)
	if err != nil {
		return nil, err
	}
	if err := f.checkAmplification(source, batches); err != nil {
		events.Release(batches)
		return nil, err
	}
	return batches, nil
}

// message is one that is being mapped. Rows are numbered within it.
type message struct {
	*Featurizer
	source   pipeline.Record
	now      time.Time
	firstRow int32 // rows before it are out
	total    int32 // rows of the message
	emit     func(Part) error

	chunk   arrow.Record   // what is encoded
	base    int32          // first row of chunk
	pending encoder.Counts // of the chunk, until a part counts them
}

// batch maps a batch, whose first row is base, from a row of it on.
func (m *message) batch(batch arrow.Record, base, first int32) error {
	end := base + int32(batch.NumRows())
	for first < end {
		next := min(end, (first/m.partRows*m.partRows)+m.chunkRows)
		if err := m.encodeChunk(batch, base, first, next); err != nil {
			return err
		}
		first = next
	}
	return nil
}

// encodeChunk maps some rows of a batch, encoded together, in parts that are cut at fixed rows of the message.
func (m *message) encodeChunk(batch arrow.Record, base, first, next int32) error {
	m.chunk, m.base = batch, first
	if first > base || next < base+int32(batch.NumRows()) {
		m.chunk = batch.NewSlice(int64(first-base), int64(next-base))
		defer m.chunk.Release()
	}
	if err := m.encoder.Encode(&m.rows, m.chunk, nil); err != nil {
		return err
	}
	m.pending = m.rows.Counts
	for first < next {
		last := min(next, (first/m.partRows+1)*m.partRows)
		rows := wire.FeatureBatch{
			FeatureSetID: m.id, SourceTopic: m.source.Topic, SourcePartition: int32(m.source.Partition),
			SourceOffset: m.source.Offset, FirstRow: first, RowCount: last - first, SourceRows: m.total,
		}
		if err := m.part(rows); err != nil {
			return fmt.Errorf("rows %d to %d: %w", first, last-1, err)
		}
		first = last
	}
	return nil
}

// part makes and emits what one output message covers; long passthrough columns may make it several.
func (m *message) part(rows wire.FeatureBatch) error {
	if rows.FirstRow+rows.RowCount <= m.firstRow {
		return nil
	}
	first, next := rows.FirstRow-m.base, rows.FirstRow-m.base+rows.RowCount
	from, _ := slices.BinarySearch(m.rows.Row, first)
	to, _ := slices.BinarySearch(m.rows.Row, next)
	body, err := m.reserve(from, to)
	if err != nil {
		return err
	}
	value := body.Value
	if int64(len(value)) > m.maxBytes && rows.RowCount > 1 {
		m.Recycle(value)
		head, tail := halves(rows)
		if err := m.part(head); err != nil {
			return err
		}
		return m.part(tail)
	}
	if out := m.firstRow - rows.FirstRow; out > 0 { // cut by other bounds the first time
		m.Recycle(value)
		rows.FirstRow, rows.RowCount = m.firstRow, rows.RowCount-out
		return m.part(rows)
	}
	m.transformRows(&body, from, to)
	done := Part{Rows: rows, Output: &pipeline.Record{
		Key: m.source.Key, Value: value, Headers: events.WithHeaders(meter.WithEventTime(&m.source), m.headers(rows)), Time: m.now,
	}}
	addEncoded(&done.Counts, m.pending, to-from, int(rows.RowCount))
	if m.predictor != nil {
		m.predictor.count(&done.Counts, int64(to-from))
	}
	if m.pending.UnseenClass > 0 {
		done.Unseen = m.rows.UnseenClasses.List()
	}
	m.pending = encoder.Counts{}
	if rejected := rejectedBetween(m.rows.Rejected, first, next); len(rejected) > 0 {
		deadLetter, err := deadletter.Rejected(meter.StageFeaturize, m.source, m.chunk, m.base, rejected, m.now)
		if err != nil {
			return err
		}
		done.DeadLetter = &deadLetter
	}
	return m.emit(done)
}

// headers are those of an output message.
func (m *message) headers(rows wire.FeatureBatch) []wire.Header {
	headers := rows.Headers()
	if m.predictor != nil {
		headers = append(headers, wire.ModelHeader(m.predictor.columns.Model))
	}
	return headers
}

// reserve puts passthrough and label of the encoded rows from, to into a message that has room for their features and
// predictions.
func (m *message) reserve(from, to int) (wire.FeaturesBody, error) {
	kept, err := events.TakeRows(m.chunk, m.rows.Row[from:to], m.columns)
	if err != nil {
		return wire.FeaturesBody{}, err
	}
	defer kept.Release()
	m.numbers = m.numbers[:0]
	for _, row := range m.rows.Row[from:to] {
		m.numbers = append(m.numbers, m.base+row)
	}
	layout := wire.FeaturesLayout{FeatureSet: m.id, Features: m.transform.Len(), LabelColumns: m.label}
	if m.predictor != nil {
		layout.Predictions = &m.predictor.columns
	}
	return wire.ReserveFeatures(m.memory(), kept, m.numbers, layout)
}

// transformRows writes the features of the encoded rows from, to, and what is predicted from them. It goes by so few rows at
// a time that the transform uses several cores for large sets alone: the request under way and the other partitions are to
// have them.
func (m *message) transformRows(body *wire.FeaturesBody, from, to int) {
	const block = predictionBlock
	n, dim := m.transform.Len(), m.rows.Dim
	for first := from; first < to; first += block {
		next := min(first+block, to)
		m.transform.Transform(body.Features[(first-from)*n:(next-from)*n], m.rows.X[first*dim:next*dim], next-first)
		if m.predictor != nil {
			m.predictor.predict(body, first-from, next-from)
		}
	}
}

func halves(part wire.FeatureBatch) (head, tail wire.FeatureBatch) {
	head, tail = part, part
	head.RowCount = part.RowCount / 2
	tail.FirstRow += head.RowCount
	tail.RowCount -= head.RowCount
	return head, tail
}

// rejectedBetween lists the rejected rows from first up to, not including, next.
func rejectedBetween(rejected []encoder.Rejection, first, next int32) []deadletter.RejectedRow {
	var rows []deadletter.RejectedRow
	for _, r := range rejected {
		if r.Row >= first && r.Row < next {
			rows = append(rows, deadletter.RejectedRow{Row: r.Row, Reason: r.Reason})
		}
	}
	return rows
}

// addEncoded adds the outcome of encoding so many rows, of which some were kept, with what was met in them.
func addEncoded(c *meter.FeaturizeCounts, met encoder.Counts, kept, rows int) {
	c.Rows += int64(rows)
	c.Featurized += int64(kept)
	c.Rejected += int64(rows - kept)
	c.Imputed += met.Imputed
	c.UnseenCategory += met.UnseenCategory
	c.Clipped += met.Clipped
	c.UnseenClass += met.UnseenClass
}
