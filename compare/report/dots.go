package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"

	"github.com/eerf-stream/eerf/compare"
)

//go:embed dots.svg
var dotsText string

var dotsTemplate = template.Must(template.New("dots").Parse(dotsText))

// dots is a plot of one error for each method, the smallest at the top, each in a row with its name. It is narrow, so
// that it stays readable on a phone.
type dots struct {
	Label string
	Rows  []dot
	Ticks []place
	// Plain is where the error of plain features is, 0 if there is none.
	Plain float64
	// Width and Height are those of the picture, Left, Right and Bottom the edges of the axis.
	Width, Height, Left, Right, Bottom float64
	// Ink, Faint, Paper and Best are the colours other than those of methods.
	Ink, Faint, Paper, Best string
}

// dot is an error with an interval around it. X, Low and High are where they are, Y the middle of the row.
type dot struct {
	Name, Color, Text string
	Best              bool
	X, Low, High, Y   float64
	at, wide          float64 // in percent
}

// place is a tick of the axis.
type place struct {
	X    float64
	Text string
}

// Sizes of such a plot, in pixels of a phone.
const (
	dotsWidth  = 430
	dotsLeft   = 136 // of it for names
	dotsRight  = 48  // for numbers
	dotsRow    = 28
	dotsBottom = 46 // for ticks and label
)

// dotsOf returns the errors at one M with intervals of two standard errors; nil if there are none.
func dotsOf(r *compare.Result, table compare.Table) *dots {
	d := &dots{
		Label: r.Metric + ", %", Width: dotsWidth, Left: dotsLeft, Right: dotsWidth - dotsRight,
		Ink: inkCSS, Faint: faintCSS, Paper: paperCSS, Best: bestCSS,
	}
	for _, l := range table.Lines {
		if l.Repeats > 0 {
			d.Rows = append(d.Rows, dot{
				Name: l.Method, Color: colorCSS(styleOf(l.Method).color), Text: threeDigits(l.Error.Mean), Best: l.Best || l.Tied,
				at: l.Error.Mean, wide: 2 * deref(l.Error.Error),
			})
		}
	}
	if len(d.Rows) == 0 {
		return nil
	}
	slices.SortStableFunc(d.Rows, func(a, b dot) int { return cmp.Compare(a.at, b.at) })
	d.put()
	return d
}

// put places everything.
func (d *dots) put() {
	low, high := math.Inf(1), math.Inf(-1)
	for _, row := range d.Rows {
		low, high = math.Min(low, row.at-row.wide), math.Max(high, row.at+row.wide)
	}
	log := tooFarApart(low, high)
	low, high = aired(low, high, log)
	scale := func(v float64) float64 { return (v - low) / (high - low) }
	var ticks plot.Ticker = roundTicks{most: 6}
	if log {
		d.Label += ", logarithmic"
		scale = func(v float64) float64 { return math.Log(v/low) / math.Log(high/low) }
		ticks = logTicks{}
	}
	at := func(v float64) float64 { return math.Round(10*(d.Left+scale(v)*(d.Right-d.Left))) / 10 }
	for i := range d.Rows {
		row := &d.Rows[i]
		row.X, row.Low, row.High = at(row.at), at(row.at-row.wide), at(row.at+row.wide)
		row.Y = dotsRow * (float64(i) + 0.5)
		if row.Name == compare.Plain {
			d.Plain = row.X
		}
	}
	for _, tick := range ticks.Ticks(low, high) {
		if tick.Label != "" {
			d.Ticks = append(d.Ticks, place{at(tick.Value), tick.Label})
		}
	}
	d.Bottom = dotsRow * float64(len(d.Rows))
	d.Height = d.Bottom + dotsBottom
}

// draw returns the picture as SVG on white.
func (d *dots) draw() ([]byte, error) {
	var svg bytes.Buffer
	if err := dotsTemplate.Execute(&svg, d); err != nil {
		return nil, fmt.Errorf("write SVG: %w", err)
	}
	return svg.Bytes(), nil
}

// threeDigits writes an error as a label.
func threeDigits(v float64) string {
	if v < 1 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return Seconds(v)
}
