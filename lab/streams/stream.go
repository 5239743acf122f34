package streams

import (
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Label is the label column of every stream.
const Label = "class"

// stream makes the rows of one generator.
type stream struct {
	columns []string
	// row returns the values of the next row and its class. The concept counts from 0 and changes
	// with the stream's quarters.
	row func(concept int) (values []float64, class string)
}

// concepts is the number of successive concepts in a stream that changes.
const concepts = 4

var generators = map[string]func(rng *rand.Rand, changes bool) stream{
	"sea": sea, "hyperplane": hyperplane, "led": led, "agrawal": agrawal, "turn": turn,
}

// Names lists the streams.
func Names() []string { return []string{"sea", "hyperplane", "led", "agrawal", "turn"} }

// Row is a row of a stream.
type Row struct {
	Values []float64
	Class  string
}

// Rows returns the columns of a stream and its rows. Without changes, all rows follow the first
// concept.
func Rows(name string, rows int, seed uint64, changes bool) (columns []string, all iter.Seq[Row], err error) {
	if !slices.Contains(Names(), name) {
		return nil, nil, fmt.Errorf("unknown stream %q, want one of %v", name, Names())
	}
	s := generators[name](rand.New(rand.NewPCG(seed, 0xd21f7)), changes)
	return s.columns, func(yield func(Row) bool) {
		for i := range rows {
			concept := 0
			if changes {
				concept = i * concepts / rows
			}
			values, class := s.row(concept)
			if !yield(Row{values, class}) {
				return
			}
		}
	}, nil
}

// Write writes rows of a stream as CSV.
func Write(w io.Writer, name string, rows int, seed uint64, changes bool) error {
	columns, all, err := Rows(name, rows, seed, changes)
	if err != nil {
		return err
	}
	lines := csv.NewWriter(w)
	if err := lines.Write(append(slices.Clone(columns), Label)); err != nil {
		return err
	}
	for row := range all {
		line := make([]string, 0, len(row.Values)+1)
		for _, v := range row.Values {
			line = append(line, strconv.FormatFloat(v, 'g', 7, 64))
		}
		if err := lines.Write(append(line, row.Class)); err != nil {
			return err
		}
	}
	lines.Flush()
	return lines.Error()
}

// numbered returns n names of columns.
func numbered(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, prefix+strconv.Itoa(i))
	}
	return names
}

// either returns the name of one of two classes, and the other one with probability noise.
func either(rng *rand.Rand, yes bool, noise float64) string {
	if yes != (rng.Float64() < noise) {
		return "yes"
	}
	return "no"
}
