package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/eerf-stream/eerf/compare"
)

// Figure is a plot of the report.
type Figure struct {
	// Name is that of its file, without extension.
	Name string
	// Title and Caption are the words around it.
	Title, Caption string
	// SVG is the picture on white.
	SVG []byte
}

// Figures draws the plots of a result, those that there are numbers for.
func Figures(r *compare.Result) ([]Figure, error) {
	var figures []Figure
	add := func(name, title, caption string, c *chart) error {
		if c == nil {
			return nil
		}
		svg, err := c.draw()
		if err != nil {
			return fmt.Errorf("draw %s: %w", name, err)
		}
		figures = append(figures, Figure{name, title, caption, svg})
		return nil
	}
	err := add("error", "Error against the number of features", errorCaption, errorChart(r, false))
	if err == nil && r.Options.Paper {
		err = add("unexplained", "Unexplained variance against the number of features", unexplainedCaption, errorChart(r, true))
	}
	if err == nil {
		err = add("time", "Error against time", timeCaption, timeChart(r))
	}
	if err == nil {
		err = add("speed", "Error against the time of a row", speedCaption, speedChart(SpeedLabel(r), Speeds(r)))
	}
	for _, s := range r.Spectra {
		if err == nil {
			err = add("spectrum-"+s.Criterion, "Score spectrum: "+s.Criterion, spectrumCaption, spectrumChart(r, s))
		}
	}
	return figures, err
}

const (
	errorCaption = "Mean test error over the repeats; bars are one standard error. Where bars of two methods overlap, " +
		"look at the paired differences in the table: they have less noise."
	unexplainedCaption = "100·Σ(f−y)²/Σ(y−ȳ)² on the test rows: 100 is no better than the mean of the labels. The relative " +
		"squared error hangs on where zero is, this does not."
	timeCaption = "Mean seconds until the model is there (preprocessing and training) against mean test error; the points of a " +
		"method are its numbers of features."
	spectrumCaption = "Values of all candidates in the first repeat, from the best to the worst; the lines are where the " +
		"selection cuts off. A spectrum that falls steeply says that few candidates matter; a flat one that choosing cannot gain much."
)

// errorChart is the error, or the unexplained variance, of each method against M; nil when there is none. At a single M it
// is that of each method, side by side.
func errorChart(r *compare.Result, unexplained bool) *chart {
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
	if len(r.Tables) == 1 {
		c.sideBySide(fmt.Sprintf("methods at M = %d", r.Tables[0].M))
		return c.spread()
	}
	for _, table := range r.Tables {
		c.x.ticks = append(c.x.ticks, tick{float64(table.M), strconv.Itoa(table.M)})
	}
	c.x.log = len(c.x.ticks) > 1 && c.x.ticks[len(c.x.ticks)-1].at >= 4*c.x.ticks[0].at
	return c.spread()
}

// timeChart is the error of each method at each M against the seconds that its model took.
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
		if method, err := compare.Lookup(name); err == nil && method.AnySize && len(s.points) > 0 {
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

// shownRanks are the ranks of n that are drawn: all of few, and of many so many that the eye sees no corner, the first
// ones all, since the axis is logarithmic.
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
