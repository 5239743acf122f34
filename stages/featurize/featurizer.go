package featurize

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// Featurizer maps messages of events to messages of features with one feature set. It belongs to
// one goroutine.
//
// Memory: features are computed in place in the output message, which belongs to the receiver.
// Outputs that come back through [Featurizer.Recycle] are overwritten by later ones, so that a
// steady flow allocates nothing.
type Featurizer struct {
	set       *preparedSet
	reader    *events.Reader
	predictor *predictor // nil = the set has no label

	rows    encoder.Rows // reused
	numbers []int32      // reused
	hasher  *rowid.Hasher
	spares  *spares // memory of returned outputs
	log     string  // source of the messages, for the headers of their outputs; empty = unknown
}

// ownSpareBytes is the memory of outputs that a featurizer keeps for later ones.
const ownSpareBytes = 8 << 20

// New returns a featurizer. A set that has no label, or whose passthrough or label columns have the
// names of prediction columns, is an error if predictions are wanted.
func New(set *wire.FeatureSet, settings Settings) (*Featurizer, error) {
	p, err := prepare(set, settings)
	if err != nil {
		return nil, err
	}
	return p.featurizer(&spares{most: ownSpareBytes}), nil
}

// featurizer returns a featurizer with the set.
func (p *preparedSet) featurizer(spares *spares) *Featurizer {
	return &Featurizer{
		set:       p,
		reader:    p.Source.Reader(p.set.Encoder),
		predictor: p.label.predictor(),
		spares:    spares,
		hasher:    rowid.NewHasher(p.set.Lineage.Identity),
	}
}

// UseModel changes the model for predictions between messages; nil = none, for the given reason.
// Predictions of labelled rows are compared with their labels. It has no effect for a set without a
// label.
func (f *Featurizer) UseModel(model *wire.Model, missing string) {
	if f.predictor != nil {
		f.predictor.use(model, missing)
	}
}

// ID is the id of the feature set.
func (f *Featurizer) ID() string { return f.set.id }

// Recycle returns the value of an output that is no longer read. A later output reuses its memory.
func (f *Featurizer) Recycle(value []byte) { f.spares.put(value) }

// begin takes a slot for the next message, and end releases it. If no slot is free, it calls
// meanwhile before it waits.
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
	f.hasher.Trim()
	f.reader.End()
}

// Part is the outcome of some rows of a message, or of a message that cannot be used.
type Part struct {
	Rows       wire.FeatureBatch // the covered rows; zero for a message
	Live       *wire.LiveSums    // of the predictions of its labelled rows; nil = unknown
	Output     *pipeline.Record  // nil for a message that cannot be used or has no rows
	DeadLetter *deadletter.Draft // of the rejected rows, or of the whole message; nil = none
	Counts     meter.FeaturizeCounts
	Unseen     []encoder.ClassRows // the classes counted in Counts.UnseenClass
}

// Ready reports whether a message can be read without asking for a schema.
func (f *Featurizer) Ready(rec *pipeline.Record) bool { return f.reader.Ready(rec) }

// Prepare gets the schema of a message before it can be read; see [events.Reader.Prepare].
func (f *Featurizer) Prepare(ctx context.Context, rec *pipeline.Record) error {
	return f.reader.Prepare(ctx, rec)
}

// Process maps a message from firstRow on: 0, or where an earlier process stopped. It emits the
// parts of the result in row order, each as soon as it is made, so that a message of many rows
// needs the memory of one part. The first part stands for the message itself and counts it. A
// message that cannot be used gives a dead letter. An error comes from emit, after which nothing
// more is emitted, or is an internal error.
func (f *Featurizer) Process(source pipeline.Record, firstRow int32, now time.Time, emit func(Part) error) error {
	if source.Value == nil {
		return emit(Part{Counts: meter.FeaturizeCounts{Messages: 1, Tombstones: 1}})
	}
	batches, err := f.read(&source)
	if err != nil {
		deadLetter := deadletter.Refused(meter.StageFeaturize, source, err, now)
		return emit(Part{DeadLetter: &deadLetter, Counts: meter.FeaturizeCounts{Messages: 1, Undecodable: 1}})
	}
	defer events.Release(batches)
	if err := emit(Part{Counts: meter.FeaturizeCounts{Messages: 1}}); err != nil {
		return err
	}
	m := message{
		f:        f,
		source:   source,
		now:      now,
		firstRow: firstRow,
		total:    int32(events.CountRows(batches)),
		emit:     emit,
	}
	var next int32
	for _, batch := range batches {
		first := next
		next += int32(batch.NumRows())
		if next <= firstRow {
			continue
		}
		// From the beginning of the unfinished part, so that it is cut as before.
		if err := m.batch(batch, first, max(first, firstRow/f.set.partRows*f.set.partRows)); err != nil {
			return fmt.Errorf("featurize %s/%d offset %d: %w", source.Topic, source.Partition, source.Offset, err)
		}
	}
	return nil
}

