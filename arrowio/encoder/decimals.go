package encoder

import (
	"math/big"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// loadScaled is loadNumbers for decimals and durations; durations are in seconds.
func loadScaled(dst []float64, a arrow.Array, rows picked) {
	switch a := a.(type) {
	case *array.Duration:
		unit := a.DataType().(*arrow.DurationType).Unit
		for i := range dst {
			dst[i] = unitSeconds(int64(a.Value(rows.row(i))), unit)
		}
	case *array.Decimal128:
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		for i := range dst {
			dst[i] = decimal(a.Value(rows.row(i)).BigInt(), scale)
		}
	case *array.Decimal256:
		scale := a.DataType().(*arrow.Decimal256Type).Scale
		for i := range dst {
			dst[i] = decimal(a.Value(rows.row(i)).BigInt(), scale)
		}
	}
}

// powers are the powers of ten that float64 holds exactly.
var powers = [...]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
	1e20, 1e21, 1e22,
}

// decimal returns the float64 closest to digits/10^scale, which is what parsing the decimal's text
// gives.
func decimal(digits *big.Int, scale int32) float64 {
	if digits.IsInt64() && scale >= 0 && int(scale) < len(powers) {
		if v := digits.Int64(); v >= -maxWhole && v <= maxWhole {
			return float64(v) / powers[scale] // both are exact
		}
	}
	v, _ := strconv.ParseFloat(digits.String()+"e"+strconv.Itoa(-int(scale)), 64) // an infinity if it is beyond float64
	return v
}
