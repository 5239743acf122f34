package wire

import (
	"cmp"
	"fmt"

	"github.com/eerf-stream/eerf/arrowio"
)

// EncodeSpec returns the message for s. Its rows are the partitions; the rest is metadata.
func EncodeSpec(s *Spec) ([]byte, error) {
	if s == nil {
		return nil, fmt.Errorf("encode spec: %w", errMissing)
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("encode spec of exploration %q: %w", s.Exploration, err)
	}
	doc := *s
	doc.Partitions, doc.PlannedAt = nil, canonicalTime(s.PlannedAt)
	value, err := encodeMessage(KeySpec, &doc, nil, encodePartitions(s.Partitions)...)
	if err != nil {
		return nil, fmt.Errorf("encode spec of exploration %q: %w", s.Exploration, err)
	}
	return value, nil
}

// DecodeSpec reads a message that [EncodeSpec] wrote. The result is valid ([Spec.Validate]).
func DecodeSpec(dec *arrowio.Decoder, value []byte) (*Spec, error) {
	var s Spec
	rec, err := decodeMessage(dec, value, KeySpec, &s)
	if err != nil {
		return nil, fmt.Errorf("decode spec: %w", err)
	}
	defer rec.Release()
	r := &reader{rec: rec}
	s.Partitions = readPartitions(r)
	if err := cmp.Or(r.err, readTimes(&s.PlannedAt)); err != nil {
		return nil, fmt.Errorf("decode spec: %w", err)
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("decode spec: %w: %w", ErrMalformed, err)
	}
	return &s, nil
}

// partitionColumns are the columns of the partitions after the first, their numbers.
var partitionColumns = []struct {
	name string
	of   func(*Partition) *int64
}{
	{"start_offset", func(p *Partition) *int64 { return &p.StartOffset }},
	{"end_offset", func(p *Partition) *int64 { return &p.EndOffset }},
	{"labelled_rows", func(p *Partition) *int64 { return &p.LabelledRows }},
	{"quota", func(p *Partition) *int64 { return &p.Quota }},
	{"calibration_rows", func(p *Partition) *int64 { return &p.CalibrationRows }},
	{"reported_from", func(p *Partition) *int64 { return &p.ReportedFrom }},
	{"reported_to", func(p *Partition) *int64 { return &p.ReportedTo }},
}

// columnPartition is the column of the partitions' numbers.
const columnPartition = "partition"

// encodePartitions returns the partitions as columns.
func encodePartitions(partitions []Partition) []column {
	number := make([]int32, len(partitions))
	for i, p := range partitions {
		number[i] = p.Partition
	}
	columns := []column{numbers(columnPartition, number)}
	for _, c := range partitionColumns {
		v := make([]int64, len(partitions))
		for i := range partitions {
			v[i] = *c.of(&partitions[i])
		}
		columns = append(columns, numbers(c.name, v))
	}
	return columns
}

// readPartitions undoes encodePartitions.
func readPartitions(r *reader) []Partition {
	if r.rec.NumRows() == 0 {
		return nil
	}
	partitions := make([]Partition, r.rec.NumRows())
	for i, number := range values[int32](r, columnPartition) {
		partitions[i].Partition = number
	}
	for _, c := range partitionColumns {
		for i, v := range values[int64](r, c.name) {
			*c.of(&partitions[i]) = v
		}
	}
	return partitions
}
