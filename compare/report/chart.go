package report

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// chart is a plot of points in series.
type chart struct {
	x, y   axis
	series []series
	marks  []mark
	bare   bool // a curve: its points have no glyph, its axis begins at zero, and there is no legend
}

type axis struct {
	label string
	log   bool
	ticks []tick // nil = the plot decides
}

type tick struct {
	at   float64
	text string
}

type series struct {
	name   string
	style  style
	points []point
}

// point has a value with its standard error, 0 for none.
type point struct{ x, y, se float64 }

// mark is a vertical line with a text, and a horizontal one at y.
type mark struct {
	x, y float64
	text string
}

// Sizes of a plot.
const (
	chartWidth  = 720 * vg.Length(1)
	chartHeight = 380 * vg.Length(1)
	legendWidth = 195 * vg.Length(1)
)

// add adds a series unless it is empty.
func (c *chart) add(s series) {
	if len(s.points) > 0 {
		c.series = append(c.series, s)
	}
}

// orNil returns nil for a chart without points.
func (c *chart) orNil() *chart {
	if len(c.series) == 0 {
		return nil
	}
	return c
}

// spread makes the y axis logarithmic if the values are too far apart for a linear one.
func (c *chart) spread() *chart {
	if c = c.orNil(); c == nil {
		return nil
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range c.series {
		for _, p := range s.points {
			low, high = math.Min(low, p.y-p.se), math.Max(high, p.y+p.se)
		}
	}
	c.y.log = tooFarApart(low, high)
	return c
}

// tooFarApart says that values need a logarithmic axis.
func tooFarApart(low, high float64) bool {
	const far = 20
	return low > 0 && high > far*low
}

// draw returns the picture as SVG on white.
func (c *chart) draw() ([]byte, error) {
	p := plot.New()
	c.setAxes(p)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = faint, faint
	p.Add(grid)
	if err := c.addMarks(p); err != nil {
		return nil, err
	}
	legend := plot.NewLegend()
	for i, s := range c.series {
		thumbs, err := c.addSeries(p, i, s)
		if err != nil {
			return nil, err
		}
		legend.Add(s.name, thumbs...)
	}
	canvas := vgsvg.New(chartWidth, chartHeight)
	whole := draw.New(canvas)
	area := whole
	if !c.bare {
		area = draw.Crop(whole, 0, -legendWidth, 0, 0)
		c.drawLegend(&legend, draw.Crop(whole, chartWidth-legendWidth+vg.Points(12), 0, 0, -vg.Points(12)))
	}
	p.Draw(draw.Crop(area, vg.Points(4), -vg.Points(10), vg.Points(4), -vg.Points(8)))
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return nil, fmt.Errorf("write SVG: %w", err)
	}
	return svg.Bytes(), nil
}

func (c *chart) drawLegend(legend *plot.Legend, area draw.Canvas) {
	legend.Top, legend.Left = true, true
	legend.TextStyle.Color = ink
	legend.TextStyle.Font.Size = fontSize
	legend.TextStyle.Font.Variant = fontVariant
	legend.Padding = vg.Points(4)
	legend.ThumbnailWidth = vg.Points(24)
	legend.YPosition = draw.PosCenter
	legend.Draw(area)
}

const (
	fontSize    = 12 * vg.Length(1)
	fontVariant = "Sans"
)

// setAxes dresses the axes and sets their ranges.
func (c *chart) setAxes(p *plot.Plot) {
	p.BackgroundColor = paper
	for _, a := range []struct {
		to   *plot.Axis
		from axis
	}{{&p.X, c.x}, {&p.Y, c.y}} {
		a.to.Label.Text = a.from.label
		a.to.Label.TextStyle.Color, a.to.Tick.Label.Color, a.to.Color, a.to.Tick.Color = ink, ink, ink, ink
		a.to.Label.TextStyle.Font.Size, a.to.Tick.Label.Font.Size = fontSize, fontSize
		a.to.Label.TextStyle.Font.Variant, a.to.Tick.Label.Font.Variant = fontVariant, fontVariant
		a.to.Label.Padding = vg.Points(6)
		a.to.Padding = vg.Points(3)
		a.to.Min, a.to.Max = c.span(a.to == &p.X)
		a.to.Tick.Marker = roundTicks{most: 8}
		if a.from.log {
			a.to.Scale = plot.LogScale{}
			a.to.Tick.Marker = logTicks{}
		}
		if a.from.ticks != nil {
			a.to.Tick.Marker = plot.ConstantTicks(ticksAt(a.from.ticks))
		}
	}
}

// span returns the range of an axis, with some air around the points.
func (c *chart) span(x bool) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range c.series {
		for _, p := range s.points {
			v, se := p.y, p.se
			if x {
				v, se = p.x, 0
			}
			low, high = math.Min(low, v-se), math.Max(high, v+se)
		}
	}
	low, high = aired(low, high, x && c.x.log || !x && c.y.log)
	if c.bare && !x {
		return 0, high
	}
	return low, high
}

