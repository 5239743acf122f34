package train

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/training"
)

var (
	// ErrTooFewRows says that there are too few rows for a model.
	ErrTooFewRows = errors.New("too few training rows")
	// ErrRowMemory says that the rows of the logistic loss do not fit the memory that they may take.
	ErrRowMemory = errors.New("the rows do not fit train.row_memory")
	// errOtherSet marks a features message of another feature set.
	errOtherSet = errors.New("message of another feature set")
)

// Trainer sums the features messages of one feature set, partition by partition, and fits models to them.
//
// Regression labels are fitted as they are coded for selection, in [-1, 1] by the range of the scored rows: the paper's
// setting where there is no intercept, and without effect on the fit where there is one. Models predict in the units of
// the label; the relative squared error is that of the coded label, as in the paper, since it depends on where zero is.
type Trainer struct {
	set     *wire.FeatureSet
	id      string
	config  Config
	grid    training.Grid
	limits  arrowio.Limits
	labels  *encoder.Encoder // reads the label columns alone
	outputs int
	coding  scoring.Coding // of regression labels
	// fitOffset is what is added to a regression label after its gain: the coding's offset, so that the label is in
	// [-1, 1], or nothing where the intercept makes it needless and digits would be lost.
	fitOffset []float64
	// learnedFrom are the events that the frequencies of the set were learned from, by partition; empty where they were drawn.
	learnedFrom []wire.Span
	parts       []*Partition // by partition number
	rowBytes    atomic.Int64 // of the rows that all partitions keep
}

// Partition holds what one partition gives to a fit and how far its rows have come. It belongs to one goroutine.
type Partition struct {
	*Trainer
	decoder    *arrowio.Decoder
	data       dataset
	evaluation *training.EvaluationSample
	// seenEvaluation samples the rows that the hash holds out and the exploration may have seen; nil where nothing was learned.
	seenEvaluation *training.EvaluationSample
	read           wire.Range
	any            bool  // read has a first row
	rowBytes       int64 // of the rows that data keeps
	counts         meter.TrainCounts

	rows    encoder.Rows // reused, as are the buffers
	buffers rowBuffers
	coded   []float32
}

// rowBuffers are the rows of a message by what becomes of them.
type rowBuffers struct{ fit, heldOut, seen rowBuffer }

func (b *rowBuffers) reset() {
	b.fit.reset()
	b.heldOut.reset()
	b.seen.reset()
}

func (b *rowBuffers) len() int64 { return int64(b.fit.rows + b.heldOut.rows + b.seen.rows) }

// rowBuffer collects rows for one call of Sums.Add.
type rowBuffer struct {
	z, y  []float32
	class []int32 // of the logistic loss
	rows  int
}

func (b *rowBuffer) reset() { b.z, b.y, b.class, b.rows = b.z[:0], b.y[:0], b.class[:0], 0 }

// New returns a trainer without rows, for so many partitions.
func New(set *wire.FeatureSet, config Config, limits arrowio.Limits, partitions int) (*Trainer, error) {
	if set.Encoder.Label == nil {
		return nil, pipeline.Permanent(fmt.Errorf("feature set %s has no label to train on", set.ID()))
	}
	if config.Loss == training.LossLogistic && set.Task == scoring.Regression {
		return nil, pipeline.Permanent(fmt.Errorf("train.loss is logistic, and the label of feature set %s is a regression's", set.ID()))
	}
	grid, err := training.ParseGrid(config.LambdaGrid)
	if err != nil {
		return nil, pipeline.Permanent(err)
	}
	t := &Trainer{
		set: set, id: set.ID(), config: config, grid: grid, limits: limits,
		labels:  &encoder.Encoder{Standardize: encoder.StandardizeNone, Label: set.Encoder.Label},
		outputs: set.Encoder.Outputs(), coding: LabelCoding(set), learnedFrom: learnedFrom(set),
	}
	t.fitOffset = t.coding.Offset
	if config.Intercept {
		t.fitOffset = make([]float64, t.outputs)
	}
	for number := range partitions {
		p := &Partition{Trainer: t, decoder: arrowio.NewDecoder(limits), read: wire.Range{Partition: int32(number)}}
		p.Reset()
		t.parts = append(t.parts, p)
	}
	return t, nil
}

