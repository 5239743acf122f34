package compare

import (
	"math"

	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// treeColumn tells how trees see some neighbouring dimensions of encoded rows.
type treeColumn struct {
	first, values int  // dimensions
	category      bool // the values are those of one category: trees get its number
	missing       int  // dimension that marks missing values, -1 = none
}

// treeColumns returns the columns of trees, as their users would give them: categories as such, and
// missing numbers as missing.
func (r *repeat) treeColumns() []treeColumn {
	var columns []treeColumn
	first := 0
	for _, c := range r.encoder.Columns {
		end, missing := first+c.Width, -1
		if c.Missing {
			missing = end - 1
		}
		switch {
		case c.Kind == encoder.Category:
			columns = append(columns, treesOfCategory(&c, first)...)
		case c.Kind == encoder.Vector:
			columns = append(columns, treeColumn{first, c.Width, false, -1})
		default:
			columns = append(columns, treeColumn{first, 1, false, missing})
			rest := end - first - 1
			if c.Missing {
				rest--
			}
			if rest > 0 { // cycles
				columns = append(columns, treeColumn{first + 1, rest, false, missing})
			}
		}
		first = end
	}
	if first == 0 {
		return []treeColumn{{0, r.train.dim, false, -1}}
	}
	return columns
}

// treesOfCategory returns the columns of trees for a category whose first dimension is given.
func treesOfCategory(c *encoder.Column, first int) []treeColumn {
	if c.Effects == nil {
		return []treeColumn{{first, c.Width, true, -1}}
	}
	effects, values := len(c.Effects.Mean), len(c.Categories)+1 // with effects there is one for other values
	columns := []treeColumn{{first, values, true, -1}, {first + values, effects, false, -1}}
	if c.Missing {
		columns = append(columns, treeColumn{first + c.Width - 1, 1, false, -1})
	}
	return columns
}

// treeRows returns the rows of trees, row-major, and the numbers of their categorical columns.
func treeRows(d *rows, columns []treeColumn) (x []float32, categories []int) {
	width := 0
	for _, c := range columns {
		if !c.category {
			width += c.values
			continue
		}
		categories = append(categories, width)
		width++
	}
	missing := float32(math.NaN())
	x = make([]float32, 0, d.rows*width)
	for i := range d.rows {
		row := d.x[i*d.dim : (i+1)*d.dim]
		for _, c := range columns {
			values := row[c.first : c.first+c.values]
			switch {
			case c.category:
				x = append(x, categoryOf(values))
			case c.missing >= 0 && row[c.missing] > 0:
				for range values {
					x = append(x, missing)
				}
			default:
				x = append(x, values...)
			}
		}
	}
	return x, categories
}

// categoryOf returns the number of the dimension that marks the category of a row, NaN if none
// does.
func categoryOf(values []float32) float32 {
	best := 0
	for j, v := range values {
		if v > values[best] {
			best = j
		}
	}
	if len(values) == 0 || values[best] <= 0 {
		return float32(math.NaN())
	}
	return float32(best)
}
