package streams

import (
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Label is the label column of every stream.
const Label = "class"

// stream makes the rows of one generator.
type stream struct {
	columns []string
	// row returns the values of the next row and its class. The concept counts from 0 and changes with the stream's
	// quarters.
	row func(concept int) (values []float64, class string)
}

// concepts is how many concepts follow one another in a stream that changes.
const concepts = 4

var generators = map[string]func(rng *rand.Rand, changes bool) stream{
	"sea": sea, "hyperplane": hyperplane, "led": led, "agrawal": agrawal,
}

// Names lists the streams.
func Names() []string { return []string{"sea", "hyperplane", "led", "agrawal"} }

// Write writes rows of a stream as CSV. One that does not change stays with its first concept.
func Write(w io.Writer, name string, rows int, seed uint64, changes bool) error {
	if !slices.Contains(Names(), name) {
		return fmt.Errorf("no stream %q, there are %v", name, Names())
	}
	s := generators[name](rand.New(rand.NewPCG(seed, 0xd21f7)), changes)
	lines := csv.NewWriter(w)
	if err := lines.Write(append(slices.Clone(s.columns), Label)); err != nil {
		return err
	}
	for i := range rows {
		concept := 0
		if changes {
			concept = i * concepts / rows
		}
		values, class := s.row(concept)
		line := make([]string, 0, len(values)+1)
		for _, v := range values {
			line = append(line, strconv.FormatFloat(v, 'g', 7, 64))
		}
		if err := lines.Write(append(line, class)); err != nil {
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

// either is the name of one of two classes, which is the other one with the given probability.
func either(rng *rand.Rand, yes bool, noise float64) string {
	if yes != (rng.Float64() < noise) {
		return "yes"
	}
	return "no"
}