// FeatureSetID is the id of the set trained on.
func (t *Trainer) FeatureSetID() string { return t.id }

// Partition returns the sums of a partition.
func (t *Trainer) Partition(number int) *Partition { return t.parts[number] }

// Rows is the number of training rows, held-out ones included.
func (t *Trainer) Rows() (rows int64) {
	for _, p := range t.parts {
		rows += p.read.Rows
	}
	return rows
}

// Reset drops the rows of the partition; its counts stay.
func (p *Partition) Reset() {
	p.Trainer.rowBytes.Add(-p.rowBytes)
	p.rowBytes, p.any = 0, false
	p.data, p.evaluation, p.read = p.newDataset(), p.newEvaluation(), wire.Range{Partition: p.read.Partition}
	if p.data.seen != nil {
		p.seenEvaluation = p.newEvaluation()
	}
}

func (t *Trainer) newEvaluation() *training.EvaluationSample {
	return training.NewEvaluationSample(t.set.Set.Features.Len(), t.outputs, t.config.EvaluationRows)
}

// Counts returns the outcomes of the messages so far. No partition may be adding meanwhile.
func (t *Trainer) Counts() meter.TrainCounts {
	var counts meter.TrainCounts
	for _, p := range t.parts {
		meter.Add(&counts, p.counts)
	}
	return counts
}

