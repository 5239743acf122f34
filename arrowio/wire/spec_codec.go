package wire

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
)

// EncodeSpec returns the message for s. Its rows are the partitions; the rest is metadata.
func EncodeSpec(s *Spec) ([]byte, error) {
	if s == nil {
		return nil, fmt.Errorf("encode spec: %w", errMissing)
	}
	if err := checkVersion(KeySpec, s.FormatVersion); err != nil {
		return nil, fmt.Errorf("encode spec: %w", err)
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("encode spec of exploration %q: %w", s.Exploration, err)
	}
	doc := *s
	doc.FormatVersion, doc.Partitions = SpecVersion, nil
	doc.PlannedAt = canonicalTime(s.PlannedAt)
	value, err := encodeMessage(KeySpec, &doc, nil, partitionColumns(s.Partitions)...)
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
	if s.Partitions, err = readPartitions(rec); err != nil {
		return nil, fmt.Errorf("decode spec: %w", err)
	}
	if err := readTimes(&s.PlannedAt); err != nil {
		return nil, fmt.Errorf("decode spec: %w", err)
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("decode spec: %w: %w", ErrMalformed, err)
	}
	return &s, nil
}

// partitionColumns returns the partitions as columns.
func partitionColumns(partitions []Partition) []column {
	n := len(partitions)
	number := make([]int32, n)
	start, end, labelled := make([]int64, n), make([]int64, n), make([]int64, n)
	quota, calibrated := make([]int64, n), make([]int64, n)
	for i, p := range partitions {
		number[i], start[i], end[i] = p.Partition, p.StartOffset, p.EndOffset
		labelled[i], quota[i], calibrated[i] = p.LabelledRows, p.Quota, p.CalibrationRows
	}
	return []column{
		int32Column("partition", number), int64Column("start_offset", start), int64Column("end_offset", end),
		int64Column("labelled_rows", labelled), int64Column("quota", quota), int64Column("calibration_rows", calibrated),
	}
}

// readPartitions undoes partitionColumns.
func readPartitions(rec arrow.Record) ([]Partition, error) {
	number, err := int32Values(rec, "partition")
	if err != nil {
		return nil, err
	}
	var start, end, labelled, quota, calibrated []int64
	for _, c := range []struct {
		name string
		dst  *[]int64
	}{{"start_offset", &start}, {"end_offset", &end}, {"labelled_rows", &labelled}, {"quota", &quota}, {"calibration_rows", &calibrated}} {
		if *c.dst, err = int64Values(rec, c.name); err != nil {
			return nil, err
		}
	}
	if len(number) == 0 {
		return nil, nil
	}
	partitions := make([]Partition, len(number))
	for i := range partitions {
		partitions[i] = Partition{Partition: number[i], StartOffset: start[i], EndOffset: end[i],
			LabelledRows: labelled[i], Quota: quota[i], CalibrationRows: calibrated[i]}
	}
	return partitions, nil
}
