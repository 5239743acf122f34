package encoder

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/eerf-stream/eerf/scoring"
)

// A column is a telltale if its own thresholds, categories or missing values predict the label
// nearly alone, or together with one other column. All rules are learned on one half of the rows
// and judged on the other.
const (
	// telltaleKept bounds the kept values of rows, 4 bytes each.
	telltaleKept = 4 << 20
	// telltaleBins bounds the bins of a number, telltaleBinRows is their usual number of rows.
	telltaleBins, telltaleBinRows = 64, 10
	// telltalePairs is the number of columns, the strongest first, of which pairs are checked.
	telltalePairs = 24
)

// Shares of the error of a constant up to which an error is a telltale's: of one column, and of two
// columns together. Of several classes some are often separated by one legitimate column.
var (
	telltaleAlone = map[scoring.Task]float64{scoring.Regression: 0.01, scoring.Binary: 0.1, scoring.MultiClass: 0.04}
	telltaleBoth  = map[scoring.Task]float64{scoring.Regression: 0.003, scoring.Binary: 0.05, scoring.MultiClass: 0.02}
)

// Telltale names columns that predict the label nearly alone.
type Telltale struct {
	Columns []string `json:"columns"`
	Reason  string   `json:"reason"` // a sentence without its subject
}

// String returns a warning.
func (t Telltale) String() string {
	subject, verb := "column ", "it is"
	if len(t.Columns) > 1 {
		subject, verb = "columns ", "they are"
	}
	names := make([]string, len(t.Columns))
	for i, name := range t.Columns {
		names[i] = strconv.Quote(name)
	}
	return fmt.Sprintf("%s%s %s: if %s not known when a prediction is needed, leave out with events.exclude (--exclude)",
		subject, strings.Join(names, " and "), t.Reason, verb)
}

// telltales looks for telltales in kept rows.
type telltales struct {
	task    scoring.Task
	classes int
	views   []view
	y       []float64 // classes by number, or labels
	learn   []int     // rows, as are the judges
	judge   []int
	scale   float64 // error of a constant on the rows that judge
}

// view is a column as rules see it.
type view struct {
	column   string
	category bool
	x        []float64 // NaN = missing
	missing  bool      // some are
	share    float64   // error of its own rule, as a share of the constant's
}

// newTelltales returns the kept rows of a review, or nil if they are too few or their labels vary
// too little.
func (t *Review) newTelltales() *telltales {
	n := len(t.keptY)
	if n < telltaleRows {
		return nil
	}
	s := &telltales{task: t.encoder.Label.Task, classes: len(t.encoder.Label.Classes), y: t.keptY}
	for i := range n { // by a hash, since the order of the rows may follow the label
		if scoring.Hash(0, 0, int64(i))&1 == 0 {
			s.learn = append(s.learn, i)
		} else {
			s.judge = append(s.judge, i)
		}
	}
	s.scale = s.errorOf(func(int) int { return 0 }, 1)
	if s.task != scoring.Regression && s.scale*float64(len(s.judge)) < telltaleClass/2 || s.scale <= 0 {
		return nil
	}
	first := 0
	for i := range t.encoder.Columns {
		c := &t.encoder.Columns[i]
		s.views = append(s.views, t.viewsOf(c, first)...)
		first += c.Width
	}
	return s
}

// viewsOf returns the views of a column whose dimensions begin at first.
func (t *Review) viewsOf(c *Column, first int) []view {
	n, dim := len(t.keptY), t.encoder.Dim
	last := first + c.Width - 1
	if c.Kind == Category {
		v := view{column: c.Name, category: true, x: make([]float64, n)}
		for i := range n {
			row := t.kept[i*dim+first : i*dim+last+1]
			best := 0
			for j, value := range row {
				if value > row[best] {
					best = j
				}
			}
			v.x[i] = float64(best)
			if c.Missing && best == c.Width-1 {
				v.x[i] = math.NaN()
				v.missing = true
			}
		}
		return []view{v}
	}
	var views []view
	for j := range c.values() {
		v := view{column: c.Name, x: make([]float64, n)}
		for i := range n {
			row := t.kept[i*dim : (i+1)*dim]
			v.x[i] = float64(row[first+j])
			if j < len(c.Scale) {
				v.x[i] = v.x[i]*c.Scale[j] + c.Mean[j]
			}
			if c.Missing && c.Kind != Vector && row[last] > 0 {
				v.x[i] = math.NaN()
				v.missing = true
			}
		}
		views = append(views, v)
	}
	return views
}

