package train

import (
	"errors"
	"fmt"
	"slices"
	"time"

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
// Regression labels are fitted as they are coded for selection, in [-1, 1] by the range of the scored rows. That is the
// paper's setting without an intercept; with one it does not change the fit. Models predict in the units of the label.
// The relative squared error is that of the coded label, as in the paper, because it depends on where zero is.
type Trainer struct {
	set     *wire.FeatureSet
	id      string
	config  Config
	grid    training.Grid
	limits  arrowio.Limits
	labels  *encoder.Encoder // reads the label columns only
	outputs int
	coding  scoring.Coding // of regression labels
	// fitOffset is what is added to a regression label after its gain: the coding's offset, so that the label is in
	// [-1, 1], or nothing if an intercept makes that needless and digits would be lost.
	fitOffset []float64
	// learnedFrom has the events that the features of the set were learned from, by partition.
	learnedFrom []wire.Span
	split       *FileSplit   // of a file; nil = by hash
	parts       []*Partition // by partition number
	lanes       []*lane      // by the partitions that they have
	ages        bool         // rows that came later say more about rows to come: those of a stream
	share       *rowShare    // of the rows of the logistic loss; nil if sums are used
}

// Partition says how far the rows of one partition have come, and adds them to its [lane]. The partitions of a lane
// belong to one goroutine.
type Partition struct {
	*lane
	decoder *arrowio.Decoder
	number  int32
	ranges  []wire.Range // one for each log of events from which rows were read, in the order in which they were seen
	counts  meter.TrainCounts

	rows    encoder.Rows // reused, as are the buffers
	buffers rowBuffers
	coded   []float32
}

// rowBuffers are the rows of a message, by where they go.
type rowBuffers struct{ fit, heldOut, seen rowBuffer }

func (b *rowBuffers) reset() {
	b.fit.reset()
	b.heldOut.reset()
	b.seen.reset()
}

// Trim drops the memory of messages until there are more.
func (p *Partition) Trim() {
	p.decoder, p.rows, p.buffers, p.coded = arrowio.NewDecoder(p.limits), encoder.Rows{}, rowBuffers{}, nil
}

func (b *rowBuffers) len() int64 { return int64(b.fit.rows + b.heldOut.rows + b.seen.rows) }

// rowBuffer collects rows for one call of Sums.Add.
type rowBuffer struct {
	z, y  []float32
	class []int32 // of the logistic loss
	level []uint8 // of the logistic loss: level in the rowShare
	rows  int
}

func (b *rowBuffer) reset() {
	b.z, b.y, b.class, b.level, b.rows = b.z[:0], b.y[:0], b.class[:0], b.level[:0], 0
}

// New returns a trainer without rows for a number of partitions.
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
		outputs: set.Encoder.Outputs(), coding: LabelCoding(set), learnedFrom: learnedFrom(set), ages: config.Forget,
	}
	if loss == training.LossLogistic {
		t.share = newRowShare(config.HeldOutSeed, config.RowMemory/t.rowBytes())
	}
	t.fitOffset = t.coding.Offset
	if config.Intercept {
		t.fitOffset = make([]float64, t.outputs)
	}
	t.addLanes(partitions)
	return t, nil
}

// rowBytes is what a row takes under the logistic loss.
func (t *Trainer) rowBytes() int64 { return 4*int64(t.set.Set.Features.Len()+1) + 1 }

// RowShare is the share of the rows that are kept for the logistic loss; 1 = all, or sums are used.
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
		for _, r := range p.ranges {
			rows += r.Rows
		}
	}
	return rows
}

// Counts returns the outcomes of the messages so far. No partition may be adding at that time.
func (t *Trainer) Counts() meter.TrainCounts {
	var counts meter.TrainCounts
	for _, p := range t.parts {
		meter.Add(&counts, p.counts)
	}
	return counts
}

// Add adds a message of the features topic, without rows that were there before. An error says that the message cannot
// be used; it has been counted.
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
	part, err := wire.ParseFeatureHeaders(rec.Headers)
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
	if len(batches) != 1 || part.SourcePartition != p.number {
		return fmt.Errorf("%w: %d record batches of source partition %d, expected one of partition %d",
			wire.ErrMalformed, len(batches), part.SourcePartition, p.number)
	}
	if err := p.checkLogs(part.SourceLog); err != nil {
		return err
	}
	firstNewRow, ok := p.fresh(part)
	if !ok {
		p.counts.Duplicate += batches[0].NumRows()
		return nil
	}
	if err := p.addBatch(batches[0], part, firstNewRow, meter.EventTime(&rec)); err != nil {
		return err
	}
	p.advance(part)
	return nil
}

// maxLogs bounds the logs of events that a partition remembers, in case every message names a new one.
const maxLogs = 64

