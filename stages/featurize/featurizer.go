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
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// Featurizer maps messages of events to messages of features with one feature set. It belongs to one goroutine.
//
// Memory: features are computed in place in the output message, which belongs to the receiver. Outputs that come back
// through [Featurizer.Recycle] are overwritten by later ones, so that a steady flow allocates nothing.
type Featurizer struct {
	*packedSet
	reader    *events.Reader
	columns   []string // passthrough and label, in the order of the output
	label     []string
	partRows  int32 // rows of a source message that one output message covers
	chunkRows int32 // rows that are encoded at a time, a multiple of partRows
	maxBytes  int64 // of an output message of more than one row
	rowBytes  int64 // that a row is assumed to add to an output message

	// amplification is how many bytes of output each byte of a message may give; 0 = as many as a row takes, so that each
	// row has to come with at least one byte.
	amplification int64
	compressed    int64      // the same for each byte as the broker holds it; 0 = as many as 1,024 rows take
	predictor     *predictor // nil = the set has no label
	expected      []float64  // shares of missing values of the encoder's columns

	rows    encoder.Rows // reused
	numbers []int32      // reused
	spares  *spares      // memory of outputs that came back
	log     string       // that the messages come from, for the headers of their outputs; empty = unknown
}

const (
	// passthroughRowBytes is the assumed size of a row's passthrough and label columns when messages are cut.
	passthroughRowBytes = 64
	// ownSpareBytes is how much memory of outputs a featurizer keeps for later ones.
	ownSpareBytes = 8 << 20
)

// New prepares a set. Output messages cover a fixed number of source rows, as many as fit maxOutputBytes, so that a
// replay cuts the same way.
func New(set *wire.FeatureSet, limits arrowio.Limits, maxOutputBytes int64) *Featurizer {
	return newFeaturizer(pack(set), events.Source{Limits: limits}, maxOutputBytes)
}

func newFeaturizer(p *packedSet, source events.Source, maxOutputBytes int64) *Featurizer {
	set := p.set
	expected, known := columnsOf(set)
	if known != nil {
		known = append(known, source.Known...)
	}
	source.Known = known
	f := &Featurizer{
		packedSet: p, reader: source.Reader(set.Encoder), expected: expected,
		columns: events.OutputColumns(set.Encoder), maxBytes: maxOutputBytes, spares: &spares{most: ownSpareBytes},
	}
	if set.Encoder.Label != nil {
		f.label = set.Encoder.Label.Columns
	}
	f.predictor = newPredictor(set)
	f.cutParts(set.Encoder.Dim, 0)
	return f
}

// cutParts sets how many rows an output message covers, given the bytes that the predictions of a row take.
func (f *Featurizer) cutParts(dim int, predictionBytes int64) {
	chunk := min(events.ChunkRows(dim), math.MaxInt32)
	f.rowBytes = int64(4*f.transform.Len()) + passthroughRowBytes + predictionBytes
	part := min(max(1, f.maxBytes/f.rowBytes), chunk)
	f.partRows, f.chunkRows = int32(part), int32(chunk/part*part)
}

// AttachPredictions adds prediction columns to everything made from now on, for the model set by [Featurizer.UseModel];
// they are null until then. Call it before the first message. A set without a label has nothing to predict. Nor can a
// set have predictions if its passthrough or label columns have the same names.
func (f *Featurizer) AttachPredictions(set *wire.FeatureSet) error {
	if err := checkPredictable(set); err != nil {
		return err
	}
	f.predictor.attached = true
	f.cutParts(set.Encoder.Dim, f.predictor.columns.RowBytes())
	return nil
}

// UseModel changes the model that predicts the rows, between messages; nil = none, for the given reason. The predictions
// of rows with a label are compared with it. A set without a label has nothing to predict.
func (f *Featurizer) UseModel(model *wire.Model, missing string) {
	if f.predictor != nil {
		f.predictor.use(model, missing)
	}
}

// CompareColumn compares the predictions in a column of the events with the labels, instead of those of the model. Call
// it before the first message.
func (f *Featurizer) CompareColumn(name string) {
	if f.predictor != nil {
		f.predictor.brought = newBrought(f.set.Encoder.Label, name)
	}
}

// ID is the id of the feature set.
func (f *Featurizer) ID() string { return f.id }

// Recycle returns the value of an output that is no longer read. A later output reuses its memory.
func (f *Featurizer) Recycle(value []byte) { f.spares.put(value) }

// begin takes a slot for the next message, and end gives it back. Before it waits for one, it calls meanwhile.
func (f *Featurizer) begin(ctx context.Context, meanwhile func() error) error {
	if !f.reader.TryBegin() {
		if err := meanwhile(); err != nil {
			return err
		}
		if err := f.reader.Begin(ctx); err != nil {
			return err
		}
	}
	f.rows.Exchange(&f.reader.Slot().Rows)
	return nil
}

