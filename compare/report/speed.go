package report

import (
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/compare"
)

// Speed is the error of a method against the time to predict a row.
type Speed struct {
	Method string
	Points []SpeedPoint
}

// SpeedPoint is one size of a method.
type SpeedPoint struct {
	// Microseconds are for a test row, the least of the repeats: featurizing and predicting.
	Microseconds float64
	// Error is in percent, StdErr its standard error, 0 if there is none.
	Error, StdErr float64
}

// Speeds returns those of the methods of a result: the unexplained variance of a regression, and misclassification.
func Speeds(r *compare.Result) []Speed {
	var all []Speed
	for _, name := range r.Options.Methods {
		s := Speed{Method: name}
		for _, table := range r.Tables {
			l, microseconds := lineOf(table, name), r.RowMicroseconds(name, table.M)
			if l == nil || math.IsInf(microseconds, 1) {
				continue
			}
			value := l.Error
			if l.Unexplained != nil {
				value = *l.Unexplained
			}
			s.Points = append(s.Points, SpeedPoint{microseconds, value.Mean, deref(value.Error)})
		}
		if method, err := r.Options.Lookup(name); err == nil && method.AnySize && len(s.Points) > 0 {
			s.Points = s.Points[:1]
		}
		all = append(all, s)
	}
	return all
}

// SpeedLabel says what the errors of [Speeds] are.
func SpeedLabel(r *compare.Result) string {
	for _, table := range r.Tables {
		for _, l := range table.Lines {
			if l.Unexplained != nil {
				return "unexplained variance, %"
			}
		}
	}
	return r.Metric + ", %"
}

// SpeedFigure draws errors against the time per row.
func SpeedFigure(label string, speeds []Speed) (Figure, error) {
	f := Figure{Name: "speed", Title: "Error against the time of a row", Caption: speedCaption}
	c := speedChart(label, speeds)
	if c == nil {
		return f, fmt.Errorf("draw %s: there are no points", f.Name)
	}
	svg, err := c.draw()
	if err != nil {
		return f, fmt.Errorf("draw %s: %w", f.Name, err)
	}
	f.SVG = svg
	return f, nil
}

const speedCaption = "Least microseconds of the repeats in which one core featurizes and predicts a test row, against mean test error; the points of a " +
	"method are its numbers of features. What lies to the left and below is better at both."

// speedChart is nil if there are no points.
func speedChart(label string, speeds []Speed) *chart {
	c := &chart{x: axis{label: "microseconds a row, featurizing and predicting", log: true}, y: axis{label: label}}
	for _, speed := range speeds {
		s := series{name: speed.Method, style: styleOf(speed.Method)}
		for _, p := range speed.Points {
			s.points = append(s.points, point{p.Microseconds, p.Error, p.StdErr})
		}
		c.add(s)
	}
	return c.spread()
}
