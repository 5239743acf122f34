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
)

// A text column holds values of a type if at most one in badShare of its fields, not counting
// nulls, is anything else. So a few typos in many rows do not turn numbers into words, and words
// that are mostly numbers stay words. In a short file a single typo is a larger share: it is
// tolerated from loneBadFields fields on.
const (
	badShare      = 100
	loneBadFields = 20
)

// mostly reports whether a column of fields, bad of which have another type, counts as a column of
// the type.
func mostly(fields, bad int64) bool {
	return bad < fields && (bad*badShare <= fields || bad == 1 && fields >= loneBadFields)
}

// fieldClass is the narrowest type of the text of one field.
type fieldClass uint8

const (
	classText fieldClass = iota
	classBool
	classPadded // a whole number with leading zeros
	classInt
	classFloat
	classComma     // a number with a decimal comma
	classThousands // such as 1,234: a decimal comma, or thousands
	classDate
	classTime
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
			if len(s) > 1 && s[0] == '0' {
				return classPadded
			}
			return classInt
		}
	}
	if _, ok := parseFloat(s, 64); ok {
		return classFloat
	}
	switch _, sure, ok := parseCommaFloat(s); {
	case sure && ok:
		return classComma
	case ok:
		return classThousands
	}
	return classText
}

// columnGuess counts the fields of a column by class, with the first of each.
type columnGuess struct {
	fields [fieldClasses]int64
	first  [fieldClasses]badField
}

// badField is a field of another type than its column's.
type badField struct {
	line int64
	text string
}

// see adds a field that is not null. Between semicolons a comma is decimal.
func (g *columnGuess) see(s string, line int64, semicolons bool) {
	class := classOf(s)
	if class == classThousands && semicolons {
		class = classComma
	}
	if g.fields[class] == 0 {
		g.first[class] = badField{line, shortened(s)}
	}
	g.fields[class]++
}

// The types that can be inferred for a text column, and the field classes that belong to each.
// Earlier types are preferred.
var guesses = []struct {
	dataType arrow.DataType
	classes  []fieldClass
}{
	{arrow.FixedWidthTypes.Boolean, []fieldClass{classBool}},
	{arrow.PrimitiveTypes.Int64, []fieldClass{classPadded, classInt}},
	{arrow.PrimitiveTypes.Float64, []fieldClass{classPadded, classInt, classFloat}},
	{arrow.PrimitiveTypes.Float64, []fieldClass{classPadded, classInt, classThousands, classComma}},
	{arrow.FixedWidthTypes.Date32, []fieldClass{classDate}},
	{arrow.FixedWidthTypes.Timestamp_us, []fieldClass{classDate, classTime}},
}

// dataType returns the type of the fields, whether they have decimal commas, and the fields that
// are not of it, none if strict. A column of nulls is text, and so is one with fields of several
// classes.
func (g *columnGuess) dataType(strict bool) (found arrow.DataType, comma bool, bad BadFields) {
	for i := range guesses {
		t := &guesses[i]
		bad = g.bad(t.classes)
		if g.fits(t.classes) && !(strict && bad.Bad > 0) {
			return t.dataType, t.classes[len(t.classes)-1] == classComma, bad
		}
	}
	return arrow.BinaryTypes.String, false, BadFields{}
}

// fits reports whether the column mostly holds fields of the classes. Fields of a class that widens
// these all count against them: one fraction makes a column of whole numbers a column of floats,
// and one time makes a column of dates a column of times. Whole numbers of which more than a few
// have leading zeros are codes, such as 01 or 00501, and stay text.
func (g *columnGuess) fits(classes []fieldClass) bool {
	bad := g.bad(classes)
	widest := classes[len(classes)-1]
	if widest == classInt && g.fields[classFloat] > 0 || widest == classDate && g.fields[classTime] > 0 {
		return false
	}
	if slices.Contains(classes, classPadded) && g.fields[classFloat] == 0 && g.fields[classComma] == 0 &&
		!mostly(bad.Fields, g.fields[classPadded]) {
		return false // codes: 01 is not 1
	}
	if widest == classComma && g.fields[classComma]*badShare <= bad.Fields { // perhaps thousands, and a few slips
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

// scanRows is the number of rows between two calls of Options.Scan.
const scanRows = 8192

// inferTypes reads the remaining rows and returns the type of each column. It records its findings
// about columns of unknown type in fields.
func inferTypes(
	lines *csvLines,
	known []arrow.DataType,
	fields []csvField,
	o Options,
	tick func(),
) ([]arrow.DataType, error) {
	columns := make([]columnGuess, len(known))
	for row := 1; ; row++ {
		texts, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for i, s := range texts {
			switch {
			case known[i] != nil:
			case !fields[i].nulls.has(s):
				columns[i].see(s, lines.line, lines.delimiter == ';')
			case s != "":
				fields[i].countWord(s)
			}
		}
		if row%scanRows == 0 {
			tick()
		}
	}
	types := slices.Clone(known)
	for i := range types {
		if f := &fields[i]; types[i] == nil {
			types[i], f.comma, f.bad = columns[i].dataType(o.Strict)
			f.found = true
			f.texts = columns[i].bad(nil).Fields
		}
	}
	return types, nil
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
