package train

import (
	"errors"
	"fmt"
	"sync"

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
	share       *rowShare    // of the rows of the logistic loss; nil where sums do
}

// Partition holds what one partition gives to a fit and how far its rows have come. It belongs to one goroutine.
type Partition struct {
	*Trainer
	decoder    *arrowio.Decoder
	mu         sync.Mutex // guards data, of which another partition may drop rows as memory runs short
	data       dataset
	evaluation *training.EvaluationSample
	// seenEvaluation samples the rows that the hash holds out and the exploration may have seen; nil where nothing was learned.
	seenEvaluation *training.EvaluationSample
	read           wire.Range
	any            bool // read has a first row
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
	level []uint8 // of the logistic loss: that of the rowShare
	rows  int
}

func (b *rowBuffer) reset() {
	b.z, b.y, b.class, b.level, b.rows = b.z[:0], b.y[:0], b.class[:0], b.level[:0], 0
}

// New returns a trainer without rows, for so many partitions.
func New(set *wire.FeatureSet, config Config, limits arrowio.Limits, partitions int) (*Trainer, error) {
	if set.Encoder.Label == nil {
		return nil, pipeline.Permanent(fmt.Errorf("feature set %s has no label to train on", set.ID()))
	}
	loss, err := training.LossFor(config.Loss, set.Task != scoring.Regression)
	if err != nil {
		return nil, pipeline.Permanent(fmt.Errorf("train.loss for feature set %s: %w", set.ID(), err))
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
	if loss == training.LossLogistic {
		t.share = newRowShare(config.HeldOutSeed, config.RowMemory/t.rowBytes())
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

// rowBytes is what a row of the logistic loss takes.
func (t *Trainer) rowBytes() int64 { return 4*int64(t.set.Set.Features.Len()+1) + 1 }

// RowShare is the share of the rows that are kept for the logistic loss; 1 = all, also where sums do.
func (t *Trainer) RowShare() float64 {
	if t.share == nil {
		return 1
	}
	return t.share.share()
}

// keptBytes is the memory of the rows that are kept.
func (t *Trainer) keptBytes() int64 {
	if t.share == nil {
		return 0
	}
	return t.share.Kept() * t.rowBytes()
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
	p.mu.Lock()
	for _, rows := range p.data.kept() {
		p.share.leave(rows.levels)
	}
	p.data = p.newDataset()
	p.mu.Unlock()
	p.any, p.evaluation, p.read = false, p.newEvaluation(), wire.Range{Partition: p.read.Partition}
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
// cannot be used; it has been counted.
func (p *Partition) Add(rec pipeline.Record) error {
	p.counts.Messages++
	err := p.add(rec)
	switch {
	case errors.Is(err, errOtherSet):
		p.counts.OtherSet++
		return nil
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
	p.take()
	return nil
}

// take adds the rows of the buffers to the data.
func (p *Partition) take() {
	p.keep()
	rows := p.buffers.len()
	p.read.Rows += rows
	p.counts.Rows += rows
}

// keep adds the rows of a message. Where those of the logistic loss do not all fit, every partition drops what is above the lower
// threshold.
func (p *Partition) keep() {
	if p.share != nil && p.share.take(p.buffers.fit.level, p.buffers.heldOut.level, p.buffers.seen.level) {
		for _, other := range p.parts {
			other.thin()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.data.add(&p.buffers, p.level())
}

// thin drops rows that are not kept any more.
func (p *Partition) thin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, rows := range p.data.kept() {
		rows.thin(p.level())
	}
}

// level is that from which on rows are kept.
func (t *Trainer) level() uint8 {
	if t.share == nil {
		return 0
	}
	return uint8(t.share.level.Load())
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
	if p.share != nil {
		buffer.class = append(buffer.class, training.DecideClass(buffer.y[buffer.rows*p.outputs:], p.outputs))
		buffer.level = append(buffer.level, p.share.levelOf(id))
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
