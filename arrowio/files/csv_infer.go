package files

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
)

// A text column holds values of a type if at most one in badShare of its fields, not counting nulls, is anything else.
// So a few typos in many rows do not turn numbers into words, and words that are mostly numbers stay words. In a short
// file a single typo is a larger share: it is tolerated from loneBadFields fields on.
const (
	badShare      = 100
	loneBadFields = 20
)

// mostly reports whether a column of fields, bad of which have another type, counts as a column of the
// type.
func mostly(fields, bad int64) bool {
	return bad < fields && (bad*badShare <= fields || bad == 1 && fields >= loneBadFields)
}

// fieldClass is what the text of one field could be.
type fieldClass uint8

const (
	classText fieldClass = iota
	classBool
	classInt
	classFloat
	classDate
	classTime
	fieldClasses // how many there are
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
	if _, ok := parseTime(s); !ok {
		return classText
	}
	if len(s) == len(time.DateOnly) {
		return classDate
	}
	return classTime
}

// classOfNumber is classOf for a field that can only be a number.
func classOfNumber(s string) fieldClass {
	if strings.Trim(s[1:], "0123456789") == "" { // otherwise ParseInt would make an error for every fraction
		if _, err := strconv.ParseInt(s, 10, 64); err == nil {
			return classInt
		}
	}
	if _, ok := parseFloat(s, 64); ok {
		return classFloat
	}
	return classText
}

// columnGuess counts the fields of a column by class, with the first of each.
type columnGuess struct {
	fields [fieldClasses]int64
	first  [fieldClasses]badField
}

// badField is a field that is not of its column's type.
type badField struct {
	line int64
	text string
}

// see adds a field that is not null.
func (g *columnGuess) see(s string, line int64) {
	class := classOf(s)
	if g.fields[class] == 0 {
		g.first[class] = badField{line, shortened(s)}
	}
	g.fields[class]++
}

// The types that can be inferred for a text column, and the field classes that belong to each. Earlier types are
// preferred.
var guesses = []struct {
	dataType arrow.DataType
	classes  []fieldClass
}{
	{arrow.FixedWidthTypes.Boolean, []fieldClass{classBool}},
	{arrow.PrimitiveTypes.Int64, []fieldClass{classInt}},
	{arrow.PrimitiveTypes.Float64, []fieldClass{classInt, classFloat}},
	{arrow.FixedWidthTypes.Date32, []fieldClass{classDate}},
	{arrow.FixedWidthTypes.Timestamp_us, []fieldClass{classDate, classTime}},
}

// dataType returns the type of the fields, and the fields that are not of it, none if strict. A column of nulls is
// text, and so is one with fields of several classes.
func (g *columnGuess) dataType(strict bool) (arrow.DataType, BadFields) {
	for i := range guesses {
		t := &guesses[i]
		if bad := g.bad(t.classes); g.fits(t.classes) && !(strict && bad.Bad > 0) {
			return t.dataType, bad
		}
	}
	return arrow.BinaryTypes.String, BadFields{}
}

// fits reports whether the column mostly holds fields of the classes. Fields of a class that widens these all count
// against them: one fraction makes a column of whole numbers a column of floats, and one time makes a column of dates a
// column of times.
func (g *columnGuess) fits(classes []fieldClass) bool {
	bad := g.bad(classes)
	widest := classes[len(classes)-1]
	if widest == classInt && g.fields[classFloat] > 0 || widest == classDate && g.fields[classTime] > 0 {
		return false
	}
	return mostly(bad.Fields, bad.Bad)
}

// bad returns the fields that are not of the classes.
func (g *columnGuess) bad(classes []fieldClass) BadFields {
	var b BadFields
	for class, n := range g.fields {
		if n == 0 {
			continue
		}
		b.Fields += n
		if slices.Contains(classes, fieldClass(class)) {
			continue
		}
		b.Bad += n
		if first := g.first[class]; b.Line == 0 || first.line < b.Line {
			b.Line, b.Text = first.line, first.text
		}
	}
	return b
}

// scanRows is how many rows pass between two calls of Options.Scan.
const scanRows = 8192

// inferTypes reads the remaining rows and returns the type of each column and the fields that do not fit it. Columns
// with a known type keep it, and their fields are not reported.
func inferTypes(lines *csvLines, known []arrow.DataType, o Options, tick func()) ([]arrow.DataType, []BadFields, error) {
	nulls := newNullSet(o.NullValues)
	columns := make([]columnGuess, len(known))
	for row := 1; ; row++ {
		fields, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		for i, s := range fields {
			if known[i] == nil && !nulls.has(s) {
				columns[i].see(s, lines.line)
			}
		}
		if row%scanRows == 0 {
			tick()
		}
	}
	types, bad := make([]arrow.DataType, len(known)), make([]BadFields, len(known))
	for i, t := range known {
		if types[i] = t; t == nil {
			types[i], bad[i] = columns[i].dataType(o.Strict)
		}
	}
	return types, bad, nil
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

func (n nullSet) has(s string) bool {
	_, ok := n[s]
	return ok
}
