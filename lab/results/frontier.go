package results

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/eerf-stream/eerf/compare"
)

// The frontier is the cost of accuracy: the error of learned features by M and N0, and of boosted
// trees by their number, against the time per row on one core.

// learnedMethod is the method of the tables, treesMethod the library.
const learnedMethod, treesMethod = "adaptive-refined", "lightgbm"

// curve is the points of one N0, or of trees, by rising M or number of trees.
type curve struct {
	rows   int // N0; 0 = trees
	points []curvePoint
}

// curvePoint is a set of features or an ensemble: M or the number of trees, microseconds per row,
// and the error in percent.
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
	trees, err := readTrees(treePaths, "")
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

// cell formats the point of a size.
func (c curve) cell(size int) string {
	i := slices.IndexFunc(c.points, func(p curvePoint) bool { return p.size == size })
	if i < 0 {
		return none
	}
	return fmt.Sprintf("%.3g·%s", c.points[i].error, short(c.points[i].micros))
}
