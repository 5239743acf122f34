package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/cespare/xxhash/v2"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/scoring"
)

// Samples are scored rows of one partition, as sampled and encoded by the subsampling stage, in the
// order of their ordinals. They are the value of a message of the samples topic, under the key of
// the exploration's checkpoints.
type Samples struct {
	SpecHash  string
	Partition int32
	Dim       int
	Ordinal   []int64   // ascending, [rows]
	Identity  []uint64  // [rows]; nil if rows are identified by their place
	X         []float32 // row-major [rows·Dim]
	Targets   scoring.Targets
}

// Headers of a message of samples.
const (
	headerSampleSpec  = "eerf-spec-hash"
	headerSamplePart  = "eerf-partition"
	headerSampleFirst = "eerf-first-ordinal"
)

// Rows is the number of rows.
func (s *Samples) Rows() int { return len(s.Ordinal) }

// Reset empties s and keeps its memory.
func (s *Samples) Reset() {
	s.Ordinal, s.X = s.Ordinal[:0], s.X[:0]
	s.Identity = s.Identity[:0]
	s.Targets.Class, s.Targets.Values = s.Targets.Class[:0], s.Targets.Values[:0]
}

// Append copies row i of other to the end.
func (s *Samples) Append(other *Samples, i int) {
	s.Ordinal = append(s.Ordinal, other.Ordinal[i])
	if len(other.Identity) > 0 {
		s.Identity = append(s.Identity, other.Identity[i])
	}
	s.X = append(s.X, other.X[i*s.Dim:(i+1)*s.Dim]...)
	s.Targets.Outputs = other.Targets.Outputs
	if other.Targets.Class != nil {
		s.Targets.Class = append(s.Targets.Class, other.Targets.Class[i])
		return
	}
	k := other.Targets.Outputs
	s.Targets.Values = append(s.Targets.Values, other.Targets.Values[i*k:(i+1)*k]...)
}

// Slice is a view of rows first..next-1.
func (s *Samples) Slice(first, next int) *Samples {
	view := &Samples{
		SpecHash:  s.SpecHash,
		Partition: s.Partition,
		Dim:       s.Dim,
		Ordinal:   s.Ordinal[first:next],
		X:         s.X[first*s.Dim : next*s.Dim],
		Targets:   scoring.Targets{Outputs: s.Targets.Outputs},
	}
	if len(s.Identity) > 0 {
		view.Identity = s.Identity[first:next]
	}
	if k := s.Targets.Outputs; s.Targets.Class != nil {
		view.Targets.Class = s.Targets.Class[first:next]
	} else {
		view.Targets.Values = s.Targets.Values[first*k : next*k]
	}
	return view
}

// SampleMark identifies the samples of a partition and their start. Its zero value marks no
// row.
type SampleMark struct {
	// FirstOffset is an offset of the samples topic: no row that the mark counts is before it.
	FirstOffset int64 `json:"first_offset"`
	Rows        int64 `json:"rows"`
	// Checksum chains the rows in the order of their ordinals: XXH64 of the previous checksum and
	// the row's ordinal, identity (if rows have one), x and y, all little-endian.
	Checksum uint64 `json:"checksum,string"`
}

// Add counts the rows of s from row first on.
func (m *SampleMark) Add(s *Samples, first int) {
	var buffer []byte
	for i := first; i < s.Rows(); i++ {
		buffer = binary.LittleEndian.AppendUint64(buffer[:0], m.Checksum)
		buffer = binary.LittleEndian.AppendUint64(buffer, uint64(s.Ordinal[i]))
		if len(s.Identity) > 0 {
			buffer = binary.LittleEndian.AppendUint64(buffer, s.Identity[i])
		}
		for _, v := range s.X[i*s.Dim : (i+1)*s.Dim] {
			buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(v))
		}
		if s.Targets.Class != nil {
			buffer = binary.LittleEndian.AppendUint32(buffer, uint32(s.Targets.Class[i]))
		} else {
			for _, v := range s.Targets.Values[i*s.Targets.Outputs : (i+1)*s.Targets.Outputs] {
				buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(v))
			}
		}
		m.Checksum = xxhash.Sum64(buffer)
		m.Rows++
	}
}

