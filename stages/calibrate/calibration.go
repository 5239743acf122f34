package calibrate

import (
	"errors"
	"fmt"
	"sort"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
)

// bandwidthRows is the number of calibration rows, lowest hashes first, used by the
// nearest-neighbour rule.
const bandwidthRows = 1000

// Rules by which a bandwidth is chosen, as recorded in the spec.
const (
	bandwidthGiven     = "given"
	bandwidthNeighbour = "mean distance to the 50th nearest neighbour"
	bandwidthUnit      = "1 (arc-cosine and linear maps)"
)

// ErrNoCalibrationRows reports that no rows were available to learn the encoder from.
var ErrNoCalibrationRows = errors.New("no rows to calibrate on")

// calibration learns encoder and bandwidth from the kept rows of the scans, in the order in which
// they are added.
type calibration struct {
	learn    *encoder.Calibrator
	contents *rowid.Counter
	kept     []calibrationBatch
	cut      int // number of partitions that dropped rows to stay within their share
}

// calibrationBatch is a run of kept rows.
type calibrationBatch struct {
	hashes []uint64                     // one per row
	open   func() (arrow.Record, error) // returns the rows; the caller releases them
}

// newCalibration returns a calibration without rows.
func newCalibration(o encoder.Options) *calibration {
	return &calibration{
		learn:    encoder.NewCalibrator(o),
		contents: rowid.NewCounter(rowid.ContentOf(o.Features, o.Exclude, o.Passthrough, o.Label)),
	}
}

// add learns from a run of rows. The caller keeps them until finish has reopened them.
func (c *calibration) add(batch calibrationBatch) error {
	rows, err := batch.open()
	if err != nil {
		return err
	}
	defer rows.Release()
	if err := c.learn.Add(rows); err != nil {
		return err
	}
	c.contents.Add(rows)
	c.kept = append(c.kept, batch)
	return nil
}

// again returns a function that reopens kept rows.
func again(rows arrow.Record) func() (arrow.Record, error) {
	return func() (arrow.Record, error) {
		rows.Retain()
		return rows, nil
	}
}

// Rows returns the number of rows learned from.
func (c *calibration) Rows() int64 { return c.learn.Rows() }

// calibrated is the result of a calibration.
type calibrated struct {
	encoder *encoder.Encoder
	report  encoder.Report
	sigma   float64
	rule    string
	warning string // about the bandwidth; usually empty

	identity rowid.Rule // of the rows
	copies   float64    // estimated share of rows that equal an earlier row; 0 if another split counted them
}

// finish returns the encoder and the bandwidth: the configured bandwidth or, if none is configured,
// a bandwidth for the exploration's sampling distribution.
func (c *calibration) finish(e Config) (*calibrated, error) {
	if c.Rows() == 0 {
		return nil, ErrNoCalibrationRows
	}
	enc, report, err := c.learn.Encoder()
	if err != nil {
		return nil, fmt.Errorf("calibrate on %d rows: %w", c.Rows(), err)
	}
	if err := wire.CheckFeatureColumns(events.OutputColumns(enc)); err != nil {
		return nil, fmt.Errorf("label and passthrough columns: %w", err)
	}
	if c.cut > 0 {
		report.Warnings = append(
			report.Warnings,
			fmt.Sprintf("in %d partitions the calibration rows exceed their memory bound "+
				"(%d MiB over all partitions, at least %d each); calibrated on %d rows",
				c.cut, calibrationBytes>>20, minCalibrationBytes>>20, c.Rows()),
		)
	}
	if enc, err = c.addEffects(enc); err != nil {
		return nil, err
	}
	if err := c.review(enc, &report); err != nil {
		return nil, err
	}
	found := &calibrated{encoder: enc, report: report, sigma: e.Sigma, rule: bandwidthGiven}
	switch {
	case !e.Map.HasBandwidth() && e.Sigma == 0:
		found.sigma, found.rule = 1, bandwidthUnit
	case e.Sigma == 0:
		x, rows, err := c.sample(enc)
		if err != nil {
			return nil, err
		}
		found.sigma, found.warning = scoring.Bandwidth(x, rows, enc.Dim, e.Distribution, e.Map)
		found.rule = bandwidthNeighbour
	}
	return found, nil
}

// hashedRow is an encoded row with its sampling hash.
type hashedRow struct {
	hash uint64
	x    []float32
}

// sample returns the encoded rows with the smallest hashes, in hash order. It holds at most twice
// as many rows as it returns, in addition to the chunk being encoded.
func (c *calibration) sample(enc *encoder.Encoder) (x []float32, rows int, err error) {
	var sample []hashedRow
	var encoded encoder.Rows
	err = c.eachChunk(enc, func(hashes []uint64, chunk arrow.Record) error {
		if err := enc.Encode(&encoded, chunk, nil); err != nil {
			return err
		}
		for i := range encoded.N {
			sample = append(sample, hashedRow{
				hash: hashes[encoded.Row[i]],
				x:    append([]float32(nil), encoded.X[i*enc.Dim:(i+1)*enc.Dim]...),
			})
			if len(sample) == 2*bandwidthRows {
				sample = smallest(sample)
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	sample = smallest(sample)
	for _, row := range sample {
		x = append(x, row.x...)
	}
	return x, len(sample), nil
}

// eachChunk calls do for the kept rows, in chunks that fit into memory after encoding.
func (c *calibration) eachChunk(enc *encoder.Encoder, do func(hashes []uint64, chunk arrow.Record) error) error {
	var read []string
	for i := range enc.Columns {
		read = append(read, enc.Columns[i].Name)
	}
	if enc.Label != nil {
		read = append(read, enc.Label.Columns...)
	}
	for _, batch := range c.kept {
		opened, err := batch.open()
		if err != nil {
			return err
		}
		rows := wire.SelectColumns(opened, read) // the other columns may have no values
		opened.Release()
		err = events.EachChunk(rows, enc.Dim, func(first int64, chunk arrow.Record) error {
			return do(batch.hashes[first:], chunk)
		})
		rows.Release()
		if err != nil {
			return fmt.Errorf("encode calibration rows: %w", err)
		}
	}
	return nil
}

// addEffects returns the encoder with the effects of categories in the calibration rows.
func (c *calibration) addEffects(enc *encoder.Encoder) (*encoder.Encoder, error) {
	sums := encoder.NewEffectSums(enc)
	if sums == nil {
		return enc, nil
	}
	err := c.eachChunk(enc, func(hashes []uint64, chunk arrow.Record) error {
		return sums.Add(chunk, nil, func(row int32) uint64 { return hashes[row] })
	})
	if err != nil {
		return nil, err
	}
	return sums.Encoder(), nil
}

// review adds the findings of a second pass over the rows to the report.
func (c *calibration) review(enc *encoder.Encoder, report *encoder.Report) error {
	look := encoder.NewReview(enc)
	err := c.eachChunk(enc, func(_ []uint64, chunk arrow.Record) error { return look.Add(chunk, nil) })
	look.Report(report)
	return err
}

// smallest keeps the rows with the smallest hashes, in hash order; among equal hashes, the first
// row.
func smallest(rows []hashedRow) []hashedRow {
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].hash < rows[j].hash })
	kept := min(len(rows), bandwidthRows)
	clear(rows[kept:])
	return rows[:kept]
}
