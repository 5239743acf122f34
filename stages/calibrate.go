package stages

import (
	"errors"
	"fmt"
	"sort"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// bandwidthRows is how many calibration rows, first by hash, the nearest-neighbour rule looks at.
const bandwidthRows = 1000

// bandwidthTag sets the hash of the bandwidth's rows apart from that of the scored rows: its seed is the exploration's,
// xor this ("sigma" in ASCII). With the same hash they would be the very rows that are scored at any rate.
const bandwidthTag = 0x7369676d61

// Rules by which a bandwidth came to be, as the spec records them.
const (
	bandwidthGiven     = "given"
	bandwidthNeighbour = "mean distance to the 50th nearest neighbour"
	bandwidthUnit      = "1 (arc-cosine and linear maps)"
)

// ErrNoCalibrationRows says that there was nothing to learn the encoder from.
var ErrNoCalibrationRows = errors.New("no rows to calibrate on")

// Calibration learns encoder and bandwidth from the first rows, by ordinal, of each partition. Partitions are merged
// in the order in which they are added.
type Calibration struct {
	learn  *encoder.Calibrator
	keeper *keeper
	kept   []calibrationBatch
	budget int64 // bytes that Add may still keep
	cut    int   // partitions that gave fewer rows for the budget
}

type calibrationBatch struct {
	partition    int32
	firstOrdinal int64
	rows         arrow.Record
}

// NewCalibration returns a calibration without rows. Release frees what it keeps.
func NewCalibration(events EventsConfig) *Calibration {
	return &Calibration{
		learn: encoder.NewCalibrator(events.EncoderOptions()), keeper: newKeeper(events), budget: calibrationShare(1),
	}
}

// EncoderOptions is what the encoder is asked to learn.
func (c EventsConfig) EncoderOptions() encoder.Options {
	return encoder.Options{
		Features: c.Features, Exclude: c.Exclude, Passthrough: c.Passthrough, Label: c.Label, Task: c.Task,
		Classes: c.Classes, Clip: c.Clip, Standardize: c.Standardize, MaxCategories: c.MaxCategories,
		LabelMin: c.LabelMin, LabelMax: c.LabelMax,
	}
}

// Add learns from a batch whose first row has the given ordinal in its partition. Columns that can be features or labels
// are copied; the batch stays the caller's. Rows behind 64 MiB of those are not used, and a warning of the report says
// so. An error means that the batch does not go with those before it and was not used.
func (c *Calibration) Add(partition int32, firstOrdinal int64, rows arrow.Record) error {
	if rows.NumRows() == 0 {
		return nil
	}
	if c.budget <= 0 {
		c.cut = 1
		return nil
	}
	n, bytes := c.keeper.fit(rows, rows.NumRows(), c.budget)
	copied, err := c.keeper.copy(rows, n)
	if err != nil {
		return fmt.Errorf("copy calibration rows: %w", err)
	}
	defer copied.Release()
	if err := c.add(partition, firstOrdinal, copied); err != nil {
		return err
	}
	c.budget -= bytes
	if n < rows.NumRows() {
		c.cut = 1
	}
	return nil
}

// add learns from rows that have their columns to themselves, and retains them.
func (c *Calibration) add(partition int32, firstOrdinal int64, rows arrow.Record) error {
	if err := c.learn.Add(rows); err != nil {
		return err
	}
	rows.Retain()
	c.kept = append(c.kept, calibrationBatch{partition, firstOrdinal, rows})
	return nil
}

// Rows is the number of rows learned from.
func (c *Calibration) Rows() int64 { return c.learn.Rows() }

// Release frees the rows.
func (c *Calibration) Release() {
	for _, batch := range c.kept {
		batch.rows.Release()
	}
	c.kept = nil
}

// Calibrated is what a calibration found.
type Calibrated struct {
	Encoder       *encoder.Encoder
	Report        encoder.Report
	Sigma         float64
	BandwidthRule string
	// Warning is what the user should know of the bandwidth; empty mostly.
	Warning string
}

// Finish returns the encoder and, unless one is given, the bandwidth for the exploration's sampling distribution.
func (c *Calibration) Finish(e ExplorationConfig) (*Calibrated, error) {
	if c.Rows() == 0 {
		return nil, ErrNoCalibrationRows
	}
	enc, report, err := c.learn.Encoder()
	if err != nil {
		return nil, fmt.Errorf("calibrate on %d rows: %w", c.Rows(), err)
	}
	if err := wire.CheckFeatureColumns(outputColumns(enc)); err != nil {
		return nil, fmt.Errorf("label and passthrough columns: %w", err)
	}
	if c.cut > 0 {
		report.Warnings = append(report.Warnings, fmt.Sprintf("in %d partitions calibration stopped at its memory bound (%d MiB over all partitions, at least %d each): it used %d rows",
			c.cut, calibrationBytes>>20, minCalibrationBytes>>20, c.Rows()))
	}
	found := &Calibrated{Encoder: enc, Report: report, Sigma: e.Sigma, BandwidthRule: bandwidthGiven}
	switch {
	case e.Map != scoring.MapCosine && e.Sigma == 0:
		found.Sigma, found.BandwidthRule = 1, bandwidthUnit
	case e.Sigma == 0:
		x, rows, err := c.sample(enc, e.Seed)
		if err != nil {
			return nil, err
		}
		found.Sigma, found.Warning = scoring.Bandwidth(x, rows, enc.Dim, e.Distribution, e.Map)
		found.BandwidthRule = bandwidthNeighbour
	}
	return found, nil
}

// hashedRow is an encoded row with the hash by which it is sampled.
type hashedRow struct {
	hash uint64
	x    []float32
}

// sample returns the encoded rows with the smallest hashes, in the order of their hashes. It holds no more than twice
// as many as it returns, besides those that are encoded at a time.
func (c *Calibration) sample(enc *encoder.Encoder, seed uint64) (x []float32, rows int, err error) {
	var sample []hashedRow
	var encoded encoder.Rows
	step := chunkRows(enc.Dim)
	var read []string
	for i := range enc.Columns {
		read = append(read, enc.Columns[i].Name)
	}
	if enc.Label != nil {
		read = append(read, enc.Label.Columns...)
	}
	for _, batch := range c.kept {
		rows := wire.SelectColumns(batch.rows, read) // the others may have no values
		for first := int64(0); first < rows.NumRows(); first += step {
			chunk := rows.NewSlice(first, min(first+step, rows.NumRows()))
			err := enc.Encode(&encoded, chunk, nil)
			chunk.Release()
			if err != nil {
				rows.Release()
				return nil, 0, fmt.Errorf("encode calibration rows: %w", err)
			}
			for i := range encoded.N {
				sample = append(sample, hashedRow{
					hash: scoring.Hash(seed^bandwidthTag, batch.partition, batch.firstOrdinal+first+int64(encoded.Row[i])),
					x:    append([]float32(nil), encoded.X[i*enc.Dim:(i+1)*enc.Dim]...),
				})
				if len(sample) == 2*bandwidthRows {
					sample = smallest(sample)
				}
			}
		}
		rows.Release()
	}
	sample = smallest(sample)
	for _, row := range sample {
		x = append(x, row.x...)
	}
	return x, len(sample), nil
}

// smallest keeps the rows with the smallest hashes, in their order; of equal ones those that came first.
func smallest(rows []hashedRow) []hashedRow {
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].hash < rows[j].hash })
	kept := min(len(rows), bandwidthRows)
	clear(rows[kept:])
	return rows[:kept]
}