func (f *Featurizer) end() {
	f.rows.Exchange(&f.reader.Slot().Rows)
	f.numbers = events.Trim(f.numbers)
	f.reader.End()
}

// Part is the outcome of some rows of a message, or of a message that cannot be used.
type Part struct {
	Rows       wire.FeatureBatch // what it covers; zero for a message
	Live       *wire.LiveSums    // how good the predictions of its labelled rows are; nil = unknown
	Output     *pipeline.Record  // nil for a message that cannot be used and for one without rows
	DeadLetter *deadletter.Draft // of the rejected rows, or of the whole message; nil = none
	Counts     meter.FeaturizeCounts
	Unseen     []encoder.ClassRows // the classes counted in Counts.UnseenClass
}

// Ready reports whether a message can be read without asking for a schema.
func (f *Featurizer) Ready(value []byte) bool { return f.reader.Ready(value) }

// Prepare gets what a message needs before it can be read; see [events.Reader.Prepare].
func (f *Featurizer) Prepare(ctx context.Context, value []byte) error {
	return f.reader.Prepare(ctx, value)
}

// Process maps a message from firstRow on: 0, or where an earlier process stopped. It emits the parts of the result in
// row order, each as soon as it is made, so that a message of many rows needs the memory of one part. The first part
// stands for the message itself and counts it. A message that cannot be used gives a dead letter. An error comes from
// emit, after which nothing more is emitted, or is an internal error.
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
		// From the beginning of the unfinished part, so that it is cut as before.
		if err := m.batch(batch, first, max(first, firstRow/f.partRows*f.partRows)); err != nil {
			return fmt.Errorf("featurize %s/%d offset %d: %w", source.Topic, source.Partition, source.Offset, err)
		}
	}
	return nil
}

// read decodes a message and checks that it may be mapped.
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

// message is a message being mapped. Its rows are numbered from 0.
type message struct {
	*Featurizer
	source   pipeline.Record
	now      time.Time
	firstRow int32 // rows before it are already out
	total    int32 // rows in the message
	emit     func(Part) error

	chunk   arrow.Record   // the rows being encoded
	base    int32          // first row of chunk
	pending encoder.Counts // counts of the chunk that no part has yet
}

// batch maps a batch, whose first row is base, from one of its rows on.
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

// encodeChunk maps some rows of a batch that are encoded together, in parts cut at fixed rows of the message.
func (m *message) encodeChunk(batch arrow.Record, base, first, next int32) error {
	m.chunk, m.base = batch, first
	if first > base || next < base+int32(batch.NumRows()) {
		m.chunk = batch.NewSlice(int64(first-base), int64(next-base))
		defer m.chunk.Release()
	}
	if err := m.set.Encoder.Encode(&m.rows, m.chunk, nil); err != nil {
		return err
	}
	m.pending = m.rows.Counts
	for first < next {
		last := min(next, (first/m.partRows+1)*m.partRows)
		rows := wire.FeatureBatch{
			FeatureSetID: m.id, SourceTopic: m.source.Topic, SourcePartition: int32(m.source.Partition),
			SourceOffset: m.source.Offset, FirstRow: first, RowCount: last - first, SourceRows: m.total, SourceLog: m.log,
			SourceBatch: wire.BatchMark{Offset: m.source.Batch.Offset, Checksum: m.source.Batch.Checksum},
		}
		if err := m.part(rows); err != nil {
			return fmt.Errorf("rows %d to %d: %w", first, last-1, err)
		}
		first = last
	}
	return nil
}

// part makes and emits what one output message covers; long passthrough columns may need several.
func (m *message) part(rows wire.FeatureBatch) error {
	if rows.FirstRow+rows.RowCount <= m.firstRow {
		return nil
	}
	first, next := rows.FirstRow-m.base, rows.FirstRow-m.base+rows.RowCount
	from, _ := slices.BinarySearch(m.rows.Row, first)
	to, _ := slices.BinarySearch(m.rows.Row, next)
	columns := wire.SelectColumns(m.chunk, m.columns)
	defer columns.Release()
	size := arrowio.TakenBytes(columns, m.rows.Row[from:to]) + int64(to-from)*(m.rowBytes-passthroughRowBytes)
	if size > m.maxBytes && rows.RowCount > 1 { // it is not made to be thrown away
		return m.halves(rows)
	}
	if size > m.maxBytes && 2*size > m.maxBytes+m.reader.Left() { // a row of long texts is copied, then encoded
		return m.tooLarge(rows)
	}
	body, err := m.reserve(columns, from, to, size)
	if err != nil {
		return err
	}
	value := body.Value
	if int64(len(value)) > m.maxBytes && rows.RowCount > 1 {
		m.Recycle(value)
		return m.halves(rows)
	}
	if out := m.firstRow - rows.FirstRow; out > 0 { // they were cut by other bounds before
		m.Recycle(value)
		rows.FirstRow, rows.RowCount = m.firstRow, rows.RowCount-out
		return m.part(rows)
	}
	m.transformRows(&body, from, to)
	done := Part{Rows: rows, Live: m.predictor.take()}
	done.Output = &pipeline.Record{
		Key: m.source.Key, Value: value, Headers: slices.Concat(meter.WithEventTime(&m.source), m.headers(done)), Time: m.now,
	}
	addEncoded(&done.Counts, m.pending, to-from, int(rows.RowCount))
	if m.predictor.attaches() {
		m.predictor.count(&done.Counts, int64(to-from))
	}
	if m.pending.UnseenClass > 0 {
		done.Unseen = m.rows.UnseenClasses.List()
	}
	m.pending = encoder.Counts{}
	if rejected := rejectedBetween(m.rows.Rejected, first, next); len(rejected) > 0 {
		budget := arrowio.NewBudget(m.reader.Left()) // of each letter: the receiver charges those that are made
		deadLetter, err := deadletter.Rejected(meter.StageFeaturize, m.source, m.chunk, m.base, rejected, &budget, m.now)
		if err != nil {
			return err
		}
		done.DeadLetter = &deadLetter
	}
	return m.emit(done)
}

