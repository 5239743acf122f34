package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/eerf-stream/eerf/compare"
)

// Figure is a plot of the report.
type Figure struct {
	// Name is the name of its file, without extension.
	Name string
	// Title and Caption are the words around it.
	Title, Caption string
	// Main marks those shown beside the verdict; the others are for readers who want to know more.
	Main bool
	// SVG is the picture on white.
	SVG []byte
}

// Figures draws the plots of a result for which there are numbers.
func Figures(r *compare.Result) ([]Figure, error) {
	figures, err := methodsFigure(r)
	if err != nil {
		return nil, err
	}
	for _, plan := range plans(r) {
		if plan.chart == nil {
			continue
		}
		if plan.SVG, err = plan.chart.draw(); err != nil {
			return nil, fmt.Errorf("draw %s: %w", plan.Name, err)
		}
		figures = append(figures, plan.Figure)
	}
	return figures, nil
}

// methodsFigure is the plot at the largest M that was measured.
func methodsFigure(r *compare.Result) ([]Figure, error) {
	for _, table := range slices.Backward(r.Tables) {
		d := dotsOf(r, table)
		if d == nil {
			continue
		}
		svg, err := d.draw()
		if err != nil {
			return nil, fmt.Errorf("draw methods: %w", err)
		}
		return []Figure{{"methods", fmt.Sprintf("Error of each method at M = %d", table.M), methodsCaption, true, svg}}, nil
	}
	return nil, nil
}

// plan is a figure that is drawn if it has a chart.
type plan struct {
	Figure
	chart *chart
}

// plans are the figures except that of the methods.
func plans(r *compare.Result) []plan {
	all := []plan{{Figure{Name: "error", Title: "Error against the number of features", Caption: errorCaption, Main: true}, errorChart(r, false)}}
	if r.Options.Paper {
		all = append(all, plan{Figure{Name: "unexplained", Title: "Unexplained variance against the number of features", Caption: unexplainedCaption}, errorChart(r, true)})
	}
	all = append(all,
		plan{Figure{Name: "time", Title: "Error against time", Caption: timeCaption}, timeChart(r)},
		plan{Figure{Name: "speed", Title: "Error against the time of a row", Caption: speedCaption}, speedChart(SpeedLabel(r), Speeds(r))},
	)
	for _, s := range r.Spectra {
		all = append(all, plan{Figure{Name: "spectrum-" + s.Criterion, Title: "Score spectrum: " + s.Criterion, Caption: spectrumCaption}, spectrumChart(r, s)})
	}
	return all
}

const (
	methodsCaption = "Mean test error over the repeats with two standard errors to each side, the smallest at the top; the dotted line is at plain features. Intervals that overlap may " +
		"still be of clearly different methods: the differences in the table, in pairs of equal seeds, have less noise."
	errorCaption = "Mean test error over the repeats; bars are one standard error. Where bars of two methods overlap, " +
		"look at the paired differences in the table: they have less noise."
	unexplainedCaption = "100·Σ(f−y)²/Σ(y−ȳ)² on the test rows: 100 is no better than the mean of the labels. The relative " +
		"squared error hangs on where zero is, this does not."
	timeCaption = "Mean seconds until the model is there (preprocessing and training) against mean test error; the points of a " +
		"method are its numbers of features."
	spectrumCaption = "Values of all candidates in the first repeat, from the best to the worst; the lines are where the " +
		"selection cuts off. A spectrum that falls steeply says that few candidates matter; a flat one that choosing cannot gain much."
)

// errorChart is the error, or the unexplained variance, of each method against M; nil if there is none, or only one M.
func errorChart(r *compare.Result, unexplained bool) *chart {
	if len(r.Tables) < 2 {
		return nil
	}
	c := &chart{x: axis{label: "M, number of features"}, y: axis{label: r.Metric + ", %"}}
	if unexplained {
		c.y.label = "unexplained variance, %"
	}
	for _, name := range r.Options.Methods {
		s := series{name: name, style: styleOf(name)}
		for _, table := range r.Tables {
			if l := lineOf(table, name); l != nil && (!unexplained || l.Unexplained != nil) {
				value := &l.Error
				if unexplained {
					value = l.Unexplained
				}
				s.points = append(s.points, point{float64(table.M), value.Mean, deref(value.Error)})
			}
		}
		c.add(s)
	}
	for _, table := range r.Tables {
		c.x.ticks = append(c.x.ticks, tick{float64(table.M), strconv.Itoa(table.M)})
	}
	c.x.log = c.x.ticks[len(c.x.ticks)-1].at >= 4*c.x.ticks[0].at
	return c.spread()
}

// timeChart is the error of each method at each M against the time in seconds to make its model.
func timeChart(r *compare.Result) *chart {
	c := &chart{
		x: axis{label: "seconds of preprocessing and training", log: true}, y: axis{label: r.Metric + ", %"},
	}
	for _, name := range r.Options.Methods {
		s := series{name: name, style: styleOf(name)}
		for _, table := range r.Tables {
			if l := lineOf(table, name); l != nil {
				seconds := math.Max(l.Preprocess+l.Train, 1e-6)
				s.points = append(s.points, point{seconds, l.Error.Mean, deref(l.Error.Error)})
			}
		}
		if method, err := r.Options.Lookup(name); err == nil && method.AnySize && len(s.points) > 0 {
			s.points = s.points[:1]
		}
		c.add(s)
	}
	return c.spread()
}

// spectrumChart is the values of a criterion by rank, with the cut-off at each M.
func spectrumChart(r *compare.Result, spectrum compare.Spectrum) *chart {
	c := &chart{x: axis{label: "rank of the candidate", log: true}, y: axis{label: spectrum.Criterion}, bare: true}
	s := series{name: spectrum.Criterion, style: styleOf(spectrum.Criterion)}
	for _, i := range shownRanks(len(spectrum.Values)) {
		s.points = append(s.points, point{x: float64(i + 1), y: spectrum.Values[i]})
	}
	c.add(s)
	for _, m := range r.Options.Features {
		if m <= len(spectrum.Values) {
			c.marks = append(c.marks, mark{x: float64(m), y: spectrum.Values[m-1], text: fmt.Sprintf("M = %d", m)})
		}
	}
	return c.orNil()
}

// shownRanks are the ranks of n that are drawn. If there are many, some are skipped, but so few that the curve looks
// smooth; the first ones are all drawn, because the axis is logarithmic.
func shownRanks(n int) []int {
	const most = 400
	var ranks []int
	for i := range n {
		if n <= most || i < 50 || i == n-1 || i%(n/(most-50)+1) == 0 {
			ranks = append(ranks, i)
		}
	}
	return ranks
}

// lineOf finds a method in a table, nil if it was not measured.
func lineOf(table compare.Table, method string) *compare.Line {
	for i := range table.Lines {
		if table.Lines[i].Method == method && table.Lines[i].Repeats > 0 {
			return &table.Lines[i]
		}
	}
	return nil
}

func deref(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}