// read decodes a message and checks that it may be mapped.
func (f *Featurizer) read(source *pipeline.Record) ([]arrow.Record, error) {
	batches, err := f.reader.ReadRecord(source)
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
	f        *Featurizer
	source   pipeline.Record
	now      time.Time
	firstRow int32 // earlier rows are already written
	total    int32 // rows in the message
	emit     func(Part) error

	chunk   arrow.Record   // the rows being encoded
	base    int32          // first row of chunk
	pending encoder.Counts // counts of the chunk that are in no part yet
}

// batch maps a batch, whose first row is base, from one of its rows on.
func (m *message) batch(batch arrow.Record, base, first int32) error {
	end := base + int32(batch.NumRows())
	for first < end {
		next := min(end, (first/m.f.set.partRows*m.f.set.partRows)+m.f.set.chunkRows)
		if err := m.encodeChunk(batch, base, first, next); err != nil {
			return err
		}
		first = next
	}
	return nil
}

// encodeChunk maps some rows of a batch that are encoded together, in parts cut at fixed rows of
// the message.
func (m *message) encodeChunk(batch arrow.Record, base, first, next int32) error {
	m.chunk, m.base = batch, first
	if first > base || next < base+int32(batch.NumRows()) {
		m.chunk = batch.NewSlice(int64(first-base), int64(next-base))
		defer m.chunk.Release()
	}
	if err := m.f.set.set.Encoder.Encode(&m.f.rows, m.chunk, nil); err != nil {
		return err
	}
	m.pending = m.f.rows.Counts
	for first < next {
		last := min(next, (first/m.f.set.partRows+1)*m.f.set.partRows)
		rows := wire.FeatureBatch{
			FeatureSetID: m.f.set.id, SourceTopic: m.source.Topic, SourcePartition: int32(m.source.Partition),
			SourceOffset: m.source.Offset, FirstRow: first, RowCount: last - first, SourceRows: m.total, SourceLog: m.f.log,
			SourceBatch: wire.BatchMark{Offset: m.source.Batch.Offset, Checksum: m.source.Batch.Checksum},
		}
		if err := m.part(rows); err != nil {
			return fmt.Errorf("rows %d to %d: %w", first, last-1, err)
		}
		first = last
	}
	return nil
}

