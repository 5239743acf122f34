package wire

import (
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/scoring"
)

// checkpointFields is the metadata of a checkpoint. The sums of each candidate are columns.
type checkpointFields struct {
	*Checkpoint
	Rows    int64        `json:"rows"`
	Outputs []outputSums `json:"outputs" bound:"list 1024"`
}

// outputSums are the sums of one raw output. JSON has no infinities, so the range of no rows, +Inf
// to -Inf, is null to null.
type outputSums struct {
	Y    float64  `json:"y"`
	YSq  float64  `json:"y_sq"`
	YMin *float64 `json:"y_min" bound:"null"`
	YMax *float64 `json:"y_max" bound:"null"`
}

// EncodeCheckpoint returns the message for c, with one row per candidate. The sums keep every bit.
func EncodeCheckpoint(c *Checkpoint) ([]byte, error) {
	if c == nil {
		return nil, fmt.Errorf("encode checkpoint: %w", errMissing)
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("encode checkpoint of exploration %q, partition %d: %w", c.Exploration, c.Partition, err)
	}
	canonical := *c
	canonical.WrittenAt = canonicalTime(c.WrittenAt)
	doc := checkpointFields{&canonical, c.Sums.Rows, makeOutputSums(c.Sums)}
	value, err := checkpointMetadata.encodeMessage(&doc, nil, sumColumns(c.Sums)...)
	if err != nil {
		return nil, fmt.Errorf("encode checkpoint of exploration %q, partition %d: %w", c.Exploration, c.Partition, err)
	}
	return value, nil
}

// sumColumns returns scores as columns.
func sumColumns(s *scoring.Sums) []column {
	m0, k := s.Candidates(), s.Outputs()
	return []column{
		numbers("phi", s.Phi), numbers("phi_sq", s.PhiSq),
		listColumn(numbers("y_phi", transpose(s.YPhi, k, m0)), m0, k),
	}
}

// DecodeCheckpoint reads a message that [EncodeCheckpoint] wrote. The result is valid
// ([Checkpoint.Validate]); [Checkpoint.CheckAgainst] decides whether it may be continued.
func DecodeCheckpoint(dec *arrowio.Decoder, value []byte) (*Checkpoint, error) {
	c := &Checkpoint{}
	doc := checkpointFields{Checkpoint: c}
	rec, err := checkpointMetadata.decodeMessage(dec, value, &doc)
	if err != nil {
		return nil, fmt.Errorf("decode checkpoint: %w", err)
	}
	defer rec.Release()
	c.Sums, err = readSums(rec, &doc)
	c.WrittenAt = canonicalTime(c.WrittenAt)
	if err != nil {
		return nil, fmt.Errorf("decode checkpoint of exploration %q, partition %d: %w", c.Exploration, c.Partition, err)
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("decode checkpoint of exploration %q, partition %d: %w: %w",
			c.Exploration, c.Partition, ErrMalformed, err)
	}
	return c, nil
}

// readSums copies the sums out of a checkpoint's columns and metadata.
func readSums(rec arrow.Record, doc *checkpointFields) (*scoring.Sums, error) {
	m0, k := int(rec.NumRows()), len(doc.Outputs)
	if m0 < 1 || k < 1 {
		return nil, fmt.Errorf("%w: %d candidates, %d outputs: at least one of each is needed", ErrMalformed, m0, k)
	}
	r := &reader{rec: rec}
	phi, phiSq, yPhi := values[float64](r, "phi"), values[float64](r, "phi_sq"), lists[float64](r, "y_phi", k)
	if r.err != nil {
		return nil, r.err
	}
	s := scoring.NewSums(m0, k)
	s.Rows = doc.Rows
	s.Phi, s.PhiSq, s.YPhi = slices.Clone(phi), slices.Clone(phiSq), transpose(yPhi, m0, k)
	for i, o := range doc.Outputs {
		s.Y[i], s.YSq[i] = o.Y, o.YSq
		s.YMin[i], s.YMax[i] = valueOr(o.YMin, math.Inf(1)), valueOr(o.YMax, math.Inf(-1))
	}
	return s, nil
}

// makeOutputSums gathers the sums of each output.
func makeOutputSums(s *scoring.Sums) []outputSums {
	outputs := make([]outputSums, s.Outputs())
	for k := range outputs {
		outputs[k] = outputSums{Y: s.Y[k], YSq: s.YSq[k], YMin: Measured(s.YMin[k]), YMax: Measured(s.YMax[k])}
	}
	return outputs
}

// valueOr returns the value that v points to, or instead if v is nil.
func valueOr(v *float64, instead float64) float64 {
	if v == nil {
		return instead
	}
	return *v
}

// transpose returns the row-major rows×cols matrix v as a row-major cols×rows matrix.
func transpose(v []float64, rows, cols int) []float64 {
	t := make([]float64, len(v))
	for i := range rows {
		for j := range cols {
			t[j*rows+i] = v[i*cols+j]
		}
	}
	return t
}
