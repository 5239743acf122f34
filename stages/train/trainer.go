package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/training"
)

var (
	// ErrTooFewRows reports that there are too few rows for a model.
	ErrTooFewRows = errors.New("too few training rows")
	// errOtherSet marks a features message of another feature set.
	errOtherSet = errors.New("message of another feature set")
)

// Trainer sums the features messages of one feature set, partition by partition, and fits models to
// them.
//
// Regression labels are fitted as they are coded for selection, in [-1, 1] by the range of the
// scored rows. That is the paper's setting without an intercept; with an intercept it does not
// change the fit. Models predict in the units of the label. The relative squared error depends on
// the place of zero and is therefore that of the coded label, as in the paper.
type Trainer struct {
	set     *wire.FeatureSet
	id      string
	config  Config
	grid    training.Grid
	limits  arrowio.Limits
	labels  *encoder.Encoder // reads the label columns only
	outputs int
	measure string         // by which models are compared
	members [][]int32      // the features of each member of the set
	coding  scoring.Coding // of regression labels
	// fitOffset is added to a regression label after its gain: the offset of the coding, so that
	// the label is in [-1, 1], or 0 with an intercept, which makes the offset unnecessary, so that
	// no digits are lost.
	fitOffset []float64
	// learnedFrom are the events from which the features of the set were learned, by partition.
	learnedFrom []wire.Span
	split       *FileSplit   // of a file; nil = by hash
	parts       []*Partition // by partition number
	lanes       []*lane      // in the order of their partitions
	ages        bool         // newer rows predict future rows better, as in a stream
	share       *rowShare    // share of rows kept for the logistic loss; nil for the squared loss
	shareByTime bool         // train.learning_time bounds the share, not train.row_memory
}

// Partition tracks the position in the rows of one partition and adds them to its [lane]. The
// partitions of a lane belong to one goroutine.
type Partition struct {
	trainer *Trainer
	lane    *lane
	decoder *arrowio.Decoder
	number  int32
	ranges  []wire.Range // one for each log of events of the rows, in the order of appearance
	counts  meter.TrainCounts
	unseen  encoder.ClassTally // classes that the feature set does not know

	rows    encoder.Rows // reused, as are the buffers
	buffers rowBuffers
	coded   []float32
}

// rowBuffers are the rows of a message, by bucket.
type rowBuffers struct{ fit, heldOut, seen rowBuffer }

func (b *rowBuffers) reset() {
	b.fit.reset()
	b.heldOut.reset()
	b.seen.reset()
}

// Trim releases the memory of messages until more of them are added.
func (p *Partition) Trim() {
	p.decoder = arrowio.NewDecoder(p.trainer.limits)
	p.rows = encoder.Rows{}
	p.buffers = rowBuffers{}
	p.coded = nil
}

func (b *rowBuffers) len() int64 { return int64(b.fit.rows + b.heldOut.rows + b.seen.rows) }

// rowBuffer collects rows for one call of Sums.Add.
type rowBuffer struct {
	z, y  []float32
	class []int32 // logistic loss only
	level []uint8 // logistic loss only: level in the rowShare
	rows  int
	some  []float32 // reused
}

// of returns the given features of the rows, row-major, until the next call; all if they are nil.
func (b *rowBuffer) of(features []int32) []float32 {
	if features == nil || b.rows == 0 {
		return b.z
	}
	m := len(b.z) / b.rows
	b.some = b.some[:0]
	for n := range b.rows {
		row := b.z[n*m : (n+1)*m]
		for _, i := range features {
			b.some = append(b.some, row[i])
		}
	}
	return b.some
}

func (b *rowBuffer) reset() {
	b.z, b.y = b.z[:0], b.y[:0]
	b.class, b.level = b.class[:0], b.level[:0]
	b.rows = 0
}

