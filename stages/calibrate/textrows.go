package calibrate

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/stages/events"
)

// textShape is the key of all rows of JSON: they have no types, so one lacks what another has.
const textShape = "rows of JSON"

// textRows are the first rows of JSON in one partition, as they are. What columns they have, and what these are read as,
// is decided when there are no more of them: it depends on the rows, not on the messages that they came in.
type textRows struct {
	text []byte
	ends []int // of the rows in it
}

// Rows of JSON are read again in pieces of at most so many rows and bytes.
const (
	pieceRows  = 256
	pieceBytes = 256 << 10
)

// piece is a run of rows that can be read together.
type piece struct{ from, to int }

func (t *textRows) add(row []byte) {
	t.text = append(t.text, row...)
	t.ends = append(t.ends, len(t.text))
}

func (t *textRows) start(row int) int {
	if row == 0 {
		return 0
	}
	return t.ends[row-1]
}

func (t *textRows) of(p piece) []byte { return t.text[t.start(p.from):t.start(p.to)] }

// survey adds the rows to a survey, and returns the pieces in which it could read them: rows of few common columns may be
// too much together.
func (t *textRows) survey(s *formats.Survey) (pieces []piece) {
	var try func(p piece)
	try = func(p piece) {
		switch err := s.Add(t.of(p)); {
		case err == nil:
			pieces = append(pieces, p)
		case p.to-p.from > 1:
			middle := (p.from + p.to) / 2
			try(piece{p.from, middle})
			try(piece{middle, p.to})
		}
	}
	for from := 0; from < len(t.ends); {
		to := from + 1
		for to < min(len(t.ends), from+pieceRows) && t.ends[to]-t.start(from) <= pieceBytes {
			to++
		}
		try(piece{from, to})
		from = to
	}
	return pieces
}

// commonest divides the rows: a column must have a value in more than one of so many, or be named by the configuration.
const commonest = 100

// textColumns decides the columns of the rows of JSON in all partitions. Pieces are in the order of scans.
func textColumns(scans []*scan, e events.Config, limits arrowio.Limits) (columns []formats.Column, pieces [][]piece, others formats.Others) {
	named := setOf(slices.Concat(e.Features, e.Label, e.Passthrough, e.Exclude))
	survey := formats.NewSurvey(limits, func(name string) bool { return named[name] })
	for _, one := range scans {
		pieces = append(pieces, one.first.text.survey(survey))
	}
	columns, others = survey.Columns(survey.Rows()/commonest + 1)
	return columns, pieces, others
}

// schemaOfText is the schema of rows of JSON that all have a value in each column.
func schemaOfText(columns []formats.Column) *arrow.Schema {
	types := map[encoder.Kind]arrow.DataType{
		encoder.Category: arrow.BinaryTypes.String, encoder.Numeric: arrow.PrimitiveTypes.Float64, encoder.Bool: arrow.FixedWidthTypes.Boolean, "": arrow.Null,
	}
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		typ := types[c.Kind]
		if c.Kind == encoder.Vector {
			typ = arrow.FixedSizeListOf(int32(c.Width), arrow.PrimitiveTypes.Float64)
		}
		fields[i] = arrow.Field{Name: c.Name, Type: typ, Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

// reading opens pieces of the rows, read as these columns.
func (t *textRows) reading(reader *formats.Decoder, p piece) func() (arrow.Record, error) {
	return func() (arrow.Record, error) {
		recs, err := reader.Decode(t.of(p))
		if err != nil {
			return nil, fmt.Errorf("rows %d to %d of JSON: %w", p.from, p.to, err)
		}
		return recs[0], nil
	}
}
