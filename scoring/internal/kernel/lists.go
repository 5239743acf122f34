package kernel

import (
	"math"
	"math/bits"

	"github.com/eerf-stream/eerf/internal/simd"
)

// entry is a number of a row: its bits in the high half; in the low half 4·Width times its column,
// the byte offset of the column's weights in a panel.
type entry uint64

// newEntry is the entry of v in column k.
func newEntry(v float32, k int) entry { return entry(math.Float32bits(v))<<32 | entry(4*Width*k) }

// value returns the number.
func (e entry) value() float32 { return math.Float32frombits(uint32(e >> 32)) }

// weight returns the index of the column's weights in a panel.
func (e entry) weight() int { return int(uint32(e) / 4) }

// lists are the nonzero numbers of up to chunkRows rows, in pieces of the columns that are
// multiplied at a time. The lists of rows 0 and 1, 2 and 3 and so on have equal lengths: zeros of
// column 0 extend the shorter one.
type lists struct {
	entries []entry
	begin   []uint32 // [pieces][stride]: the beginning of each row's list, then the end of the last one
	pieces  int
	stride  int // rows + 1

	nonzero []uint64 // a bit for each number, plus one word
}

// listDim is the number of columns from which column offsets overflow an entry.
const listDim = 1 << 32 / (4 * Width)

// lists reports whether listing rows with this many zeros takes less time than multiplying all
// numbers. A step along a list takes as long as several steps of the loop over all numbers, which
// loads the weights once for several rows. The break-even share was measured with random numbers,
// dim 30 to 784. Building the lists takes up to 1½ times as long as one panel of that loop.
func (p *Panels) lists(numbers, zeros int) bool {
	even := 0.5
	switch p.level {
	case simd.AVX2:
		even = 0.7
	case simd.None:
		even = 0.9
	}
	share := even * (1 - 1.5/float64(max(p.Count(), 1)))
	return p.finite && p.Dim < listDim && float64(numbers-zeros) <= share*float64(numbers)
}

// fill lists rows of dim numbers, in pieces of width columns.
func (l *lists) fill(level simd.Level, x []float32, dim, width int) {
	rows, at := len(x)/dim, 0
	l.pieces, l.stride = (dim+width-1)/width, rows+1
	l.mark(level, x)
	l.begin = l.begin[:0]
	for from := 0; from < dim; from += width {
		next := min(from+width, dim)
		for r := 0; r < rows; r += 2 {
			l.begin = append(l.begin, uint32(at))
			length := l.list(at, x[r*dim:(r+1)*dim], r*dim, from, next)
			if r+1 < rows {
				second := l.list(at+length, x[(r+1)*dim:(r+2)*dim], (r+1)*dim, from, next)
				length = l.even(at, length, second)
				at += length
				l.begin = append(l.begin, uint32(at))
			}
			at += length
		}
		l.begin = append(l.begin, uint32(at))
	}
}

// mark records the nonzero numbers and allocates room for them.
func (l *lists) mark(level simd.Level, x []float32) {
	l.nonzero = grown(l.nonzero, len(x)/64+2)
	markNonzero(level, l.nonzero, x)
	count := 0
	for _, word := range l.nonzero {
		count += bits.OnesCount64(word)
	}
	l.entries = grown(l.entries, 2*count)
}

// list lists columns from..next-1 of a row whose bits begin at bit, and returns the length of the
// list.
func (l *lists) list(at int, row []float32, bit, from, next int) int {
	to, count := l.entries[at:], 0
	for ; from < next; from += 64 {
		i, shift := (bit+from)/64, uint(bit+from)%64
		word := l.nonzero[i]>>shift | l.nonzero[i+1]<<1<<(63-shift)
		if next-from < 64 {
			word &= 1<<(next-from) - 1
		}
		for ; word != 0; word &= word - 1 {
			k := from + bits.TrailingZeros64(word)
			to[count] = newEntry(row[k], k)
			count++
		}
	}
	return count
}

// even extends two adjacent lists to equal length, which it returns.
func (l *lists) even(at, first, second int) int {
	length := max(first, second)
	both := l.entries[at : at+2*length]
	if first < second {
		copy(both[length:], both[first:first+second])
	}
	clear(both[first:length])
	clear(both[length+second:])
	return length
}

// grown returns n elements, in the memory of s if that is large enough.
func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// markNonzeroPlain sets a bit for each number of x that is not zero, and clears the other bits of
// the words.
func markNonzeroPlain(words []uint64, x []float32) {
	clear(words)
	for i, v := range x {
		if v != 0 { // true for NaN
			words[i/64] |= 1 << (i % 64)
		}
	}
}
