package encoder

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// DefaultNullWords returns the texts that mean a missing value in every column of texts, unless
// they name a class of the label: the words of pandas, and the question mark of the UCI archive.
// The empty text is missing too.
func DefaultNullWords() []string {
	return []string{
		"#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA",
		"NULL", "NaN", "None", "n/a", "nan", "null", "?",
	}
}

// nullWords are the texts that mean a missing value.
type nullWords struct {
	// defaults and added are the words of DefaultNullWords and of the options.
	defaults, added map[string]bool
	// numbers are the added words that are numbers, also as columns of float32 hold them. They are
	// missing in columns of numbers too.
	numbers []float64
}

// The maximum number of added null words and of their bytes.
const maxNullWords, maxNullWordBytes = 64, 64

var defaultNullWords = setOf(DefaultNullWords()...)

// newNullWords returns the default words and the added ones.
func newNullWords(added []string) *nullWords {
	n := &nullWords{defaults: defaultNullWords, added: make(map[string]bool, len(added))}
	for _, word := range added {
		word = trimmed(word)
		n.added[word] = true
		if v, err := strconv.ParseFloat(word, 64); err == nil && !math.IsNaN(v) {
			n.numbers = append(n.numbers, v)
			if short := float64(float32(v)); short != v && !math.IsInf(short, 0) {
				n.numbers = append(n.numbers, short)
			}
		}
	}
	return n
}

// NullTexts returns all texts that mean a missing value, the empty one first.
func (e *Encoder) NullTexts() []string {
	return slices.Concat([]string{""}, DefaultNullWords(), e.NullWords)
}

// NullNumbers returns the numbers that mean a missing value.
func (e *Encoder) NullNumbers() []float64 { return newNullWords(e.NullWords).numbers }

// has reports whether a text means a missing value.
func (n *nullWords) has(text string) bool { return n != nil && (n.defaults[text] || n.added[text]) }

// adds reports whether a text means a missing value because the options say so.
func (n *nullWords) adds(text string) bool { return n != nil && len(n.added) > 0 && n.added[text] }

// nullWordFault returns the first fault of added words, "" if they have none.
func nullWordFault(words []string) string {
	if len(words) > maxNullWords {
		return "null_values has more than " + strconv.Itoa(maxNullWords) + " words"
	}
	for _, w := range words {
		if len(w) > maxNullWordBytes || !learnable(w) {
			return "null_values: " + strconv.Quote(w) + " is not valid UTF-8 of at most " +
				strconv.Itoa(maxNullWordBytes) + " bytes"
		}
	}
	if name, found := repeated(words); found {
		return "null_values names " + strconv.Quote(name) + " twice"
	}
	return ""
}

// record returns a record in which the numbers that mean a missing value are null. The caller
// releases it.
func (n *nullWords) record(rec arrow.Record) arrow.Record {
	if len(n.numbers) == 0 {
		rec.Retain()
		return rec
	}
	columns := make([]arrow.Array, rec.NumCols())
	for i := range columns {
		columns[i] = n.without(rec.Column(i))
		defer columns[i].Release()
	}
	return array.NewRecord(rec.Schema(), columns, rec.NumRows())
}

// without returns a column of single numbers with nulls for the numbers that mean a missing value,
// other columns as they are. The caller releases it.
func (n *nullWords) without(a arrow.Array) arrow.Array {
	a.Retain()
	t, readable := typeOf(a.DataType())
	if !readable || t.kind != Numeric || a.DataType().ID() == arrow.NULL {
		return a
	}
	const step = 256
	var values [step]float64
	var bits []byte
	for first := 0; first < a.Len(); first += step {
		part := picked{first: first, n: min(step, a.Len()-first)}
		loadNumbers(values[:part.n], a, part)
		for i, v := range values[:part.n] {
			if !slices.Contains(n.numbers, v) {
				continue
			}
			if bits == nil {
				bits = validity(a)
			}
			bitutil.ClearBit(bits, a.Data().Offset()+first+i)
		}
	}
	if bits == nil {
		return a
	}
	defer a.Release()
	old := a.Data()
	buffers := slices.Clone(old.Buffers())
	buffers[0] = memory.NewBufferBytes(bits)
	data := array.NewData(old.DataType(), old.Len(), buffers, old.Children(), array.UnknownNullCount, old.Offset())
	defer data.Release()
	return array.MakeFromData(data)
}

// validity returns a copy of the validity bits of a column from offset 0 on.
func validity(a arrow.Array) []byte {
	n := a.Data().Offset() + a.Len()
	bits := make([]byte, bitutil.BytesForBits(int64(n)))
	if old := a.NullBitmapBytes(); len(old) > 0 {
		copy(bits, old)
		return bits
	}
	for i := range bits {
		bits[i] = math.MaxUint8
	}
	return bits
}

// trimmed returns a text without the blanks around it.
func trimmed(s string) string {
	if s == "" || plainEnd(s[0]) && plainEnd(s[len(s)-1]) {
		return s
	}
	return strings.TrimSpace(s)
}

// plainEnd reports whether a byte is neither a blank nor part of one.
func plainEnd(c byte) bool { return c > ' ' && c < 0x80 }
