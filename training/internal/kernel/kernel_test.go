package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/internal/simd"
	"github.com/eerf-stream/eerf/training/internal/guard"
)

// levels returns the levels that this machine can run, plain Go first.
func levels() []simd.Level {
	var all []simd.Level
	for l := simd.None; l <= simd.Best(); l++ {
		all = append(all, l)
	}
	return all
}

// requireBits fails unless got and want have the same bits.
func requireBits[T float32 | float64](t *testing.T, what string, got, want []T) {
	t.Helper()
	for i := range want {
		if math.Float64bits(float64(got[i])) != math.Float64bits(float64(want[i])) {
			t.Fatalf("%s: value %d is %v, want %v to the bit", what, i, got[i], want[i])
		}
	}
}

var blockLengths = []int{1, 2, 7, 8, 9, 127, 128, 129, 255, 256, 257, 400}

// columnRanges are all ranges that Products accepts.
var columnRanges = [][2]int{{0, 16}, {0, 32}, {0, 48}, {16, 32}, {16, 48}, {32, 48}}

func TestProductsAtEveryLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, rows := range blockLengths {
		a, aWhole := guard.Slice(rows*PanelColumns, func() float32 { return float32(r.NormFloat64()) })
		b, bWhole := guard.Slice(rows*PanelColumns, func() float32 { return float32(r.NormFloat64()) })
		aBefore, bBefore := slices.Clone(aWhole), slices.Clone(bWhole)
		for _, columns := range columnRanges {
			offset := TileRows * r.IntN(PanelColumns/TileRows)
			var fused []float64
			for _, level := range levels() {
				c, whole := guard.Slice(TileRows*PanelColumns, func() float64 { return 0.5 })
				products(level, c, a[offset:], b, rows, columns[0], columns[1])
				requireProducts(t, c, a[offset:], b, rows, columns)
				guard.Require(t, whole)
				switch {
				case level == simd.None:
				case fused == nil:
					fused = c
				default:
					requireBits(t, "levels", c, fused)
				}
			}
		}
		requireBits(t, "left panel", aWhole, aBefore)
		requireBits(t, "right panel", bWhole, bBefore)
	}
}

// requireProducts compares a tile that started with 0.5 everywhere with sums in float64, within the
// bound of BlockRows roundings for every block.
func requireProducts(t *testing.T, c []float64, a, b []float32, rows int, columns [2]int) {
	t.Helper()
	for i := range TileRows {
		for j := range PanelColumns {
			want, size := 0.5, 0.0
			for r := range rows {
				if columns[0] <= j && j < columns[1] {
					term := float64(a[r*PanelColumns+i]) * float64(b[r*PanelColumns+j])
					want, size = want+term, size+math.Abs(term)
				}
			}
			if got := c[i*PanelColumns+j]; !(math.Abs(got-want) <= (BlockRows+1)*0x1p-24*size) {
				t.Fatalf("%d rows, columns %v: element (%d, %d) is %v, want %v", rows, columns, i, j, got, want)
			}
		}
	}
}

func TestCodeHasTheSameBitsAtEveryLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	normal := func() float32 { return float32(r.NormFloat64()) }
	for panels := range 4 {
		for _, stride := range []int{PanelColumns, 7 * PanelColumns} {
			n := panels * PanelColumns
			src, srcWhole := guard.Slice(n, normal)
			before := slices.Clone(srcWhole)
			shift, _ := guard.Slice(n, normal)
			scale, _ := guard.Slice(n, func() float32 { return float32(math.Ldexp(1, r.IntN(9)-4)) })
			for _, level := range levels() {
				dst, whole := guard.Slice(max(0, (panels-1)*stride+PanelColumns), func() float32 { return guard.Value })
				var largest, wantLargest float32
				if panels > 0 {
					largest = code(level, dst, stride, src, shift, scale, panels)
				}
				guard.Require(t, whole)
				for i, v := range dst {
					p, j := i/stride, i%stride
					want := float32(guard.Value)
					if j < PanelColumns {
						m := p*PanelColumns + j
						want = float32(src[m]-shift[m]) * scale[m]
						wantLargest = max(wantLargest, want, -want)
					}
					requireBits(t, level.String(), []float32{v}, []float32{want})
				}
				requireBits(t, level.String()+", largest", []float32{largest}, []float32{wantLargest})
			}
			requireBits(t, "source", srcWhole, before)
		}
	}
}

