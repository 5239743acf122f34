package wire

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/scoring"
)

// checkpointDocument is the metadata of a checkpoint. The sums of each candidate are columns.
type checkpointDocument struct {
	FormatVersion int          `json:"format_version"`
	Exploration   string       `json:"exploration"`
	Sequence      int64        `json:"sequence"`
	SpecHash      string       `json:"spec_hash"`
	Partition     int32        `json:"partition"`
	Attempt       int          `json:"attempt,omitempty"`
	NextOffset    int64        `json:"next_offset"`
	NextOrdinal   int64        `json:"next_ordinal"`
	Closed        bool         `json:"closed"`
	CloseReason   CloseReason  `json:"close_reason,omitempty"`
	Arithmetic    string       `json:"kernel"`
	WrittenAt     time.Time    `json:"written_at,omitzero"`
	Counts        Counts       `json:"counts"`
	Rows          int64        `json:"rows"`
	Outputs       []outputSums `json:"outputs"`
	Samples       SampleMark   `json:"samples,omitzero"`
	EventsLog     string       `json:"events_log,omitempty"`
	LastBatch     BatchMark    `json:"last_batch,omitzero"`
}

// outputSums are the sums of one raw output. JSON has no infinities, so the range of no rows, +Inf to
// -Inf, is null to null.
type outputSums struct {
	Y    float64  `json:"y"`
	YSq  float64  `json:"y_sq"`
	YMin *float64 `json:"y_min"`
	YMax *float64 `json:"y_max"`
}

// EncodeCheckpoint returns the message for c, with one row per candidate. The sums keep every bit.
func EncodeCheckpoint(c *Checkpoint) ([]byte, error) {
	if c == nil {
		return nil, fmt.Errorf("encode checkpoint: %w", errMissing)
	}
	if err := checkVersion(KeyCheckpoint, c.FormatVersion); err != nil {
		return nil, fmt.Errorf("encode checkpoint: %w", err)
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("encode checkpoint of exploration %q, partition %d: %w", c.Exploration, c.Partition, err)
	}
	doc := checkpointDocument{
		FormatVersion: CheckpointVersion, Exploration: c.Exploration, Sequence: c.Sequence, SpecHash: c.SpecHash,
		Partition: c.Partition, Attempt: c.Attempt, NextOffset: c.NextOffset, NextOrdinal: c.NextOrdinal,
		Closed: c.Closed, CloseReason: c.CloseReason, Arithmetic: c.Arithmetic, WrittenAt: canonicalTime(c.WrittenAt),
		Counts: c.Counts, Rows: c.Sums.Rows, Outputs: makeOutputSums(c.Sums), Samples: c.Samples,
		EventsLog: c.EventsLog, LastBatch: c.LastBatch,
	}
	value, err := encodeMessage(KeyCheckpoint, &doc, nil, sumColumns(c.Sums)...)
	if err != nil {
		return nil, fmt.Errorf("encode checkpoint of exploration %q, partition %d: %w", c.Exploration, c.Partition, err)
	}
	return value, nil
}

// sumColumns returns scores as columns.
func sumColumns(s *scoring.Sums) []column {
	m0, k := s.Candidates(), s.Outputs()
	return []column{
		float64Column("phi", s.Phi), float64Column("phi_sq", s.PhiSq),
		listColumn(float64Column("y_phi", transpose(s.YPhi, k, m0)), m0, k),
	}
}

// DecodeCheckpoint reads a message that [EncodeCheckpoint] wrote. The result is valid
// ([Checkpoint.Validate]); [Checkpoint.CheckAgainst] says whether it may be continued.
func DecodeCheckpoint(dec *arrowio.Decoder, value []byte) (*Checkpoint, error) {
	var doc checkpointDocument
	rec, err := decodeMessage(dec, value, KeyCheckpoint, &doc)
	if err != nil {
		return nil, fmt.Errorf("decode checkpoint: %w", err)
	}
	defer rec.Release()
	c := &Checkpoint{
		FormatVersion: doc.FormatVersion, Exploration: doc.Exploration, Sequence: doc.Sequence, SpecHash: doc.SpecHash,
		Partition: doc.Partition, Attempt: doc.Attempt, Samples: doc.Samples, NextOffset: doc.NextOffset, NextOrdinal: doc.NextOrdinal,
		Closed: doc.Closed, CloseReason: doc.CloseReason, Counts: doc.Counts, Arithmetic: doc.Arithmetic,
		EventsLog: doc.EventsLog, LastBatch: doc.LastBatch,
	}
	if err = readTimes(&doc.WrittenAt); err == nil {
		c.WrittenAt = doc.WrittenAt
		c.Sums, err = readSums(rec, &doc)
	}
	if err != nil {
		return nil, fmt.Errorf("decode checkpoint of exploration %q, partition %d: %w", doc.Exploration, doc.Partition, err)
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("decode checkpoint of exploration %q, partition %d: %w: %w",
			c.Exploration, c.Partition, ErrMalformed, err)
	}
	return c, nil
}

// readSums copies the sums out of a checkpoint's columns and metadata.
func readSums(rec arrow.Record, doc *checkpointDocument) (*scoring.Sums, error) {
	m0, k := int(rec.NumRows()), len(doc.Outputs)
	if m0 < 1 || k < 1 {
		return nil, fmt.Errorf("%w: %d candidates, %d outputs: at least one of each is needed", ErrMalformed, m0, k)
	}
	phi, err := float64Values(rec, "phi")
	if err != nil {
		return nil, err
	}
	phiSq, err := float64Values(rec, "phi_sq")
	if err != nil {
		return nil, err
	}
	yPhi, err := float64Lists(rec, "y_phi", k)
	if err != nil {
		return nil, err
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
