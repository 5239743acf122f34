package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

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

// DecodeSpec reads a message that [EncodeSpec] wrote. The result is valid ([Spec.Validate]). For a spec of version 1 it
// returns what its successor needs ([Spec.Earlier]).
func DecodeSpec(dec *arrowio.Decoder, value []byte) (*Spec, error) {
	var s Spec
	rec, err := decodeMessage(dec, value, KeySpec, &s)
	if errors.Is(err, ErrFormatVersion) {
		if earlier, ok := decodeEarlierSpec(dec, value); ok {
			return earlier, nil
		}
	}
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

// decodeEarlierSpec reads the names, numbers and times of a version 1 spec.
func decodeEarlierSpec(dec *arrowio.Decoder, value []byte) (*Spec, bool) {
	recs, err := dec.Decode(value)
	if err != nil {
		return nil, false
	}
	defer releaseAll(recs)
	if len(recs) != 1 {
		return nil, false
	}
	text, err := metadataValue(recs[0].Schema(), KeySpec)
	if err != nil || checkDocumentSize([]byte(text)) != nil {
		return nil, false
	}
	var s struct {
		FormatVersion int       `json:"format_version"`
		Pipeline      string    `json:"pipeline"`
		Exploration   string    `json:"exploration"`
		Sequence      int64     `json:"sequence"`
		Status        Status    `json:"status"`
		HandledOffset int64     `json:"handled_offset"`
		PlannedAt     time.Time `json:"planned_at"`
	}
	if json.Unmarshal([]byte(text), &s) != nil || s.FormatVersion != 1 || s.Sequence < 0 || s.HandledOffset < 0 ||
		checkName("pipeline", s.Pipeline) != nil || readTimes(&s.PlannedAt) != nil {
		return nil, false
	}
	return &Spec{
		FormatVersion: s.FormatVersion, Pipeline: s.Pipeline, Exploration: s.Exploration, Sequence: s.Sequence,
		Status: s.Status, HandledOffset: s.HandledOffset, PlannedAt: s.PlannedAt,
	}, true
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
