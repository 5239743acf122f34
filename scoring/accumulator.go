package scoring

import "fmt"

// Accumulator adds rows to the sums of one partition. It belongs to one goroutine. The sums depend
// only on the order of the rows: adding them one by one or in batches of any size gives equal bits.
//
// Rows of small calls wait in a buffer and are scored together, because a pass over the candidates
// costs about the same for one row as for many. Asking for the sums scores the waiting rows.
type Accumulator struct {
	bank    *Bank
	sums    *Sums
	waiting waiting // their outputs are already summed
	workers int     // greatest number of goroutines, 0 means GOMAXPROCS
}

// NewAccumulator returns an accumulator that continues sums and takes ownership of them. They come
// from [NewSums], or from a checkpoint of the same [Arithmetic]. It panics if their number of
// candidates differs from the bank's.
func NewAccumulator(b *Bank, sums *Sums) *Accumulator {
	if sums.Candidates() != b.Len() {
		panic(fmt.Sprintf("scoring: sums of %d candidates for a bank of %d", sums.Candidates(), b.Len()))
	}
	return &Accumulator{bank: b, sums: sums}
}

// SetWorkers bounds the goroutines of a call; 0 means GOMAXPROCS, the default. It does not change
// the result.
func (a *Accumulator) SetWorkers(workers int) { a.workers = workers }

// Sums returns the sums so far, not a copy.
func (a *Accumulator) Sums() *Sums {
	a.flush()
	return a.sums
}

// Add adds rows with features x, row-major [rows·Dim] and finite, and raw outputs t. It keeps
// neither.
func (a *Accumulator) Add(x []float32, rows int, t Targets) {
	dim := a.bank.Dim()
	if len(x) != rows*dim {
		panic(fmt.Sprintf("scoring: %d numbers for %d rows of %d", len(x), rows, dim))
	}
	t.check(rows, a.sums.Outputs())
	if rows == 0 {
		return
	}
	a.addOutputs(rows, t)
	if !a.waiting.fits(t) {
		a.flush()
	}
	limit := a.bank.rows
	for first := 0; first < rows; {
		if a.waiting.rows == 0 && rows-first >= limit {
			a.bank.score(a.sums, x[first*dim:], rows-first, t.Slice(first, rows), a.workers, nil)
			return
		}
		next := min(rows, first+limit-a.waiting.rows)
		a.waiting.push(x[first*dim:next*dim], next-first, dim, limit, t.Slice(first, next))
		if a.waiting.rows == limit {
			a.flush()
		}
		first = next
	}
}

// flush scores the waiting rows.
func (a *Accumulator) flush() {
	if w := &a.waiting; w.rows > 0 {
		a.bank.score(a.sums, w.x, w.rows, w.targets(a.sums.Outputs()), a.workers, nil)
		w.clear()
	}
}

// addOutputs counts the rows and adds their raw outputs.
func (a *Accumulator) addOutputs(rows int, t Targets) {
	s := a.sums
	empty := s.Rows == 0
	s.Rows += int64(rows)
	if t.Class != nil {
		s.addClasses(t.Class, empty)
		return
	}
	for i := range rows {
		for k, v := range t.Values[i*t.Outputs : (i+1)*t.Outputs] {
			y := float64(v)
			s.Y[k] += y
			s.YSq[k] += float64(y * y)
			s.YMin[k] = min(s.YMin[k], y)
			s.YMax[k] = max(s.YMax[k], y)
		}
	}
}

// addClasses adds the indicators of the classes: sums and sums of squares are counts, exact in any
// order. The range is {0} or {1} if all rows so far are outside or inside the class, else {0, 1}.
func (s *Sums) addClasses(class []int32, empty bool) {
	for _, k := range class {
		s.Y[k]++
		s.YSq[k]++
	}
	if empty {
		for k := range s.Y {
			s.YMin[k], s.YMax[k] = 1, 0
		}
	}
	for k, count := range s.Y {
		if count > 0 {
			s.YMax[k] = 1
		}
		if count < float64(s.Rows) {
			s.YMin[k] = 0
		}
	}
}

// waiting holds rows that wait to be scored together, with their raw outputs.
type waiting struct {
	x      []float32
	values []float32
	class  []int32
	rows   int
}

// push copies rows of dim numbers to the end. The first time, it allocates memory for the numbers
// of limit rows.
func (w *waiting) push(x []float32, rows, dim, limit int, t Targets) {
	if w.x == nil {
		w.x = make([]float32, 0, limit*dim)
	}
	w.x = append(w.x, x...)
	w.values, w.class = append(w.values, t.Values...), append(w.class, t.Class...)
	w.rows += rows
}

// fits reports whether rows with targets t may join the waiting ones: values join values and
// classes join classes.
func (w *waiting) fits(t Targets) bool {
	return w.rows == 0 || (len(w.class) > 0) == (t.Class != nil)
}

// targets returns the raw outputs of the waiting rows, which share the memory of w.
func (w *waiting) targets(outputs int) Targets {
	if len(w.class) > 0 {
		return Targets{Outputs: outputs, Class: w.class}
	}
	return Targets{Outputs: outputs, Values: w.values}
}

// clear forgets the rows and keeps their memory.
func (w *waiting) clear() {
	w.x = w.x[:0]
	w.values = w.values[:0]
	w.class = w.class[:0]
	w.rows = 0
}