// New returns a trainer without rows for the given number of partitions.
func New(set *wire.FeatureSet, config Config, limits arrowio.Limits, partitions int) (*Trainer, error) {
	if set.Encoder.Label == nil {
		return nil, pipeline.Permanent(fmt.Errorf("feature set %s has no label to train on", set.ID()))
	}
	loss, err := training.LossFor(config.Loss, set.Task != scoring.Regression)
	if err != nil {
		return nil, pipeline.Permanent(fmt.Errorf("train.loss for feature set %s: %w", set.ID(), err))
	}
	measure, err := training.MeasureFor(config.Measure, set.Task != scoring.Regression, loss == training.LossLogistic)
	if err != nil {
		return nil, pipeline.Permanent(fmt.Errorf("train.measure for feature set %s: %w", set.ID(), err))
	}
	grid, err := training.ParseGrid(config.LambdaGrid)
	if err != nil {
		return nil, pipeline.Permanent(err)
	}
	judgeUnsampled(&config, set)
	t := &Trainer{
		set:         set,
		id:          set.ID(),
		config:      config,
		grid:        grid,
		limits:      limits,
		labels:      &encoder.Encoder{Standardize: encoder.StandardizeNone, Label: set.Encoder.Label},
		outputs:     set.Encoder.Outputs(),
		measure:     measure,
		members:     set.Set.MemberFeatures(),
		coding:      LabelCoding(set),
		learnedFrom: learnedFrom(set),
		ages:        config.Forget,
	}
	if loss == training.LossLogistic {
		affordable := training.AffordableRows(set.Set.Features.Len(), max(2, t.outputs), config.LearningTime)
		t.share = newRowShare(config.HeldOutSeed, min(config.RowMemory/t.rowBytes(), max(affordable, fewestRows)))
		t.shareByTime = affordable < config.RowMemory/t.rowBytes()
	}
	t.fitOffset = t.coding.Offset
	if config.Intercept {
		t.fitOffset = make([]float64, t.outputs)
	}
	t.addLanes(partitions)
	return t, nil
}

// fewestRows are kept for the logistic loss regardless of train.learning_time.
const fewestRows = 1000

// rowBytes returns the memory of a row under the logistic loss.
func (t *Trainer) rowBytes() (bytes int64) {
	for _, features := range t.members {
		bytes += 4*int64(len(features)+1) + 1
	}
	return bytes
}

// RowShare returns the share of the rows that are kept for the logistic loss, 1 under the squared
// loss.
func (t *Trainer) RowShare() float64 {
	if t.share == nil {
		return 1
	}
	return t.share.share()
}

// keptBytes returns the memory of the kept rows.
func (t *Trainer) keptBytes() int64 {
	if t.share == nil {
		return 0
	}
	return t.share.Kept() * t.rowBytes()
}

// FeatureSetID returns the id of the feature set.
func (t *Trainer) FeatureSetID() string { return t.id }

// Partition returns a partition by number.
func (t *Trainer) Partition(number int) *Partition { return t.parts[number] }

// Rows returns the number of training rows, including held-out rows.
func (t *Trainer) Rows() (rows int64) {
	for _, p := range t.parts {
		for _, r := range p.ranges {
			rows += r.Rows
		}
	}
	return rows
}

// Counts returns the outcomes of the messages so far. No partition may add rows at the same time.
func (t *Trainer) Counts() meter.TrainCounts {
	var counts meter.TrainCounts
	for _, p := range t.parts {
		meter.Add(&counts, p.counts)
	}
	return counts
}

// Add adds a message of the features topic, except for rows that were added before. An error means
// that the message is unusable. It is then counted as undecodable.
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
	if part.FeatureSetID != p.trainer.id {
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

// maxLogs bounds the logs of events of a partition, in case every message names a new one.
const maxLogs = 64

// find returns the range of a log of events, nil if no row of it was read.
func (p *Partition) find(log string) *wire.Range {
	at := slices.IndexFunc(p.ranges, func(r wire.Range) bool { return r.Log == log })
	if at < 0 {
		return nil
	}
	return &p.ranges[at]
}

// rangeOf returns the range of the log of a message, if necessary a new one that begins with the
// message.
func (p *Partition) rangeOf(part wire.FeatureBatch) *wire.Range {
	if of := p.find(part.SourceLog); of != nil {
		return of
	}
	p.ranges = append(p.ranges, wire.Range{
		Partition:   p.number,
		Log:         part.SourceLog,
		FirstOffset: part.SourceOffset,
		FirstRow:    part.FirstRow,
		NextOffset:  part.SourceOffset,
		NextRow:     part.FirstRow,
	})
	return &p.ranges[len(p.ranges)-1]
}

// checkLogs refuses a new log of events beyond maxLogs.
func (p *Partition) checkLogs(log string) error {
	if len(p.ranges) < maxLogs || p.find(log) != nil {
		return nil
	}
	return fmt.Errorf("%w: rows of more than %d logs of events", wire.ErrMalformed, maxLogs)
}

// fresh returns the first row of a message that was not added before; ok is false if all were.
// Offsets of different logs of events are unrelated.
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
	m := p.trainer.set.Set.Features.Len()
	numbers, z, err := wire.DecodeFeatures(batch, m)
	if err != nil {
		return err
	}
	if err := part.CheckRows(numbers); err != nil {
		return err
	}
	if err := p.trainer.labels.Encode(&p.rows, batch, nil); err != nil {
		return err
	}
	identities, err := wire.DecodeIdentities(batch)
	if err != nil {
		return err
	}
	p.addUnseen()
	p.buffers.reset()
	of := p.rangeOf(part)
	for i := range p.rows.N {
		row := int(p.rows.Row[i])
		switch {
		case numbers[row] < firstNewRow:
			p.counts.Duplicate++
		case !p.rows.Labelled[i] && !p.rows.Unseen[i]:
			p.counts.Unlabelled++
		default:
			id := training.RowID{
				Partition: part.SourcePartition,
				Offset:    part.SourceOffset,
				Row:       numbers[row],
				Log:       part.SourceLog,
			}
			if identities != nil {
				id.Identity = identities[row]
			} else {
				id.Identity = rowid.PlaceOf(id.Partition, id.Offset, id.Row)
			}
			if p.rows.Unseen[i] {
				p.counts.UnseenClass++
				p.judgeUnseen(z[row*m:(row+1)*m], id)
				continue
			}
			if !p.addRow(i, z[row*m:(row+1)*m], id) {
				p.counts.Rejected++
				continue
			}
			p.fillCell(of, at)
		}
	}
	p.take(of, at)
	return nil
}

