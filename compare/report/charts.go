package report

import (
	"math"
	"slices"

	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/training"
)

// chart is the input of chart.js: series of points with error bars.
type chart struct {
	Title   string `json:"title"`
	Caption string `json:"caption"`
	// X and Y are the labels of the axes; LogY makes the y axis logarithmic.
	X    string `json:"x"`
	Y    string `json:"y"`
	LogY bool   `json:"logY"`
	// Names label the positions 0, 1, ... of the x axis instead of numbers.
	Names  []string `json:"names,omitempty"`
	Series []series `json:"series"`
}

// series has the points of a method: Bar is the length of the error bar to each side, 0 for none.
type series struct {
	Name string    `json:"name"`
	X    []float64 `json:"x"`
	Y    []float64 `json:"y"`
	Bar  []float64 `json:"bar"`
}

// errorAxis returns the label of the axis of errors.
func errorAxis(r *compare.Result) string {
	if r.Options.Measure == training.MeasureLogLoss {
		return r.Metric
	}
	return r.Metric + ", %"
}

// add appends the error of a line at x.
func (s *series) add(x float64, l *compare.Line) {
	s.X, s.Y = append(s.X, x), append(s.Y, l.Error.Mean)
	bar := 0.0
	if l.Error.Error != nil {
		bar = 2 * *l.Error.Error
	}
	s.Bar = append(s.Bar, bar)
}

// chartsOf returns the charts of a result that have points.
func chartsOf(r *compare.Result) []chart {
	charts := []chart{methodsChart(r), featuresChart(r)}
	return slices.DeleteFunc(charts, func(c chart) bool { return len(c.Series) == 0 })
}

// methodsChart has the errors at the largest M, the smallest first.
func methodsChart(r *compare.Result) chart {
	c := chart{
		Title: "Error of each method", Y: errorAxis(r),
		Caption: "Mean over the repeats at the largest M, with two standard errors to each side.",
	}
	if len(r.Tables) == 0 {
		return c
	}
	lines := slices.Clone(r.Tables[len(r.Tables)-1].Lines)
	slices.SortStableFunc(lines, func(a, b compare.Line) int { return int(math.Copysign(1, a.Error.Mean-b.Error.Mean)) })
	for i := range lines {
		if l := &lines[i]; l.Repeats > 0 {
			s := series{Name: l.Method}
			s.add(float64(len(c.Names)), l)
			c.Names, c.Series = append(c.Names, l.Method), append(c.Series, s)
		}
	}
	return c.spread()
}

// featuresChart has errors against M, if there are several.
func featuresChart(r *compare.Result) chart {
	c := chart{
		Title: "Error against the number of features", X: "features M", Y: errorAxis(r),
		Caption: "Mean over the repeats, with two standard errors to each side.",
	}
	if len(r.Tables) < 2 {
		return c
	}
	c.Series = seriesOf(r)
	return c.spread()
}

// seriesOf returns a series for each method, with a point for each table.
func seriesOf(r *compare.Result) []series {
	var all []series
	for _, name := range r.Options.Methods {
		s := series{Name: name}
		for _, table := range r.Tables {
			for i := range table.Lines {
				l := &table.Lines[i]
				if l.Method == name && l.Repeats > 0 {
					s.add(float64(table.M), l)
				}
			}
		}
		if len(s.X) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// spread makes the y axis logarithmic if the values are too far apart for a linear one.
func (c chart) spread() chart {
	const far = 20
	low, high := math.Inf(1), 0.0
	for _, s := range c.Series {
		for _, y := range s.Y {
			low, high = math.Min(low, y), math.Max(high, y)
		}
	}
	c.LogY = low > 0 && high > far*low
	return c
}