// find returns the telltales, the strongest first, single columns before pairs.
func (s *telltales) find() []Telltale {
	var found []Telltale
	for i := range s.views {
		cells, n := s.cells(&s.views[i])
		s.views[i].share = s.fitted(cells, n, s.views[i].x) / s.scale
	}
	strongest := make([]*view, len(s.views))
	for i := range s.views {
		strongest[i] = &s.views[i]
	}
	slices.SortStableFunc(strongest, func(a, b *view) int { return cmp.Compare(a.share, b.share) })
	alone := map[string]bool{}
	for _, v := range strongest {
		if v.share > telltaleAlone[s.task] || alone[v.column] {
			continue
		}
		alone[v.column] = true
		found = append(found, Telltale{[]string{v.column}, s.reason(v, v.share)})
	}
	if len(found) > 0 || len(s.views) < 3 {
		return found
	}
	strongest = strongest[:min(len(strongest), telltalePairs)]
	best := telltaleBoth[s.task]
	for i, a := range strongest {
		for _, b := range strongest[:i] {
			if share := s.together(a, b) / s.scale; share <= best && a.column != b.column {
				best = share
				found = []Telltale{{s.inOrder(a.column, b.column), s.reason(nil, share)}}
			}
		}
	}
	return found
}

// inOrder returns two columns in the order of the views.
func (s *telltales) inOrder(a, b string) []string {
	at := func(name string) int {
		return slices.IndexFunc(s.views, func(v view) bool { return v.column == name })
	}
	if at(a) > at(b) {
		a, b = b, a
	}
	return []string{a, b}
}

// reason describes the rule of a view, or of two columns for nil.
func (s *telltales) reason(v *view, share float64) string {
	verb := "predicts the label nearly alone, by its values"
	switch {
	case v == nil:
		verb = "predict the label together"
	case v.missing && s.missingAlone(v) <= telltaleAlone[s.task]*s.scale:
		verb = "predicts the label nearly alone, by whether it is filled"
	}
	if s.task == scoring.Regression {
		return fmt.Sprintf("%s (%.2g %% of the variance unexplained)", verb, 100*share)
	}
	return fmt.Sprintf("%s (%.2g %% of rows wrong, a constant %.2g %%)", verb, 100*share*s.scale, 100*s.scale)
}

// missingAlone returns the error of the rule that only knows whether a value is missing.
func (s *telltales) missingAlone(v *view) float64 {
	return s.errorOf(func(row int) int {
		if math.IsNaN(v.x[row]) {
			return 1
		}
		return 0
	}, 2)
}

// cells returns the cell of each row of a view, and their number: categories, or intervals of
// numbers, the first for missing values.
func (s *telltales) cells(v *view) (of []int, n int) {
	of = make([]int, len(v.x))
	if v.category {
		for i, x := range v.x {
			if !math.IsNaN(x) {
				of[i] = int(x) + 1
			}
			n = max(n, of[i]+1)
		}
		return of, n
	}
	edges := s.edges(v.x, min(max(len(s.learn)/telltaleBinRows, 2), telltaleBins))
	for i, x := range v.x {
		if !math.IsNaN(x) {
			at, _ := slices.BinarySearch(edges, x)
			of[i] = at + 1
		}
	}
	return of, len(edges) + 2
}

