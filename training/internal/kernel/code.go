package kernel

import "github.com/eerf-stream/eerf/internal/simd"

// Code writes one row of values into panels, centred and scaled: value m goes to column m mod
// PanelColumns of the panel m / PanelColumns as (src[m] − shift[m])·scale[m]. dst starts at the row
// of the first panel, and panels are stride values apart. len(src) is a multiple of PanelColumns.
// It returns the largest magnitude that it wrote, ignoring NaN, and 0 if all are NaN.
func Code(dst []float32, stride int, src, shift, scale []float32) float32 {
	panels := len(src) / PanelColumns
	if len(src)%PanelColumns != 0 || len(shift) < len(src) || len(scale) < len(src) {
		panic("kernel: row of part of a panel, or with too few shifts or scales")
	}
	if panels == 0 {
		return 0
	}
	_ = dst[(panels-1)*stride+PanelColumns-1]
	return code(simd.Best(), dst, stride, src, shift, scale, panels)
}

// codeGo is the plain Go version of the assembly and gives the same bits.
func codeGo(dst []float32, stride int, src, shift, scale []float32, panels int) (largest float32) {
	for p := range panels {
		from := p * PanelColumns
		to := from + PanelColumns
		largest = max(largest, codeColumns(dst[p*stride:], src[from:to], shift[from:to], scale[from:to]))
	}
	return largest
}

func codeColumns(dst, src, shift, scale []float32) (largest float32) {
	dst, shift, scale = dst[:len(src)], shift[:len(src)], scale[:len(src)]
	for j, v := range src {
		coded := (v - shift[j]) * scale[j]
		dst[j] = coded
		if size := max(coded, -coded); size > largest {
			largest = size
		}
	}
	return largest
}
