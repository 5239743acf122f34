package scoring

// waiting is rows that wait to be scored together, with their raw outputs.
type waiting struct {
	x      []float32
	values []float32
	class  []int32
	rows   int
}

// push copies rows of dim numbers to the end. The first time, it allocates memory for limit rows.
func (w *waiting) push(x []float32, rows, dim, limit int, t Targets) {
	if w.x == nil {
		w.x = make([]float32, 0, limit*dim)
	}
	w.x = append(w.x, x...)
	if t.Class == nil && w.values == nil {
		w.values = make([]float32, 0, limit*t.Outputs)
	}
	if t.Class != nil && w.class == nil {
		w.class = make([]int32, 0, limit)
	}
	w.values, w.class = append(w.values, t.Values...), append(w.class, t.Class...)
	w.rows += rows
}

// fits reports whether targets like t may join the rows that wait: both values or both classes.
func (w *waiting) fits(t Targets) bool {
	return w.rows == 0 || (len(w.class) > 0) == (t.Class != nil)
}

// targets returns the raw outputs of the rows that wait, which share the memory of w.
func (w *waiting) targets(outputs int) Targets {
	if len(w.class) > 0 {
		return Targets{Outputs: outputs, Class: w.class}
	}
	return Targets{Outputs: outputs, Values: w.values}
}

// clear forgets the rows and keeps their memory.
func (w *waiting) clear() {
	w.x, w.values, w.class, w.rows = w.x[:0], w.values[:0], w.class[:0], 0
}