// Validate returns every inconsistency between the parts.
func (s *Samples) Validate() error {
	rows, k := s.Rows(), s.Targets.Outputs
	switch {
	case rows == 0 || s.Dim < 1 || k < 1 || s.Partition < 0:
		return fmt.Errorf("%d rows of %d dimensions and %d outputs of partition %d", rows, s.Dim, k, s.Partition)
	case len(s.Identity) != 0 && len(s.Identity) != rows:
		return fmt.Errorf("%d identities of %d rows", len(s.Identity), rows)
	case len(s.X) != rows*s.Dim:
		return fmt.Errorf("%d numbers for %d rows of %d dimensions", len(s.X), rows, s.Dim)
	case (s.Targets.Class == nil) == (s.Targets.Values == nil):
		return fmt.Errorf("want either classes or outputs")
	case s.Targets.Class != nil && len(s.Targets.Class) != rows,
		s.Targets.Values != nil && len(s.Targets.Values) != rows*k:
		return fmt.Errorf("%d classes or %d outputs for %d rows of %d", len(s.Targets.Class), len(s.Targets.Values), rows, k)
	}
	if err := s.validateOrdinals(); err != nil {
		return err
	}
	for _, class := range s.Targets.Class {
		if class < 0 || int(class) >= k {
			return fmt.Errorf("class %d is not within 0..%d", class, k-1)
		}
	}
	if !finite(s.X) || !finite(s.Targets.Values) {
		return fmt.Errorf("a number is not finite")
	}
	return checkName("spec hash", s.SpecHash)
}

func (s *Samples) validateOrdinals() error {
	last := int64(-1)
	for _, ordinal := range s.Ordinal {
		if ordinal <= last {
			return fmt.Errorf("ordinal %d after %d: ordinals ascend from 0", ordinal, last)
		}
		last = ordinal
	}
	return nil
}

// samplesFields is the metadata of samples.
type samplesFields struct {
	Dim     int `json:"dim"`
	Outputs int `json:"outputs"`
}

// EncodeSamples returns the value and the headers of the message for s.
func EncodeSamples(s *Samples) ([]byte, []Header, error) {
	if err := s.Validate(); err != nil {
		return nil, nil, fmt.Errorf("encode samples of partition %d: %w", s.Partition, err)
	}
	y := numbers("class", s.Targets.Class)
	if s.Targets.Class == nil {
		y = listColumn(numbers("y", s.Targets.Values), s.Rows(), s.Targets.Outputs)
	}
	columns := []column{numbers("ordinal", s.Ordinal)}
	if len(s.Identity) > 0 {
		columns = append(columns, numbers("identity", s.Identity))
	}
	columns = append(columns, listColumn(numbers("x", s.X), s.Rows(), s.Dim), y)
	value, err := samplesMetadata.encodeMessage(samplesFields{s.Dim, s.Targets.Outputs}, nil, columns...)
	if err != nil {
		return nil, nil, fmt.Errorf("encode samples of partition %d: %w", s.Partition, err)
	}
	return value, []Header{
		textHeader(headerSampleSpec, s.SpecHash), numberHeader(headerSamplePart, int64(s.Partition)),
		numberHeader(headerSampleFirst, s.Ordinal[0]),
	}, nil
}

// SamplesOf reports whether headers belong to samples of that spec and partition.
func SamplesOf(headers []Header, specHash string, partition int32) bool {
	r := readHeaders(headers)
	return r.text(headerSampleSpec) == specHash && r.number(headerSamplePart) == int64(partition) && r.err == nil
}

// DecodeSamples reads a message that [EncodeSamples] wrote. The result is valid
// ([Samples.Validate]).
func DecodeSamples(dec *arrowio.Decoder, value []byte, headers []Header) (*Samples, error) {
	r := readHeaders(headers)
	s := &Samples{SpecHash: r.text(headerSampleSpec), Partition: int32(r.number(headerSamplePart))}
	if r.err != nil {
		return nil, fmt.Errorf("decode samples: %w", r.err)
	}
	var doc samplesFields
	rec, err := samplesMetadata.decodeMessage(dec, value, &doc)
	if err != nil {
		return nil, fmt.Errorf("decode samples: %w", err)
	}
	defer rec.Release()
	if doc.Dim < 1 || doc.Outputs < 1 {
		return nil, fmt.Errorf("decode samples: %w: %d dimensions, %d outputs", ErrMalformed, doc.Dim, doc.Outputs)
	}
	s.Dim, s.Targets.Outputs = doc.Dim, doc.Outputs
	if err := readSamples(rec, s); err != nil {
		return nil, fmt.Errorf("decode samples: %w", err)
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("decode samples: %w: %w", ErrMalformed, err)
	}
	return s, nil
}

// readSamples copies the columns.
func readSamples(rec arrow.Record, s *Samples) error {
	r := &reader{rec: rec}
	s.Ordinal, s.X = slices.Clone(values[int64](r, "ordinal")), slices.Clone(lists[float32](r, "x", s.Dim))
	if r.has("identity") {
		s.Identity = slices.Clone(values[uint64](r, "identity"))
	}
	if r.has("class") {
		s.Targets.Class = slices.Clone(values[int32](r, "class"))
	} else {
		s.Targets.Values = slices.Clone(lists[float32](r, "y", s.Targets.Outputs))
	}
	return r.err
}
