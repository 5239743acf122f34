package rowid

import (
	"math"
	"math/bits"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/cespare/xxhash/v2"
)

// nanBits are the bits of every NaN.
const nanBits = 0x7ff8000000000001

// listFactor chains the elements of a list; noValue is the word of an element without a value.
const (
	listFactor = 0x9e3779b97f4a7c15
	noValue    = 0xd1b54a32d192ed03
)

// fold returns high ⊕ low of the 128-bit product.
func fold(x, y uint64) uint64 {
	high, low := bits.Mul64(x, y)
	return high ^ low
}

// numberWord returns the word of a number.
func numberWord(v float64) uint64 {
	if v != v {
		return nanBits
	}
	return math.Float64bits(v + 0) // one zero
}

// textWord returns the word of a text. A decimal number is the number: whether a column of JSON has
// numbers or texts may depend on the other rows of its message.
func textWord(s string) uint64 {
	if v, ok := decimal(s); ok {
		return numberWord(v)
	}
	return ^xxhash.Sum64String(s)
}

// decimal reads a finite decimal number without spaces.
func decimal(s string) (float64, bool) {
	const longest = 40 // that a number is written with
	if s == "" || len(s) > longest || s[len(s)-1] > '9' {
		return 0, false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
		default:
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}

// add adds the values of a column to the sums.
func (h *Hasher) add(a arrow.Array, rows []int32, c column) {
	if a.DataType().ID() == arrow.NULL {
		return
	}
	switch a := a.(type) {
	case *array.Float64:
		addNumbers(h, a, a.Float64Values(), rows, c)
	case *array.Float32:
		addNumbers(h, a, a.Float32Values(), rows, c)
	case *array.Int64:
		addNumbers(h, a, a.Int64Values(), rows, c)
	case *array.Int32:
		addNumbers(h, a, a.Int32Values(), rows, c)
	case *array.Int16:
		addNumbers(h, a, a.Int16Values(), rows, c)
	case *array.Int8:
		addNumbers(h, a, a.Int8Values(), rows, c)
	case *array.Uint64:
		addNumbers(h, a, a.Uint64Values(), rows, c)
	case *array.Uint32:
		addNumbers(h, a, a.Uint32Values(), rows, c)
	case *array.Uint16:
		addNumbers(h, a, a.Uint16Values(), rows, c)
	case *array.Uint8:
		addNumbers(h, a, a.Uint8Values(), rows, c)
	case *array.Dictionary:
		h.addEntries(a, rows, c)
	default:
		for i := range h.sums {
			if row := int(rowOf(rows, i)); !a.IsNull(row) {
				h.sums[i] += fold(wordOf(a, row)^c.a, c.b)
				h.present[i] = true
			}
		}
	}
}

// number is a type of numbers that Go has.
type number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// addNumbers is add for a column of numbers.
func addNumbers[T number](h *Hasher, a arrow.Array, values []T, rows []int32, c column) {
	nulls := hasNulls(a)
	for i := range h.sums {
		row := int(rowOf(rows, i))
		if nulls && a.IsNull(row) {
			continue
		}
		h.sums[i] += fold(numberWord(float64(values[row]))^c.a, c.b)
		h.present[i] = true
	}
}

// hasNulls reports whether a value of the array is null. It counts bits instead of calling NullN,
// which caches its result in the array and so races between readers of one record.
func hasNulls(a arrow.Array) bool {
	valid := a.NullBitmapBytes()
	return len(valid) > 0 && bitutil.CountSetBits(valid, a.Data().Offset(), a.Len()) < a.Len()
}

// addEntries is add for a dictionary. Each entry is read once, unless there are more entries than
// rows.
func (h *Hasher) addEntries(a *array.Dictionary, rows []int32, c column) {
	entries := a.Dictionary()
	n := entries.Len()
	shared := n <= len(h.sums)
	if shared {
		h.words = resize(h.words, n)
		for i := range h.words {
			h.words[i] = 0
			if !entries.IsNull(i) {
				h.words[i] = wordOf(entries, i)
			}
		}
	}
	for i := range h.sums {
		row := int(rowOf(rows, i))
		if a.IsNull(row) {
			continue
		}
		at := a.GetValueIndex(row)
		if entries.IsNull(at) {
			continue
		}
		var word uint64
		if shared {
			word = h.words[at]
		} else {
			word = wordOf(entries, at)
		}
		h.sums[i] += fold(word^c.a, c.b)
		h.present[i] = true
	}
}

// wordOf returns the word of a value that is not null.
func wordOf(a arrow.Array, row int) uint64 {
	switch a := a.(type) {
	case *array.String:
		return textWord(a.Value(row))
	case *array.LargeString:
		return textWord(a.Value(row))
	case *array.Boolean:
		return textWord(strconv.FormatBool(a.Value(row)))
	case *array.FixedSizeList:
		n := int(a.DataType().(*arrow.FixedSizeListType).Len())
		first := (a.Data().Offset() + row) * n
		return listWord(a.ListValues(), first, first+n)
	case *array.List:
		first, next := a.ValueOffsets(row)
		return listWord(a.ListValues(), int(first), int(next))
	case *array.Dictionary:
		at := a.GetValueIndex(row)
		if a.Dictionary().IsNull(at) {
			return noValue
		}
		return wordOf(a.Dictionary(), at)
	}
	if v, ok := numberOf(a, row); ok {
		return numberWord(v)
	}
	return textWord(a.ValueStr(row))
}

// listWord returns the word of elements first..next-1.
func listWord(elements arrow.Array, first, next int) uint64 {
	word := uint64(next - first)
	for i := first; i < next; i++ {
		element := uint64(noValue)
		if !elements.IsNull(i) {
			element = wordOf(elements, i)
		}
		word = fold(word^element, listFactor) + uint64(i-first)
	}
	return word
}

// numberOf returns a value as a number; false for types that are not numbers, dates or times.
func numberOf(a arrow.Array, row int) (float64, bool) {
	switch a := a.(type) {
	case *array.Float64:
		return a.Value(row), true
	case *array.Float32:
		return float64(a.Value(row)), true
	case *array.Float16:
		return float64(a.Value(row).Float32()), true
	case *array.Int64:
		return float64(a.Value(row)), true
	case *array.Int32:
		return float64(a.Value(row)), true
	case *array.Int16:
		return float64(a.Value(row)), true
	case *array.Int8:
		return float64(a.Value(row)), true
	case *array.Uint64:
		return float64(a.Value(row)), true
	case *array.Uint32:
		return float64(a.Value(row)), true
	case *array.Uint16:
		return float64(a.Value(row)), true
	case *array.Uint8:
		return float64(a.Value(row)), true
	case *array.Decimal128:
		return a.Value(row).ToFloat64(a.DataType().(*arrow.Decimal128Type).Scale), true
	case *array.Decimal256:
		return a.Value(row).ToFloat64(a.DataType().(*arrow.Decimal256Type).Scale), true
	}
	return secondsOf(a, row)
}

// secondsOf returns a date, time or duration in seconds.
func secondsOf(a arrow.Array, row int) (float64, bool) {
	switch a := a.(type) {
	case *array.Timestamp:
		return seconds(int64(a.Value(row)), a.DataType().(*arrow.TimestampType).Unit), true
	case *array.Duration:
		return seconds(int64(a.Value(row)), a.DataType().(*arrow.DurationType).Unit), true
	case *array.Time32:
		return seconds(int64(a.Value(row)), a.DataType().(*arrow.Time32Type).Unit), true
	case *array.Time64:
		return seconds(int64(a.Value(row)), a.DataType().(*arrow.Time64Type).Unit), true
	case *array.Date32:
		return 86400 * float64(a.Value(row)), true
	case *array.Date64:
		return float64(a.Value(row)) / 1000, true
	}
	return 0, false
}

// seconds converts a number of units of time.
func seconds(v int64, unit arrow.TimeUnit) float64 {
	return float64(v) / float64(1e9/unit.Multiplier().Nanoseconds())
}