func TestCodeFindsTheLargestAnywhere(t *testing.T) {
	const panels = 2
	n := panels * PanelColumns
	shift, scale, dst := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range scale {
		scale[i] = 2
	}
	for _, level := range levels() {
		for at := range n {
			src := make([]float32, n)
			src[at], src[(at+1)%n], src[(at+17)%n] = -3, float32(math.NaN()), 2
			if got := code(level, dst, PanelColumns, src, shift, scale, panels); got != 6 {
				t.Fatalf("%v: largest is %v beside NaN, want 6 of column %d", level, got, at)
			}
			src[at] = float32(math.Inf(-1))
			if got := code(level, dst, PanelColumns, src, shift, scale, panels); !math.IsInf(float64(got), 1) {
				t.Fatalf("%v: largest is %v, want infinity", level, got)
			}
		}
	}
}

func TestSubtractAtEveryLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{1, 2, 7, 8, 9, 23, 24, 25, 100, 1000} {
		for _, steps := range [][2]int{{StripColumns, 1}, {1, StripColumns}, {TileRows, 1}, {1, 1}, {17, 1001}} {
			a, aWhole := guard.Slice((n-1)*steps[0]+(TileRows-1)*steps[1]+1, r.NormFloat64)
			b, bWhole := guard.Slice(n*StripColumns, r.NormFloat64)
			aBefore, bBefore := slices.Clone(aWhole), slices.Clone(bWhole)
			var fused []float64
			for _, level := range levels() {
				c, whole := guard.Slice(TileRows*StripColumns, func() float64 { return 0.5 })
				subtract(level, c, a, steps[0], steps[1], b, n)
				requireSubtracted(t, c, a, steps, b, n)
				guard.Require(t, whole)
				switch {
				case level == simd.None:
				case fused == nil:
					fused = c
				default:
					requireBits(t, "levels", c, fused)
				}
			}
			requireBits(t, "left matrix", aWhole, aBefore)
			requireBits(t, "right matrix", bWhole, bBefore)
		}
	}
}

// requireSubtracted compares a tile that started with 0.5 everywhere with plain sums.
func requireSubtracted(t *testing.T, c, a []float64, steps [2]int, b []float64, n int) {
	t.Helper()
	for i := range TileRows {
		for j := range StripColumns {
			want, size := 0.5, 0.5
			for p := range n {
				term := a[p*steps[0]+i*steps[1]] * b[p*StripColumns+j]
				want, size = want-term, size+math.Abs(term)
			}
			if got := c[i*StripColumns+j]; !(math.Abs(got-want) <= float64(2*n)*0x1p-53*size) {
				t.Fatalf("%d terms, steps %v: element (%d, %d) is %v, want %v", n, steps, i, j, got, want)
			}
		}
	}
}

func TestWrongCallsPanic(t *testing.T) {
	f32, f64 := make([]float32, 1000), make([]float64, 1000)
	for name, call := range map[string]func(){
		"products of no rows":            func() { Products(f64, f32, f32, 0, 0, 48) },
		"products of half a vector":      func() { Products(f64, f32, f32, 1, 0, 24) },
		"products of no columns":         func() { Products(f64, f32, f32, 1, 16, 16) },
		"products of too many columns":   func() { Products(f64, f32, f32, 1, 0, 64) },
		"products beyond the left":       func() { Products(f64, f32[:55], f32, 2, 0, 48) },
		"products beyond the right":      func() { Products(f64, f32, f32[:95], 2, 0, 48) },
		"products beyond the tile":       func() { Products(f64[:383], f32, f32, 1, 0, 48) },
		"code of half a panel":           func() { Code(f32, 48, f32[:24], f32, f32) },
		"code beyond the panels":         func() { Code(f32[:95], 48, f32[:96], f32, f32) },
		"code without shifts":            func() { Code(f32, 48, f32[:96], f32[:95], f32) },
		"subtract of no terms":           func() { Subtract(f64, f64, 24, 1, f64, 0) },
		"subtract with a step back":      func() { Subtract(f64, f64, 24, -1, f64, 1) },
		"subtract beyond the left":       func() { Subtract(f64, f64[:31], 24, 1, f64, 2) },
		"subtract beyond the right":      func() { Subtract(f64, f64, 24, 1, f64[:47], 2) },
		"subtract beyond the tile":       func() { Subtract(f64[:191], f64, 24, 1, f64, 2) },
		"subtract of wide left columns":  func() { Subtract(f64, f64, 1, 1000, f64, 1) },
		"products of columns from below": func() { Products(f64, f32, f32, 1, -16, 48) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}