// Add adds a message of the features topic. Rows that were there before are dropped. An error says that the message
// cannot be used; it has been counted. [ErrRowMemory] says that no more rows fit.
func (p *Partition) Add(rec pipeline.Record) error {
	p.counts.Messages++
	err := p.add(rec)
	switch {
	case errors.Is(err, errOtherSet):
		p.counts.OtherSet++
		return nil
	case errors.Is(err, ErrRowMemory):
		return err
	case err != nil:
		p.counts.Undecodable++
		return fmt.Errorf("features message at %s/%d offset %d: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	return nil
}

func (p *Partition) add(rec pipeline.Record) error {
	part, err := wire.ParseFeatureHeaders(events.Headers(rec.Headers))
	if err != nil {
		return err
	}
	if part.FeatureSetID != p.id {
		return errOtherSet
	}
	batches, err := p.decoder.Decode(rec.Value)
	if err != nil {
		return err
	}
	defer events.Release(batches)
	if len(batches) != 1 || part.SourcePartition != p.read.Partition {
		return fmt.Errorf("%w: %d record batches of source partition %d, expected one of partition %d",
			wire.ErrMalformed, len(batches), part.SourcePartition, p.read.Partition)
	}
	firstNewRow, ok := p.fresh(part)
	if !ok {
		p.counts.Duplicate += batches[0].NumRows()
		return nil
	}
	if err := p.addBatch(batches[0], part, firstNewRow); err != nil {
		return err
	}
	p.advance(part)
	return nil
}

// fresh returns the first row of a message that was not there before; ok is false if there is none.
func (p *Partition) fresh(part wire.FeatureBatch) (firstNewRow int32, ok bool) {
	switch {
	case !p.any || part.SourceOffset > p.read.NextOffset:
		return part.FirstRow, true
	case part.SourceOffset < p.read.NextOffset:
		return 0, false
	}
	first := max(part.FirstRow, p.read.NextRow)
	return first, first < part.FirstRow+part.RowCount || part.RowCount == 0
}

// advance moves the range behind the message.
func (p *Partition) advance(part wire.FeatureBatch) {
	if !p.any {
		p.any = true
		p.read.FirstOffset, p.read.FirstRow = part.SourceOffset, part.FirstRow
	}
	p.read.NextOffset, p.read.NextRow = part.SourceOffset, part.FirstRow+part.RowCount
	if part.Last() {
		p.read.NextOffset, p.read.NextRow = part.SourceOffset+1, 0
	}
}

func (p *Partition) addBatch(batch arrow.Record, part wire.FeatureBatch, firstNewRow int32) error {
	m := p.set.Set.Features.Len()
	numbers, z, err := wire.DecodeFeatures(batch, m)
	if err != nil {
		return err
	}
	if err := part.CheckRows(numbers); err != nil {
		return err
	}
	if err := p.labels.Encode(&p.rows, batch, nil); err != nil {
		return err
	}
	p.buffers.reset()
	for i := range p.rows.N {
		at := int(p.rows.Row[i])
		switch {
		case numbers[at] < firstNewRow:
			p.counts.Duplicate++
		case !p.rows.Labelled[i]:
			p.counts.Unlabelled++
		default:
			p.addRow(i, z[at*m:(at+1)*m],
				training.RowID{Partition: part.SourcePartition, Offset: part.SourceOffset, Row: numbers[at]})
		}
	}
	return p.take()
}

// take adds the rows of the buffers to the data.
func (p *Partition) take() error {
	rows := p.buffers.len()
	if err := p.reserve(rows); err != nil {
		return err
	}
	p.data.add(&p.buffers)
	p.read.Rows += rows
	p.counts.Rows += rows
	return nil
}

// reserve reserves memory for so many more rows.
func (p *Partition) reserve(rows int64) error {
	if p.config.Loss != training.LossLogistic {
		return nil
	}
	row := 4 * int64(p.set.Set.Features.Len()+1)
	p.rowBytes += rows * row
	if p.Trainer.rowBytes.Add(rows*row) > p.config.RowMemory {
		return pipeline.Permanent(fmt.Errorf("%w: more than %d rows of %d features take more than %d bytes; raise it, or use train.loss %s, which keeps none",
			ErrRowMemory, p.config.RowMemory/row, p.set.Set.Features.Len(), p.config.RowMemory, training.LossSquared))
	}
	return nil
}

// addRow puts row i of the decoded labels, with its features, into the part that its hash names.
func (p *Partition) addRow(i int, z []float32, id training.RowID) {
	buffer := &p.buffers.fit
	if training.HeldOut(p.config.HeldOutSeed, id.Partition, id.Offset, id.Row, p.config.HeldOutFraction) {
		evaluation := p.evaluation
		buffer = &p.buffers.heldOut
		if p.learned(id) {
			buffer, evaluation = &p.buffers.seen, p.seenEvaluation
		}
		p.coded = p.appendOutputs(p.coded[:0], i, p.coding.Offset)
		evaluation.Add(id, id.Hash(p.config.HeldOutSeed), z, p.coded)
	}
	buffer.z = append(buffer.z, z...)
	buffer.y = p.appendOutputs(buffer.y, i, p.fitOffset)
	if p.config.Loss == training.LossLogistic {
		buffer.class = append(buffer.class, training.DecideClass(buffer.y[buffer.rows*p.outputs:], p.outputs))
	}
	buffer.rows++
}

// appendOutputs codes the label of row i: ±1 one-vs-rest for classes; for a regression the set's gain times the label
// about its calibration mean, plus the offset.
func (p *Partition) appendOutputs(y []float32, i int, offset []float64) []float32 {
	targets := p.rows.Targets
	switch p.set.Task {
	case scoring.MultiClass:
		first := len(y)
		y = append(y, make([]float32, p.outputs)...)
		training.CodeClasses(y[first:], targets.Class[i:i+1], p.outputs)
	case scoring.Binary:
		y = append(y, targets.Values[i])
	case scoring.Regression:
		for k, v := range targets.Values[i*p.outputs : (i+1)*p.outputs] {
			y = append(y, float32(p.coding.Gain[k]*float64(v)+offset[k]))
		}
	}
	return y
}