// aired is a range with some air around it.
func aired(low, high float64, log bool) (lower, higher float64) {
	if log {
		air := math.Max(math.Pow(high/low, 0.06), 1.1)
		return low / air, high * air
	}
	air := 0.06 * (high - low)
	if air == 0 {
		air = math.Max(0.1*math.Abs(high), 1e-3)
	}
	return low - air, high + air
}

// addSeries draws one series: its line, bars and points. Bars of several series at one x stand side by side.
func (c *chart) addSeries(p *plot.Plot, number int, s series) ([]plot.Thumbnailer, error) {
	xys, bars := make(plotter.XYs, len(s.points)), make(plotter.YErrors, len(s.points))
	for i, pt := range s.points {
		xys[i] = plotter.XY{X: c.beside(number, pt.x), Y: pt.y}
		bars[i].Low, bars[i].High = pt.se, pt.se
	}
	line, points, err := plotter.NewLinePoints(xys)
	if err != nil {
		return nil, fmt.Errorf("series %s: %w", s.name, err)
	}
	line.Color, line.Width, line.Dashes = s.style.color, vg.Points(1.6), s.style.dashes
	points.Color, points.Shape, points.Radius = s.style.color, s.style.glyph, vg.Points(3.2)
	p.Add(line)
	if c.bare {
		return []plot.Thumbnailer{line}, nil
	}
	errorBars, err := plotter.NewYErrorBars(struct {
		plotter.XYer
		plotter.YErrorer
	}{xys, bars})
	if err != nil {
		return nil, fmt.Errorf("error bars of %s: %w", s.name, err)
	}
	errorBars.Color, errorBars.CapWidth = s.style.color, vg.Points(5)
	p.Add(errorBars, points)
	return []plot.Thumbnailer{line, points}, nil
}

// beside moves a point of a series a little to the side, so that bars at one M do not hide each other.
func (c *chart) beside(number int, x float64) float64 {
	if c.x.ticks == nil {
		return x
	}
	low, high := c.span(true)
	step := 0.006 * (float64(number) - float64(len(c.series)-1)/2)
	if c.x.log {
		return x * math.Pow(high/low, step)
	}
	return x + step*(high-low)
}

// addMarks draws the vertical lines.
func (c *chart) addMarks(p *plot.Plot) error {
	_, top := c.span(false)
	for _, m := range c.marks {
		line, err := plotter.NewLine(plotter.XYs{{X: m.x, Y: 0}, {X: m.x, Y: top}})
		if err != nil {
			return fmt.Errorf("mark %s: %w", m.text, err)
		}
		line.Color, line.Width, line.Dashes = ink, vg.Points(0.8), []vg.Length{vg.Points(4), vg.Points(3)}
		label, err := plotter.NewLabels(plotter.XYLabels{
			XYs: []plotter.XY{{X: m.x, Y: 0.97 * top}}, Labels: []string{fmt.Sprintf("%s: %.3g", m.text, m.y)},
		})
		if err != nil {
			return fmt.Errorf("mark %s: %w", m.text, err)
		}
		label.TextStyle[0].Color, label.TextStyle[0].Font.Size, label.TextStyle[0].Font.Variant = ink, fontSize, fontVariant
		label.TextStyle[0].Rotation = math.Pi / 2
		label.TextStyle[0].XAlign, label.TextStyle[0].YAlign = text.XRight, text.YTop
		label.Offset.X = vg.Points(2)
		p.Add(line, label)
	}
	return nil
}

// ticksAt labels the given places.
func ticksAt(places []tick) []plot.Tick {
	ticks := make([]plot.Tick, len(places))
	for i, t := range places {
		ticks[i] = plot.Tick{Value: t.at, Label: t.text}
	}
	return ticks
}

// roundTicks labels multiples of 1, 2 or 5 times a power of ten, at most this many.
type roundTicks struct{ most float64 }

// Ticks implements plot.Ticker.
func (t roundTicks) Ticks(low, high float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/6)))
	for _, times := range []float64{2, 2.5, 2} { // to 2, 5, 10
		if (high-low)/step > t.most {
			step *= times
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(low / step); i*step <= high; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: tickLabel(i*step + 0)}) // -0 becomes 0
	}
	return ticks
}

// logTicks labels 1, 2 and 5 times the powers of ten, or only these powers if there are many.
type logTicks struct{}

// Ticks implements plot.Ticker.
func (logTicks) Ticks(low, high float64) []plot.Tick {
	labelled := map[int]bool{1: true, 2: true, 5: true}
	if high/low > 1e3 {
		labelled = map[int]bool{1: true}
	}
	var ticks []plot.Tick
	for power := math.Floor(math.Log10(low)); power <= math.Ceil(math.Log10(high)); power++ {
		for digit := 1; digit < 10; digit++ {
			v := float64(digit) * math.Pow(10, power)
			if v < low || v > high {
				continue
			}
			tick := plot.Tick{Value: v}
			if labelled[digit] {
				tick.Label = tickLabel(v)
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

// tickLabel writes a number as briefly as possible.
func tickLabel(v float64) string {
	if a := math.Abs(v); a >= 1e-4 && a < 1e6 {
		return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