// headers returns the headers of an output message.
func (m *message) headers(part Part) []wire.Header {
	headers := part.Rows.Headers()
	if m.predictor.attaches() {
		headers = append(headers, wire.ModelHeader(m.predictor.columns.Model))
	}
	if part.Live != nil {
		headers = append(headers, wire.LiveHeader(part.Live))
	}
	return headers
}

// reserve puts passthrough and label columns of the encoded rows from, to into a message of about that size, with room
// for their features and predictions.
func (m *message) reserve(columns arrow.Record, from, to int, size int64) (wire.FeaturesBody, error) {
	kept, err := events.TakeRows(columns, m.rows.Row[from:to], nil)
	if err != nil {
		return wire.FeaturesBody{}, err
	}
	defer kept.Release()
	m.numbers = m.numbers[:0]
	for _, row := range m.rows.Row[from:to] {
		m.numbers = append(m.numbers, m.base+row)
	}
	layout := wire.FeaturesLayout{FeatureSet: m.id, Features: m.transform.Len(), LabelColumns: m.label}
	if m.predictor.attaches() {
		layout.Predictions = &m.predictor.columns
	}
	return wire.ReserveFeatures(m.spares.take(size+wire.LayoutMargin), kept, m.numbers, layout)
}

// transformRows writes the features of the encoded rows from, to, and the predictions. It takes so few rows at a time
// that the transform uses several cores only for large sets: the request in progress and the other partitions need them.
func (m *message) transformRows(body *wire.FeaturesBody, from, to int) {
	const block = predictionBlock
	n, dim := m.transform.Len(), m.rows.Dim
	every := (to - from + comparedRows - 1) / comparedRows // how many blocks there are for one that is compared
	for first := from; first < to; first += block {
		next := min(first+block, to)
		m.transform.Transform(body.Features[(first-from)*n:(next-from)*n], m.rows.X[first*dim:next*dim], next-first)
		compared := m.predictor != nil && (first-from)/block%every == 0
		if compared || m.predictor.attaches() {
			m.predictor.predict(body, first-from, next-from)
		}
		if compared {
			m.predictor.compare(m.chunk, &m.rows, first, next)
		}
	}
}

// halves makes two parts of one that is too large.
func (m *message) halves(part wire.FeatureBatch) error {
	head, tail := part, part
	head.RowCount = part.RowCount / 2
	tail.FirstRow += head.RowCount
	tail.RowCount -= head.RowCount
	if err := m.part(head); err != nil {
		return err
	}
	return m.part(tail)
}

// tooLarge makes the dead letter of a row that takes more than its message has left of its budget.
func (m *message) tooLarge(row wire.FeatureBatch) error {
	done := Part{Rows: row}
	addEncoded(&done.Counts, m.pending, 0, 1)
	m.pending = encoder.Counts{}
	rejected := []deadletter.RejectedRow{{Row: row.FirstRow - m.base, Reason: deadletter.ReasonOutputTooLarge}}
	deadLetter, err := deadletter.Rejected(meter.StageFeaturize, m.source, m.chunk, m.base, rejected, &arrowio.Budget{}, m.now)
	if err != nil {
		return err
	}
	done.DeadLetter = &deadLetter
	return m.emit(done)
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

// addEncoded adds the outcome of encoding rows, some of which were kept, and what it changed in them.
func addEncoded(c *meter.FeaturizeCounts, changed encoder.Counts, kept, rows int) {
	c.Rows += int64(rows)
	c.Featurized += int64(kept)
	c.Rejected += int64(rows - kept)
	c.Imputed += changed.Imputed
	c.UnseenCategory += changed.UnseenCategory
	c.Clipped += changed.Clipped
	c.UnseenClass += changed.UnseenClass
}
