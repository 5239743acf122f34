package wire

import (
	"slices"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/internal/outside"
)

func (s *Spec) describe() string {
	if s == nil {
		return "spec"
	}
	return "spec of exploration " + cutText(s.Exploration, maxNameBytes)
}

func (s *Spec) canonical() {
	s.PlannedAt = canonicalTime(s.PlannedAt)
	s.Reason = cutText(s.Reason, outside.MaxText)
	s.Columns = boundedColumns(s.Columns)
}

// EncodeSpec returns the message for s.
func EncodeSpec(s *Spec) ([]byte, error) { return encodeControl(specDocument, s) }

// DecodeSpec reads a message that [EncodeSpec] wrote. The result is valid ([Spec.Validate]).
func DecodeSpec(value []byte) (*Spec, error) { return decodeControl[Spec](specDocument, value) }

// boundedColumns cuts the texts of a report on columns, which is for people, to their bounds.
func boundedColumns(columns []encoder.ColumnUse) []encoder.ColumnUse {
	columns = slices.Clone(columns)
	for i := range columns {
		c := &columns[i]
		c.Column = cutText(c.Column, outside.MaxText)
		c.Type = cutText(c.Type, outside.MaxText)
		c.Reason = cutText(c.Reason, outside.MaxText)
	}
	return columns
}
