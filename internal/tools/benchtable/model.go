package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// model is how the time of a benchmark's call grows: operations, the sum of some terms, over a rate. The first term
// counts floating point operations; a factor in front of each of the others and the rate are fitted.
type model struct {
	benchmark string
	call      string // in words
	picture   string // the name of the file
	features  string // what a label calls the number of features
	factor    string // the symbol of what all terms have in common
	terms     []term
}

// term is something that a call does.
type term struct {
	symbol string // for the fitted factor, %s, and what it is a factor of
	count  func(l *line) float64
}

// models are the costs that are fitted and drawn.
var models = []model{
	{"GrowthScore", "score", "growth-score", "candidates M0", "N·M0", []term{
		{"2d", func(l *line) float64 { return 2 * elements(l) * l.number("dim", 1) }},
		{"%s", elements},
		{"%s·(K−1)", func(l *line) float64 { return elements(l) * (l.number("outputs", 1) - 1) }},
		{"%s for classes", func(l *line) float64 { return elements(l) * min(1, l.number("classes", 0)) }},
	}},
	{"GrowthTransform", "featurize", "growth-featurize", "features M", "N·M", []term{
		{"2d", func(l *line) float64 { return 2 * elements(l) * l.number("dim", 1) }},
		{"%s", elements},
	}},
	{"GrowthGram", "Gram sums", "growth-gram", "features M", "N·M", []term{
		{"M", func(l *line) float64 { return elements(l) * l.number("features", 1) }},
		{"%s", elements},
		{"%s·(K−1)", func(l *line) float64 { return elements(l) * (l.number("outputs", 1) - 1) }},
	}},
	{"GrowthTrain", "train", "growth-train", "features M", "M²", []term{
		{"M", func(l *line) float64 { return square(l) * l.number("features", 1) }},
		{"%s", square},
		{"%s·(K−1)", func(l *line) float64 { return square(l) * (l.number("outputs", 1) - 1) }},
	}},
}

// square is the number of features times itself.
func square(l *line) float64 { return l.number("features", 1) * l.number("features", 1) }

// elements is the number of rows times that of features.
func elements(l *line) float64 { return l.number("rows", 1) * l.number("features", 1) }

// fitted is a model with the costs that were found for each number of processors.
type fitted struct {
	model
	costs map[int][]float64 // seconds for one of what each term counts
	off   map[int][]float64 // |relative error| of the points, ascending
}

// fit finds the costs that make the relative errors of the median times least in the sum of squares.
func (m model) fit(panels []panel) (fitted, error) {
	f := fitted{m, map[int][]float64{}, map[int][]float64{}}
	points := map[int][]*line{}
	for _, p := range panels {
		for _, s := range p.series {
			points[s.procs] = append(points[s.procs], s.points...)
		}
	}
	for procs, lines := range points {
		costs, err := nonNegative(len(m.terms), func(used []int) ([]float64, error) { return m.solve(lines, used) })
		if err != nil {
			return fitted{}, fmt.Errorf("fit %s on %d processors: %w", m.call, procs, err)
		}
		f.costs[procs] = costs
		for _, l := range lines {
			f.off[procs] = append(f.off[procs], math.Abs(f.time(l, procs)/l.median(seconds)-1))
		}
		slices.Sort(f.off[procs])
	}
	return f, nil
}

// solve returns the costs of the used terms.
func (m model) solve(lines []*line, used []int) ([]float64, error) {
	a := mat.NewDense(len(lines), len(used), nil)
	ones := mat.NewVecDense(len(lines), nil)
	for i, l := range lines {
		for j, t := range used {
			a.Set(i, j, m.terms[t].count(l)/l.median(seconds))
		}
		ones.SetVec(i, 1)
	}
	var costs mat.VecDense
	if err := costs.SolveVec(a, ones); err != nil {
		return nil, err
	}
	return costs.RawVector().Data, nil
}

// nonNegative calls solve for all of n terms, and again without the most negative one while there is any: a term
// whose cost noise hides costs nothing.
func nonNegative(n int, solve func(used []int) ([]float64, error)) ([]float64, error) {
	used := make([]int, n)
	for i := range used {
		used[i] = i
	}
	for {
		found, err := solve(used)
		if err != nil {
			return nil, err
		}
		least := slices.Index(found, slices.Min(found))
		if found[least] >= 0 {
			costs := make([]float64, n)
			for i, t := range used {
				costs[t] = found[i]
			}
			return costs, nil
		}
		used = slices.Delete(used, least, least+1)
	}
}

// time returns the model's time for the shape of l.
func (f fitted) time(l *line, procs int) float64 {
	sum := 0.0
	for i, cost := range f.costs[procs] {
		sum += cost * f.terms[i].count(l)
	}
	return sum
}

// rows returns the rows of the table of costs. The first term that costs anything is the unit of the others.
func (f fitted) rows() [][]string {
	var rows [][]string
	for _, procs := range slices.Sorted(maps.Keys(f.costs)) {
		costs, off := f.costs[procs], f.off[procs]
		unit := costs[slices.IndexFunc(costs, func(cost float64) bool { return cost > 0 })]
		var sum []string
		for i, t := range f.terms {
			switch share := costs[i] / unit; {
			case share > 0 && i == 0:
				sum = append(sum, t.symbol)
			case share >= 0.5:
				sum = append(sum, fmt.Sprintf(t.symbol, strconv.FormatFloat(share, 'f', 0, 64)))
			}
		}
		rows = append(rows, []string{
			f.call, strconv.Itoa(procs), f.factor + "·(" + strings.Join(sum, " + ") + ")", threeDigits(1/unit/1e9) + " GF/s",
			percent(median(off)), percent(off[len(off)-1]),
		})
	}
	return rows
}
