package results

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"text/template"

	"github.com/eerf-stream/eerf/compare"
)

// The frontier is what accuracy costs: the error of learned features by M and N0, and that of boosted trees by their number, against the
// time that a row takes on one core.

//go:embed frontier.svg.tmpl
var frontierText string

var frontierTemplate = template.Must(template.New("frontier").Parse(frontierText))

// learnedMethod is the method that is drawn, treesMethod the library.
const learnedMethod, treesMethod = "adaptive-refined", "lightgbm"

// curve is the points of one N0, or of trees, by rising M or number of trees.
type curve struct {
	rows   int // N0; 0 = trees
	points []curvePoint
}

// curvePoint is a set of features or an ensemble: M or the number of trees, microseconds for a row, and the error in percent.
type curvePoint struct {
	size          int
	micros, error float64
}

// costs are the curves of a data set.
type costs struct {
	name   string
	curves []curve
}

// readFrontier reads results of one M and N0 each, and trees of several sizes.
func readFrontier(paths, treePaths []string) ([]costs, error) {
	var all []costs
	curveOf := func(name string, rows int) *curve {
		at := slices.IndexFunc(all, func(c costs) bool { return c.name == name })
		if at < 0 {
			all, at = append(all, costs{name: name}), len(all)
		}
		own := &all[at]
		i := slices.IndexFunc(own.curves, func(c curve) bool { return c.rows == rows })
		if i < 0 {
			own.curves, i = append(own.curves, curve{rows: rows}), len(own.curves)
		}
		return &own.curves[i]
	}
	for _, path := range paths {
		r := &compare.Result{}
		if err := readJSON(path, r); err != nil {
			return nil, err
		}
		for _, t := range r.Tables {
			for _, l := range t.Lines {
				if l.Method == learnedMethod && l.Repeats > 0 {
					c := curveOf(r.Data.Name, r.Data.SampleRows)
					c.points = append(c.points, curvePoint{t.M, r.RowMicroseconds(l.Method, t.M), l.Error.Mean})
				}
			}
		}
	}
	trees, err := readTrees(treePaths)
	if err != nil {
		return nil, err
	}
	for _, set := range all {
		c := curveOf(set.name, 0)
		for _, s := range trees.sizes(set.name, treesMethod) {
			c.points = append(c.points, curvePoint{s.trees, s.microseconds, s.error.value})
		}
	}
	for _, set := range all {
		slices.SortFunc(set.curves, func(a, b curve) int { return a.rows - b.rows })
		for _, c := range set.curves {
			slices.SortFunc(c.points, func(a, b curvePoint) int { return a.size - b.size })
		}
	}
	return all, nil
}

// writeFrontier writes a table of each kind: an error and the microseconds in a cell.
func writeFrontier(w io.Writer, all []costs) {
	for _, kind := range []struct {
		trees bool
		size  string
	}{{false, "M"}, {true, "trees"}} {
		var sizes []int
		for _, set := range all {
			for _, c := range set.curves {
				for _, p := range c.points {
					if (c.rows == 0) == kind.trees && !slices.Contains(sizes, p.size) {
						sizes = append(sizes, p.size)
					}
				}
			}
		}
		slices.Sort(sizes)
		cells := []string{kind.size}
		for _, n := range sizes {
			cells = append(cells, strconv.Itoa(n))
		}
		head(w, cells...)
		for _, set := range all {
			for _, c := range set.curves {
				if (c.rows == 0) != kind.trees {
					continue
				}
				cells := []string{set.name}
				if !kind.trees {
					cells[0] += fmt.Sprintf(", N0 = %d", c.rows)
				}
				for _, n := range sizes {
					cells = append(cells, c.cell(n))
				}
				row(w, cells...)
			}
		}
		fmt.Fprintln(w)
	}
}

// cell is the point of a size as text.
func (c curve) cell(size int) string {
	i := slices.IndexFunc(c.points, func(p curvePoint) bool { return p.size == size })
	if i < 0 {
		return none
	}
	return fmt.Sprintf("%.3g·%s", c.points[i].error, short(c.points[i].micros))
}

// Sizes of the figure, in the units of its view box.
const (
	panelWidth, panelLeft, panelTop, panelHeight, panelGap = 212.0, 40.0, 48.0, 210.0, 42.0
)

// panel is a data set in the figure.
type panel struct {
	Name                     string
	Left, Right, Top, Bottom float64
	X, Y                     []overviewTick
	Curves                   []panelCurve
}

type panelCurve struct {
	Class, Path string
	Points      []panelPoint
}

type panelPoint struct {
	X, Y float64
	Text string
}

// drawFrontier draws a panel for each data set, with logarithmic axes.
func drawFrontier(path string, all []costs) error {
	figure := struct {
		Width, Height float64
		Panels        []panel
	}{Width: panelLeft + float64(len(all))*(panelWidth+panelGap), Height: panelTop + panelHeight + 40}
	for i, set := range all {
		left := panelLeft + float64(i)*(panelWidth+panelGap)
		figure.Panels = append(figure.Panels, set.panel(left))
	}
	var b bytes.Buffer
	if err := frontierTemplate.Execute(&b, figure); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644) //nolint:gosec // a picture of the documentation
}

func (s costs) panel(left float64) panel {
	x, y := newLogAxis(left, left+panelWidth), newLogAxis(panelTop+panelHeight, panelTop)
	for _, c := range s.curves {
		for _, p := range c.points {
			x.include(p.micros)
			y.include(p.error)
		}
	}
	p := panel{Name: s.name, Left: left, Right: left + panelWidth, Top: panelTop, Bottom: panelTop + panelHeight, X: x.ticks(), Y: y.ticks()}
	for i, c := range s.curves {
		drawn := panelCurve{Class: fmt.Sprintf("rows%d", i)}
		if c.rows == 0 {
			drawn.Class = "trees"
		}
		for j, at := range c.points {
			point := panelPoint{x.at(at.micros), y.at(at.error), strconv.Itoa(at.size)}
			drawn.Points = append(drawn.Points, point)
			drawn.Path += fmt.Sprintf("%c%g %g", "ML"[min(j, 1)], point.X, point.Y)
		}
		p.Curves = append(p.Curves, drawn)
	}
	return p
}

// logAxis maps positive numbers to positions.
type logAxis struct{ from, to, least, most float64 }

func newLogAxis(from, to float64) *logAxis { return &logAxis{from, to, math.Inf(1), 0} }

func (a *logAxis) include(v float64) { a.least, a.most = min(a.least, v/1.15), max(a.most, v*1.15) }

func (a *logAxis) at(v float64) float64 {
	return math.Round(10*(a.from+math.Log(v/a.least)/math.Log(a.most/a.least)*(a.to-a.from))) / 10
}

// ticks are at 1, 2 and 5 times powers of ten, and at every whole number where these are fewer than three.
func (a *logAxis) ticks() (all []overviewTick) {
	for _, steps := range [][]float64{{1, 2, 5}, {1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5}} {
		all = nil
		for power := math.Pow(10, math.Floor(math.Log10(a.least))); power <= a.most; power *= 10 {
			for _, step := range steps {
				if v := step * power; v >= a.least && v <= a.most {
					all = append(all, overviewTick{a.at(v), strconv.FormatFloat(v, 'g', 3, 64)})
				}
			}
		}
		if len(all) >= 3 {
			break
		}
	}
	return all
}
