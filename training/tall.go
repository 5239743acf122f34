package training

import (
	"fmt"
	"unsafe"

	"github.com/eerf-stream/eerf/training/internal/kernel"
)

// PanelColumns is the number of columns of a panel of a [Tall].
const PanelColumns = kernel.PanelColumns

// Tall is a matrix with many rows and few columns in the layout that [Crosser] reads: consecutive
// panels of PanelColumns columns, each row by row. The numbers beyond the last column do not
// matter.
type Tall struct {
	Rows, Columns int
	// Data is [Panels][Rows][PanelColumns].
	Data []float32
}

// NewTall returns a matrix of zeros, aligned to a cache line. It panics unless both numbers are
// positive.
func NewTall(rows, columns int) *Tall {
	t := &Tall{Rows: rows, Columns: columns}
	if rows < 1 || columns < 1 {
		panic(fmt.Sprintf("training: tall matrix of %d rows and %d columns", rows, columns))
	}
	const line = 64 / 4
	n := t.Panels() * rows * PanelColumns
	memory := make([]float32, n+line)
	past := int(uintptr(unsafe.Pointer(&memory[0]))/4) % line
	t.Data = memory[(line-past)%line:][:n:n]
	return t
}

// TallBytes returns the memory of a tall matrix.
func TallBytes(rows, columns int) int64 {
	return 4 * int64(rows) * int64(kernel.RoundUp(columns, PanelColumns))
}

// Panels returns the number of panels.
func (t *Tall) Panels() int { return kernel.RoundUp(t.Columns, PanelColumns) / PanelColumns }

// Panel returns rows first..next-1 of a panel.
func (t *Tall) Panel(panel, first, next int) []float32 {
	at := panel * t.Rows
	return t.Data[(at+first)*PanelColumns : (at+next)*PanelColumns]
}

// SetRows copies row-major rows to rows first, first+1, …. It panics if they do not fit.
func (t *Tall) SetRows(first int, x []float32) {
	rows := len(x) / t.Columns
	if rows*t.Columns != len(x) || first < 0 || first+rows > t.Rows {
		panic(fmt.Sprintf("training: %d numbers at row %d of a tall matrix of %d by %d", len(x), first, t.Rows, t.Columns))
	}
	for p := range t.Panels() {
		at := p * PanelColumns
		width := min(PanelColumns, t.Columns-at)
		to := t.Panel(p, first, first+rows)
		for r := range rows {
			copy(to[r*PanelColumns:], x[r*t.Columns+at:][:width])
		}
	}
}