// part makes and emits the part of one output message; long passthrough columns may need several.
func (m *message) part(rows wire.FeatureBatch) error {
	if rows.FirstRow+rows.RowCount <= m.firstRow {
		return nil
	}
	first, next := rows.FirstRow-m.base, rows.FirstRow-m.base+rows.RowCount
	from, _ := slices.BinarySearch(m.f.rows.Row, first)
	to, _ := slices.BinarySearch(m.f.rows.Row, next)
	columns := wire.SelectColumns(m.chunk, m.f.set.columns)
	defer columns.Release()
	size := arrowio.TakenBytes(columns, m.f.rows.Row[from:to]) + int64(to-from)*(m.f.set.rowBytes-passthroughRowBytes)
	if size > m.f.set.MaxOutputBytes && rows.RowCount > 1 { // saves making an output that is too large
		return m.halves(rows)
	}
	// a row of long texts is copied, then encoded
	if size > m.f.set.MaxOutputBytes && 2*size > m.f.set.MaxOutputBytes+m.f.reader.Left() {
		return m.tooLarge(rows)
	}
	body, err := m.reserve(columns, from, to, size)
	if err != nil {
		return err
	}
	value := body.Value
	if int64(len(value)) > m.f.set.MaxOutputBytes && rows.RowCount > 1 {
		m.f.Recycle(value)
		return m.halves(rows)
	}
	if out := m.firstRow - rows.FirstRow; out > 0 { // the written rows were cut by other bounds
		m.f.Recycle(value)
		rows.FirstRow, rows.RowCount = m.firstRow, rows.RowCount-out
		return m.part(rows)
	}
	m.transformRows(&body, from, to)
	done := Part{Rows: rows, Live: m.f.predictor.take()}
	done.Output = &pipeline.Record{
		Key:     m.source.Key,
		Value:   value,
		Headers: slices.Concat(events.DerivedHeaders(&m.source), m.headers(done)),
		Time:    m.now,
	}
	addEncoded(&done.Counts, m.pending, to-from, int(rows.RowCount))
	if m.f.predictor.attaches() {
		m.f.predictor.count(&done.Counts, int64(to-from))
	}
	if m.pending.UnseenClass > 0 {
		done.Unseen = m.f.rows.UnseenClasses.List()
	}
	m.pending = encoder.Counts{}
	if rejected := rejectedBetween(m.f.rows.Rejected, first, next); len(rejected) > 0 {
		budget := arrowio.NewBudget(m.f.reader.Left()) // for each dead letter: the receiver charges the finished ones
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
	if m.f.predictor.attaches() {
		headers = append(headers, wire.ModelHeader(m.f.predictor.columns.Model))
	}
	if part.Live != nil {
		headers = append(headers, wire.LiveHeader(part.Live))
	}
	return headers
}

// reserve puts passthrough and label columns of the encoded rows from, to into a message of about
// the given size, with room for their features and predictions.
func (m *message) reserve(columns arrow.Record, from, to int, size int64) (wire.FeaturesBody, error) {
	kept, err := events.TakeRows(columns, m.f.rows.Row[from:to], nil)
	if err != nil {
		return wire.FeaturesBody{}, err
	}
	defer kept.Release()
	m.f.numbers = m.f.numbers[:0]
	for _, row := range m.f.rows.Row[from:to] {
		m.f.numbers = append(m.f.numbers, m.base+row)
	}
	layout := wire.FeaturesLayout{
		FeatureSet:   m.f.set.id,
		Features:     m.f.set.transform.Len(),
		LabelColumns: m.f.set.labelColumns,
	}
	if m.f.predictor.attaches() {
		layout.Predictions = &m.f.predictor.columns
	}
	if !m.f.hasher.Rule().ByPlace() {
		layout.Identities = []uint64{}
		if from < to {
			layout.Identities = m.f.hasher.Identities(m.chunk, m.f.rows.Row[from:to], m.place)
		}
	}
	return wire.ReserveFeatures(m.f.spares.take(size+wire.LayoutMargin), kept, m.f.numbers, layout)
}

// place returns the identity of the place of a row of the chunk.
func (m *message) place(row int32) uint64 {
	return rowid.PlaceOf(int32(m.source.Partition), m.source.Offset, m.base+row)
}

// transformRows writes the features of the encoded rows from, to, and the predictions. With blocks
// this small, the transform uses several cores only for large sets; the request in progress and
// other partitions need the cores.
func (m *message) transformRows(body *wire.FeaturesBody, from, to int) {
	const block = predictionBlock
	n, dim := m.f.set.transform.Len(), m.f.rows.Dim
	every := (to - from + comparedRows - 1) / comparedRows // blocks per compared block
	for first := from; first < to; first += block {
		next := min(first+block, to)
		m.f.set.transform.Transform(body.Features[(first-from)*n:(next-from)*n], m.f.rows.X[first*dim:next*dim], next-first)
		compared := m.f.predictor != nil && (first-from)/block%every == 0
		if compared || m.f.predictor.attaches() {
			m.f.predictor.predict(body, first-from, next-from)
		}
		if compared {
			m.f.predictor.compare(m.chunk, &m.f.rows, first, next)
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

// tooLarge makes the dead letter of a row that needs more than the remaining budget of its message.
func (m *message) tooLarge(row wire.FeatureBatch) error {
	done := Part{Rows: row}
	addEncoded(&done.Counts, m.pending, 0, 1)
	m.pending = encoder.Counts{}
	rejected := []deadletter.RejectedRow{{Row: row.FirstRow - m.base, Reason: deadletter.ReasonOutputTooLarge}}
	deadLetter, err := deadletter.Rejected(meter.StageFeaturize, m.source, m.chunk, m.base, rejected, &arrowio.Budget{},
		m.now)
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

// addEncoded adds the outcome of encoding rows: the kept and rejected rows, and the changes to
// values.
func addEncoded(c *meter.FeaturizeCounts, changed encoder.Counts, kept, rows int) {
	c.Rows += int64(rows)
	c.Featurized += int64(kept)
	c.Rejected += int64(rows - kept)
	c.Imputed += changed.Imputed
	c.UnseenCategory += changed.UnseenCategory
	c.Clipped += changed.Clipped
	c.UnseenClass += changed.UnseenClass
}