// find returns the range of a log of events, nil if none of its rows was read.
func (p *Partition) find(log string) *wire.Range {
	at := slices.IndexFunc(p.ranges, func(r wire.Range) bool { return r.Log == log })
	if at < 0 {
		return nil
	}
	return &p.ranges[at]
}

// rangeOf returns the range of a message's log, if necessary a new one that begins with the message.
func (p *Partition) rangeOf(part wire.FeatureBatch) *wire.Range {
	if of := p.find(part.SourceLog); of != nil {
		return of
	}
	p.ranges = append(p.ranges, wire.Range{
		Partition: p.number, Log: part.SourceLog, FirstOffset: part.SourceOffset, FirstRow: part.FirstRow,
		NextOffset: part.SourceOffset, NextRow: part.FirstRow,
	})
	return &p.ranges[len(p.ranges)-1]
}

// checkLogs refuses a log of events if no more can be remembered.
func (p *Partition) checkLogs(log string) error {
	if len(p.ranges) < maxLogs || p.find(log) != nil {
		return nil
	}
	return fmt.Errorf("%w: rows of more than %d logs of events", wire.ErrMalformed, maxLogs)
}

// fresh returns the first row of a message that was not there before; ok is false if there is none. Offsets of
// different logs of events are unrelated.
func (p *Partition) fresh(part wire.FeatureBatch) (firstNewRow int32, ok bool) {
	read := p.find(part.SourceLog)
	switch {
	case read == nil || part.SourceOffset > read.NextOffset:
		return part.FirstRow, true
	case part.SourceOffset < read.NextOffset:
		return 0, false
	}
	first := max(part.FirstRow, read.NextRow)
	return first, first < part.FirstRow+part.RowCount || part.RowCount == 0
}

// advance moves the range past the message.
func (p *Partition) advance(part wire.FeatureBatch) {
	read := p.rangeOf(part)
	read.NextOffset, read.NextRow = part.SourceOffset, part.FirstRow+part.RowCount
	if part.Last() {
		read.NextOffset, read.NextRow = part.SourceOffset+1, 0
	}
}

func (p *Partition) addBatch(batch arrow.Record, part wire.FeatureBatch, firstNewRow int32, at time.Time) error {
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
	of := p.rangeOf(part)
	for i := range p.rows.N {
		row := int(p.rows.Row[i])
		switch {
		case numbers[row] < firstNewRow:
			p.counts.Duplicate++
		case !p.rows.Labelled[i]:
			p.counts.Unlabelled++
		default:
			id := training.RowID{Partition: part.SourcePartition, Offset: part.SourceOffset, Row: numbers[row], Log: part.SourceLog}
			p.addRow(i, z[row*m:(row+1)*m], id)
			p.fillCell(of, at)
		}
	}
	p.take(of, at)
	return nil
}

// fillCell takes the rows of the buffers when they fill the open cell: how rows are cut into messages changes nothing.
func (p *Partition) fillCell(of *wire.Range, at time.Time) {
	if p.open().rows+p.buffers.len() >= cellRows {
		p.take(of, at)
		p.buffers.reset()
	}
}

// take adds the rows of the buffers to the data, and to a range.
func (p *Partition) take(of *wire.Range, at time.Time) {
	p.keep(&p.buffers, at)
	rows := p.buffers.len()
	of.Rows += rows
	p.counts.Rows += rows
}

// level is the lowest level at which rows are kept.
func (t *Trainer) level() uint8 {
	if t.share == nil {
		return 0
	}
	return uint8(t.share.level.Load())
}

// addRow puts row i of the decoded labels, with its features, into the buffer that its hash selects.
func (p *Partition) addRow(i int, z []float32, id training.RowID) {
	buffer := &p.buffers.fit
	if p.holdsOut(id) {
		evaluation := p.open().evaluation
		buffer = &p.buffers.heldOut
		if p.learned(id) {
			buffer, evaluation = &p.buffers.seen, p.open().seenEvaluation
		}
		p.coded = codeLabel(p.coded[:0], p.set, p.rows.Targets, i, p.coding.Gain, p.coding.Offset)
		evaluation.Add(id, id.Hash(p.config.HeldOutSeed), z, p.coded)
	}
	buffer.z = append(buffer.z, z...)
	buffer.y = codeLabel(buffer.y, p.set, p.rows.Targets, i, p.coding.Gain, p.fitOffset)
	if p.share != nil {
		buffer.class = append(buffer.class, training.DecideClass(buffer.y[buffer.rows*p.outputs:], p.outputs))
		buffer.level = append(buffer.level, p.share.levelOf(id))
	}
	buffer.rows++
}

// holdsOut reports whether a row is held out unless it taught the features.
func (t *Trainer) holdsOut(id training.RowID) bool {
	if t.split != nil {
		return t.split.HeldOut(id.Offset)
	}
	return id.Below(t.config.HeldOutSeed, t.config.HeldOutFraction)
}
