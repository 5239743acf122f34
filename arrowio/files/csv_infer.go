package files

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// fieldClass is the narrowest type of the text of one field.
type fieldClass uint8

const (
	classText fieldClass = iota
	classBool
	classPadded // a whole number with leading zeros
	classInt
	classFloat
	classDate
	classLocal   // a date with a time
	classTime    // a date with a time and a zone
	fieldClasses // the number of classes
)

// classOf returns the narrowest class of a field. The first byte distinguishes most words from
// everything else.
func classOf(s string) fieldClass {
	if s == "" {
		return classText
	}
	switch c := s[0]; {
	case c >= '0' && c <= '9':
		return classOfDigits(s)
	case c == '-' || c == '+' || c == '.' || strings.IndexByte("iInN", c) >= 0: // inf and nan are numbers
		return classOfNumber(s)
	}
	if _, ok := parseBool(s); ok {
		return classBool
	}
	return classText
}

// classOfDigits is classOf for a field that starts with a digit.
func classOfDigits(s string) fieldClass {
	if len(s) < len(time.DateOnly) || s[4] != '-' {
		return classOfNumber(s)
	}
	switch _, ok := parseTime(s); {
	case !ok:
		return classText
	case len(s) == len(time.DateOnly):
		return classDate
	case strings.ContainsAny(s[len(time.DateOnly):], "Zz+-"):
		return classTime
	}
	return classLocal
}

// classOfNumber is classOf for a field that can only be a number.
func classOfNumber(s string) fieldClass {
	if strings.Trim(s[1:], "0123456789") == "" { // otherwise ParseInt would make an error for every fraction
		if _, err := strconv.ParseInt(s, 10, 64); err == nil {
			if len(s) > 1 && s[0] == '0' {
				return classPadded
			}
			return classInt
		}
	}
	if _, ok := parseFloat(s, 64); ok {
		return classFloat
	}
	return classText
}

// columnGuess records the classes of the fields of a column.
type columnGuess struct {
	seen [fieldClasses]bool
	// texts counts fields of no class, at most judgedTexts, words the ones among them that are
	// neither numbers nor dates in any form.
	texts, words int
	fields       int64 // of any class
}

// judgedTexts bounds the fields of a column that are judged.
const judgedTexts = 1000

func (g *columnGuess) add(s string) {
	class := classOf(s)
	g.seen[class] = true
	g.fields++
	if g.texts < judgedTexts {
		g.texts++
		if class == classText && encoder.IsWords(s) {
			g.words++
		}
	}
}

// field is the column in a schema. If it is text, but not mostly words, a reader may take it for a
// column of numbers, dates or booleans.
func (g *columnGuess) field(name string, delimiter rune) arrow.Field {
	f := arrow.Field{Name: name, Type: g.dataType(), Nullable: true}
	if f.Type.ID() == arrow.STRING && 2*g.words <= g.texts {
		f.Metadata = textMarks(delimiter)
	}
	return f
}

// The types that can be inferred for a text column, and the field classes that belong to each.
// Earlier types are preferred.
var guesses = []struct {
	dataType arrow.DataType
	classes  []fieldClass
}{
	{arrow.FixedWidthTypes.Boolean, []fieldClass{classBool}},
	{arrow.PrimitiveTypes.Int64, []fieldClass{classInt}},
	{arrow.PrimitiveTypes.Float64, []fieldClass{classPadded, classInt, classFloat}},
	{arrow.FixedWidthTypes.Date32, []fieldClass{classDate}},
	{arrow.FixedWidthTypes.Timestamp_us, []fieldClass{classDate, classLocal}},
	{arrow.FixedWidthTypes.Timestamp_us, []fieldClass{classDate, classTime}},
}

// dataType returns the type that all fields have. A column is text if it has none, if it holds
// nothing but nulls, or if some of its whole numbers are codes, such as 01. The encoder decides
// what text means.
func (g *columnGuess) dataType() arrow.DataType {
	for i := range guesses {
		if g.fits(guesses[i].classes) {
			return guesses[i].dataType
		}
	}
	return arrow.BinaryTypes.String
}

// fits reports whether every field is of one of the classes, and some is of more than padded
// numbers.
func (g *columnGuess) fits(classes []fieldClass) bool {
	found := false
	for class, seen := range g.seen {
		if seen && !slices.Contains(classes, fieldClass(class)) {
			return false
		}
		found = found || seen
	}
	return found && (!g.seen[classPadded] || g.seen[classFloat])
}

// scanRows is the number of rows between two calls of Options.Scan.
const scanRows = 8192

// inferTypes reads the remaining rows and sets the type of each column that has none. It counts the
// words of these that are null in columns.
func inferTypes(lines *csvLines, fields []arrow.Field, columns []csvField, tick func()) error {
	guesses := make([]columnGuess, len(fields))
	for row := 1; ; row++ {
		texts, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		for i, s := range texts {
			switch {
			case fields[i].Type != nil:
			case !columns[i].nulls.has(s):
				guesses[i].add(s)
			case s != "":
				columns[i].countWord(s)
			}
		}
		if row%scanRows == 0 {
			tick()
		}
	}
	for i := range fields {
		if fields[i].Type == nil {
			fields[i] = guesses[i].field(fields[i].Name, lines.delimiter)
			columns[i].texts = guesses[i].fields
		}
	}
	return nil
}

// countWord counts a row with a word that is null.
func (c *csvField) countWord(word string) {
	if c.words == nil {
		c.words = map[string]int64{}
	}
	if n, known := c.words[word]; known {
		c.words[word] = n + 1
	} else {
		c.words[strings.Clone(word)] = 1
	}
}

// nullSet holds the fields that mean null.
type nullSet map[string]struct{}

func newNullSet(words []string) nullSet {
	n := make(nullSet, len(words))
	for _, w := range words {
		n[w] = struct{}{}
	}
	return n
}

// without returns the set without some words.
func (n nullSet) without(words []string) nullSet {
	if len(words) == 0 {
		return n
	}
	rest := maps.Clone(n)
	for _, w := range words {
		delete(rest, w)
	}
	return rest
}

func (n nullSet) has(s string) bool {
	_, ok := n[s]
	return ok
}
