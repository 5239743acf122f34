package files

import (
	"errors"
	"io"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
)

// typeGuess is the narrowest type that holds every field of a column seen so
// far. Guesses only widen: unknown to bool or int64, int64 to float64, anything
// to utf8.
type typeGuess uint8

const (
	guessUnknown typeGuess = iota // only nulls
	guessBool
	guessInt64
	guessFloat64
	guessUTF8
)

// see returns the guess after one more field that is not null.
func (g typeGuess) see(s string) typeGuess {
	switch g {
	case guessUTF8:
		return g
	case guessBool:
		if _, ok := parseBool(s); ok {
			return g
		}
		return guessUTF8
	case guessUnknown:
		if _, ok := parseBool(s); ok {
			return guessBool
		}
	}
	if g != guessFloat64 {
		if _, err := strconv.ParseInt(s, 10, 64); err == nil {
			return guessInt64
		}
	}
	if _, ok := parseFloat(s, 64); ok {
		return guessFloat64
	}
	return guessUTF8
}

// dataType returns the Arrow type of the guess; a column of nulls is text.
func (g typeGuess) dataType() arrow.DataType {
	switch g {
	case guessBool:
		return arrow.FixedWidthTypes.Boolean
	case guessInt64:
		return arrow.PrimitiveTypes.Int64
	case guessFloat64:
		return arrow.PrimitiveTypes.Float64
	}
	return arrow.BinaryTypes.String
}

// scanRows is how many rows pass between two calls of Options.Scan.
const scanRows = 8192

// inferTypes reads the rows that are left and returns the type of each column;
// columns with a known type keep it.
func inferTypes(lines *csvLines, known []arrow.DataType, nulls nullSet, tick func()) ([]arrow.DataType, error) {
	guesses := make([]typeGuess, len(known))
	for row := 1; ; row++ {
		fields, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for i, s := range fields {
			if known[i] == nil && !nulls.has(s) {
				guesses[i] = guesses[i].see(s)
			}
		}
		if row%scanRows == 0 {
			tick()
		}
	}
	types := make([]arrow.DataType, len(known))
	for i, t := range known {
		if types[i] = t; t == nil {
			types[i] = guesses[i].dataType()
		}
	}
	return types, nil
}

// nullSet answers whether a field means null.
type nullSet struct {
	words   map[string]struct{}
	longest int
	empty   bool
}

func newNullSet(words []string) nullSet {
	n := nullSet{words: make(map[string]struct{}, len(words))}
	for _, w := range words {
		n.words[w] = struct{}{}
		n.longest = max(n.longest, len(w))
		n.empty = n.empty || w == ""
	}
	return n
}

// has is asked of every field, so the map is left to the few short ones.
func (n nullSet) has(s string) bool {
	if len(s) == 0 {
		return n.empty
	}
	if len(s) > n.longest {
		return false
	}
	_, ok := n.words[s]
	return ok
}
