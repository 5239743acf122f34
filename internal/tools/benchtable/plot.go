package main

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var (
	ink   = color.RGBA{40, 44, 52, 255}
	faint = color.RGBA{224, 226, 230, 255}
	// procsColors are for one processor and for more. Readers of any colour vision tell them apart.
	procsColors = [2]color.RGBA{{0, 90, 181, 255}, {214, 84, 16, 255}}
	// symbols are words and letter of the documentation for the keys of the benchmarks. Those of features differ.
	symbols = map[string]string{
		"rows": "rows N", "dim": "dimension d", "outputs": "outputs K", "classes": "classes K",
	}
)

// plot draws a panel.
func (p panel) plot(f fitted, legend bool) (*plot.Plot, error) {
	drawn := plot.New()
	style(drawn)
	label, ok := symbols[p.vary]
	if !ok {
		label = f.features
	}
	drawn.Title.Text = f.call + ": " + label
	var values []float64
	for i, s := range p.series {
		points, err := s.scatter(p.vary, procsColors[min(i, 1)])
		if err != nil {
			return nil, err
		}
		drawn.Add(s.line(p.vary, f, procsColors[min(i, 1)]), points)
		if legend {
			drawn.Legend.Add(procsLabel(s.procs), points)
		}
		for _, l := range s.points {
			values = append(values, l.number(p.vary, 1))
		}
	}
	drawn.X.Min, drawn.X.Max = slices.Min(values)/1.15, slices.Max(values)*1.15
	drawn.X.Tick.Marker = plot.TickerFunc(countTicks)
	return drawn, nil
}

func procsLabel(procs int) string {
	if procs == 1 {
		return "1 core"
	}
	return fmt.Sprintf("%d cores", procs)
}

// style sets what all panels have in common.
func style(p *plot.Plot) {
	p.BackgroundColor = paper
	p.Title.TextStyle.Color, p.Title.TextStyle.Font.Size = ink, 9.5
	p.Title.Padding = 4
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Scale = plot.LogScale{}
		axis.Color, axis.Tick.Color, axis.Tick.Label.Color = ink, ink, ink
		axis.Tick.Label.Font.Size = 8
		axis.Tick.Length = 4
		axis.Padding = 0
	}
	p.Y.Tick.Marker = plot.TickerFunc(timeTicks)
	p.Legend.Left, p.Legend.Top = true, true
	p.Legend.Padding = 2
	p.Legend.XOffs, p.Legend.YOffs = 4, -3
	p.Legend.TextStyle.Font.Size, p.Legend.TextStyle.Color = 8, ink
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	p.Add(grid)
}

// scatter returns the measured points.
func (s series) scatter(vary string, c color.Color) (*plotter.Scatter, error) {
	xys := make(plotter.XYs, len(s.points))
	for i, l := range s.points {
		xys[i] = plotter.XY{X: l.number(vary, 1), Y: l.median(seconds)}
	}
	points, err := plotter.NewScatter(xys)
	if err != nil {
		return nil, err
	}
	points.GlyphStyle = draw.GlyphStyle{Color: c, Radius: 2.4, Shape: draw.CircleGlyph{}}
	return points, nil
}

// line returns the model along a panel's axis.
func (s series) line(vary string, f fitted, c color.Color) *plotter.Function {
	at := *s.points[0]
	curve := plotter.NewFunction(func(x float64) float64 {
		at.keys = slices.Clone(at.keys)
		for i := range at.keys {
			if at.keys[i].name == vary {
				at.keys[i].value = strconv.FormatFloat(x, 'g', -1, 64)
			}
		}
		return f.time(&at, s.procs)
	})
	curve.LineStyle = draw.LineStyle{Color: c, Width: vg.Length(0.9)}
	curve.Samples = 100
	return curve
}

// timeTicks labels the decades of seconds, and more if there are few of them. The space keeps the label off its mark.
func timeTicks(low, high float64) []plot.Tick {
	var labelled []float64
	if high < 100*low {
		labelled = []float64{2, 5}
	}
	return decadeTicks(low, high, labelled, func(v float64) string { return rounded(v) + "s " })
}

// countTicks marks decades, and 2 and 5 times those.
func countTicks(low, high float64) []plot.Tick {
	return decadeTicks(low, high, []float64{2, 5}, func(v float64) string { return fmt.Sprintf("%.0f", v) })
}

// decadeTicks labels the decades and the given multiples of them between low and high, and marks the other whole
// multiples.
func decadeTicks(low, high float64, labelled []float64, label func(float64) string) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Floor(math.Log10(low)); e <= math.Log10(high); e++ {
		for m := 1.0; m < 10; m++ {
			t := plot.Tick{Value: m * math.Pow(10, e)}
			if t.Value < low || t.Value > high {
				continue
			}
			if m == 1 || slices.Contains(labelled, m) {
				t.Label = label(t.Value)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}
