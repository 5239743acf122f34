package scoring

import (
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

// Affine says how raw rows are encoded: x_k = (raw_k − Shift[k])/Scale[k], both [Dim]. Folded into ω and the phase,
//
//	ωᵀx + b = (ω/Scale)ᵀraw + (b − Σ ω·Shift/Scale),
//
// it costs nothing per row. The right-hand side is computed in float64 and then narrowed, so a raw number should not be
// many times larger than its Scale: the rounding of its product is relative to the raw number.
type Affine struct{ Shift, Scale []float64 }

// check panics unless a is nil or fits features of the map for rows of dim numbers.
func (a *Affine) check(m Map, dim int) {
	if a == nil {
		return
	}
	if m.Coordinates() {
		panic("scoring: the linear map takes encoded rows, an affine encoding cannot be folded into it")
	}
	if len(a.Shift) != dim || len(a.Scale) != dim {
		panic(fmt.Sprintf("scoring: %d shifts and %d scales for rows of %d", len(a.Shift), len(a.Scale), dim))
	}
	for k, s := range a.Scale {
		if !(s > 0) || math.IsInf(s, 0) || math.IsNaN(a.Shift[k]) || math.IsInf(a.Shift[k], 0) {
			panic(fmt.Sprintf("scoring: shift %v and scale %v of number %d", a.Shift[k], s, k))
		}
	}
}

// folded is a as the kernels take it.
func (a *Affine) folded() *kernel.Affine { return (*kernel.Affine)(a) }
