package kernel

import (
	"encoding/binary"
	"math"
	"testing"
)

// fromBytes turns data into n finite values of moderate size, repeating it if it is too short.
func fromBytes(data []byte, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		if len(data) >= 2 {
			at := 2 * i % (len(data) - 1)
			bits := binary.LittleEndian.Uint16(data[at:])
			values[i] = math.Ldexp(float64(int16(bits)), int(bits%8)-12)
		}
	}
	return values
}

func narrow(values []float64) []float32 {
	narrowed := make([]float32, len(values))
	for i, v := range values {
		narrowed[i] = float32(v)
	}
	return narrowed
}

// FuzzLevels compares the assembly with sums in float64 and with itself at other levels, on any values and lengths.
func FuzzLevels(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7}, uint16(129), uint8(2), uint8(1))
	f.Add([]byte{0xff, 0x7f, 0, 0x80}, uint16(1), uint8(0), uint8(24))
	f.Fuzz(func(t *testing.T, data []byte, rows uint16, columns, step uint8) {
		n := int(rows)%300 + 1
		a, b := fromBytes(data, n*PanelColumns), fromBytes(data[len(data)/3:], n*PanelColumns)
		left, right := narrow(a), narrow(b)
		columnRange := columnRanges[int(columns)%len(columnRanges)]
		aColumn := int(step)%40 + 1
		var fused, fusedSums []float64
		for _, level := range levels() {
			c, sums := make([]float64, TileRows*PanelColumns), make([]float64, TileRows*StripColumns)
			for i := range c {
				c[i] = 0.5
			}
			for i := range sums {
				sums[i] = 0.5
			}
			products(level, c, left, right, n, columnRange[0], columnRange[1])
			requireProducts(t, c, left, right, n, columnRange)
			last := len(a) - 1 - (TileRows-1)*aColumn // latest start of the last term
			if last < 0 {
				continue
			}
			terms := min(n, last/StripColumns+1)
			subtract(level, sums, a, StripColumns, aColumn, b, terms)
			requireSubtracted(t, sums, a, [2]int{StripColumns, aColumn}, b, terms)
			if level > 0 && fused != nil {
				requireBits(t, "products", c, fused)
				requireBits(t, "sums", sums, fusedSums)
			}
			if level > 0 {
				fused, fusedSums = c, sums
			}
		}
	})
}