// edges returns the upper ends of intervals with about the same number of values, ascending, and
// for two classes the best threshold among them.
func (s *telltales) edges(x []float64, bins int) []float64 {
	sorted := make([]int, 0, len(s.learn))
	for _, row := range s.learn {
		if !math.IsNaN(x[row]) {
			sorted = append(sorted, row)
		}
	}
	if len(sorted) == 0 {
		return nil
	}
	slices.SortFunc(sorted, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	var edges []float64
	for i := 1; i < bins; i++ {
		edges = append(edges, x[sorted[len(sorted)*i/bins]])
	}
	if s.task == scoring.Binary {
		edges = append(edges, s.threshold(x, sorted))
	}
	slices.Sort(edges)
	return slices.Compact(edges)
}

// threshold returns the value up to which the rows of one class are, as far as possible.
func (s *telltales) threshold(x []float64, sorted []int) float64 {
	total := 0.0
	for _, row := range sorted {
		total += s.y[row]
	}
	best, most, ones, share := x[sorted[0]], 0.0, 0.0, total/float64(len(sorted))
	for i, row := range sorted[:len(sorted)-1] {
		ones += s.y[row]
		if gain := math.Abs(ones - share*float64(i+1)); gain > most && x[sorted[i+1]] > x[row] {
			best, most = x[row], gain
		}
	}
	return best
}

// fitted returns the error of the best rule on cells: of classes the commonest of the cell, of
// numbers its mean, or a line in x.
func (s *telltales) fitted(of []int, n int, x []float64) float64 {
	least := s.errorOf(func(row int) int { return of[row] }, n)
	if s.task == scoring.Regression {
		least = min(least, s.lines(of, n, x))
	}
	return least
}

// errorOf returns the error of the rule that predicts by cell, 0 ≤ cell(row) < n: the share of
// wrong classes, or the mean squared error. The commonest class or the mean of all stands in for an
// empty cell.
func (s *telltales) errorOf(cell func(row int) int, n int) float64 {
	if s.task == scoring.Regression {
		return s.meansOf(cell, n)
	}
	counts := make([]int, (n+1)*s.classes) // the last for all
	for _, row := range s.learn {
		counts[cell(row)*s.classes+int(s.y[row])]++
		counts[n*s.classes+int(s.y[row])]++
	}
	commonest := func(cell int) int {
		best := 0
		of := counts[cell*s.classes : (cell+1)*s.classes]
		for k, c := range of {
			if c > of[best] {
				best = k
			}
		}
		if of[best] == 0 {
			return -1
		}
		return best
	}
	decided := make([]int, n)
	for c := range decided {
		decided[c] = commonest(c)
		if decided[c] < 0 {
			decided[c] = commonest(n)
		}
	}
	wrong := 0
	for _, row := range s.judge {
		if decided[cell(row)] != int(s.y[row]) {
			wrong++
		}
	}
	return float64(wrong) / float64(len(s.judge))
}

func (s *telltales) meansOf(cell func(row int) int, n int) float64 {
	sums, rows, all := make([]float64, n), make([]float64, n), 0.0
	for _, row := range s.learn {
		sums[cell(row)] += s.y[row]
		rows[cell(row)]++
		all += s.y[row] / float64(len(s.learn))
	}
	squares := 0.0
	for _, row := range s.judge {
		predicted := all
		if c := cell(row); rows[c] > 0 {
			predicted = sums[c] / rows[c]
		}
		squares += (s.y[row] - predicted) * (s.y[row] - predicted)
	}
	return squares / float64(len(s.judge))
}

// lines returns the mean squared error of a line in x for each cell of numbers.
func (s *telltales) lines(of []int, n int, x []float64) float64 {
	type sums struct{ n, x, y, xx, xy float64 }
	cells := make([]sums, n)
	for _, row := range s.learn {
		c := &cells[of[row]]
		v := x[row]
		if math.IsNaN(v) {
			v = 0
		}
		c.n++
		dx, dy := v-c.x, s.y[row]-c.y
		c.x += dx / c.n
		c.y += dy / c.n
		c.xx += dx * (v - c.x)
		c.xy += dx * (s.y[row] - c.y)
	}
	squares := 0.0
	for _, row := range s.judge {
		c := cells[of[row]]
		d := s.y[row] - c.y
		if v := x[row]; c.xx > 0 && !math.IsNaN(v) {
			d -= c.xy / c.xx * (v - c.x)
		}
		squares += d * d
	}
	return squares / float64(len(s.judge))
}

// together returns the error of the best rule on two views: a table of their cells, or the cells of
// the sum, difference, product or ratio of two numbers.
func (s *telltales) together(a, b *view) float64 {
	side := max(int(math.Sqrt(float64(len(s.learn))/5)), 2)
	first, n := s.coarse(a, side)
	second, m := s.coarse(b, side)
	least := s.errorOf(func(row int) int { return first[row]*m + second[row] }, n*m)
	if a.category || b.category {
		return least
	}
	for _, of := range []func(a, b float64) float64{
		func(a, b float64) float64 { return a + b },
		func(a, b float64) float64 { return a - b },
		func(a, b float64) float64 { return a * b },
		func(a, b float64) float64 { return a / b },
	} {
		v := view{x: make([]float64, len(a.x))}
		for i := range v.x {
			v.x[i] = of(a.x[i], b.x[i])
			if math.IsInf(v.x[i], 0) {
				v.x[i] = math.NaN()
			}
		}
		cells, n := s.cells(&v)
		least = min(least, s.fitted(cells, n, v.x))
	}
	return least
}

// coarse returns the cells of a view, at most about side of them.
func (s *telltales) coarse(v *view, side int) (of []int, n int) {
	if v.category {
		return s.cells(v)
	}
	of = make([]int, len(v.x))
	edges := s.edges(v.x, side)
	for i, x := range v.x {
		if !math.IsNaN(x) {
			at, _ := slices.BinarySearch(edges, x)
			of[i] = at + 1
		}
	}
	return of, len(edges) + 2
}