// fillCell takes the rows of the buffers when they fill the open cell, so that cells do not depend
// on how rows are cut into messages.
func (p *Partition) fillCell(of *wire.Range, at time.Time) {
	if p.lane.open().rows+p.buffers.len() >= cellRows {
		p.take(of, at)
		p.buffers.reset()
	}
}

// take adds the rows of the buffers to the lane and counts them in a range.
func (p *Partition) take(of *wire.Range, at time.Time) {
	p.lane.keep(&p.buffers, at)
	rows := p.buffers.len()
	of.Rows += rows
	p.counts.Rows += rows
}

// level returns the lowest level of kept rows.
func (t *Trainer) level() uint8 {
	if t.share == nil {
		return 0
	}
	return uint8(t.share.level.Load())
}

// addRow adds row i of the decoded labels, with its features, to the buffer that its hash selects.
// It refuses a row with values that are too large for sums.
func (p *Partition) addRow(i int, z []float32, id training.RowID) (added bool) {
	t, buffer := p.trainer, &p.buffers.fit
	p.coded = codeLabel(p.coded[:0], t.set, p.rows.Targets, i, t.coding.Gain, t.coding.Offset)
	if !summable(z) || !summable(p.coded) {
		return false
	}
	if t.holdsOut(id) {
		evaluation := p.lane.open().evaluation
		buffer = &p.buffers.heldOut
		if t.learned(id) {
			buffer, evaluation = &p.buffers.seen, p.lane.open().seenEvaluation
		}
		evaluation.Add(id, id.Hash(t.config.HeldOutSeed), z, p.coded)
	}
	buffer.z = append(buffer.z, z...)
	buffer.y = codeLabel(buffer.y, t.set, p.rows.Targets, i, t.coding.Gain, t.fitOffset)
	if t.share != nil {
		buffer.class = append(buffer.class, training.DecideClass(buffer.y[buffer.rows*t.outputs:], t.outputs))
		buffer.level = append(buffer.level, t.share.levelOf(id))
	}
	buffer.rows++
	return true
}

// judgeUnseen adds a row of a class that the feature set does not know to the held-out rows that
// judge models, if its hash holds it out: every prediction for it is wrong. It teaches nothing.
func (p *Partition) judgeUnseen(z []float32, id training.RowID) {
	t := p.trainer
	if !t.holdsOut(id) || t.learned(id) || !summable(z) {
		return
	}
	p.coded = append(p.coded[:0], make([]float32, t.outputs)...)
	training.CodeUnknownClass(p.coded)
	p.lane.open().evaluation.Add(id, id.Hash(t.config.HeldOutSeed), z, p.coded)
}

// addUnseen counts the classes of the current rows that the feature set does not know.
func (p *Partition) addUnseen() {
	for _, c := range p.rows.UnseenClasses.List() {
		p.unseen.Add(c.Class, c.Rows)
	}
}

// UnseenClasses returns the most frequent classes that the feature set does not know, with their
// rows. No partition may add rows at the same time.
func (t *Trainer) UnseenClasses() []encoder.ClassRows {
	var all encoder.ClassTally
	for _, p := range t.parts {
		for _, c := range p.unseen.List() {
			all.Add(c.Class, c.Rows)
		}
	}
	return all.List()
}

// largestSummed bounds features and coded labels, so that no difference of two overflows. Otherwise
// two rows that are valid alone could have no sums together, and training would fail from then on.
const largestSummed = math.MaxFloat32 / 4

// summable reports whether all values are within largestSummed.
func summable(values []float32) bool {
	for _, v := range values {
		if !(-largestSummed <= v && v <= largestSummed) {
			return false
		}
	}
	return true
}

// holdsOut reports whether a row is held out, unless it taught the features.
func (t *Trainer) holdsOut(id training.RowID) bool {
	if t.split != nil {
		return t.split.HeldOut(id.Offset)
	}
	return id.Below(t.config.HeldOutSeed, t.config.HeldOutFraction)
}
