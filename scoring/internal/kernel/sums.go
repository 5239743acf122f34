package kernel

import "github.com/eerf-stream/eerf/internal/simd"

// total is the sums of one panel, each [Width] long; product is longer for classes.
type total struct {
	sum, square []float64
	product     []float64 // Σ y φ of an output, or the sums of all classes
	stride      int       // from one class to the next in product
}

// add adds the features of rows, phi [rows][Width], by their targets.
func (t total) add(level simd.Level, phi []float32, rows int, targets Targets) {
	if targets.Values == nil {
		t.addClasses(level, phi, targets.Class, targets.Outputs)
		return
	}
	t.addValues(level, phi, rows, targets.Values, targets.Outputs)
	for k := 1; k < targets.Outputs; k++ {
		addProducts(level, t.product[k*t.stride:], phi, rows, targets.Values[k:], targets.Outputs)
	}
}

// addValuesPlain adds the features of rows, phi [rows][Width], and their products with y[i·stride],
// in row order. A product of two widened float32 numbers is exact, so fusing it with the addition
// changes nothing.
func (t total) addValuesPlain(phi []float32, rows int, y []float32, stride int) {
	sum := t.sum[:Width]
	square := t.square[:Width]
	product := t.product[:Width]
	for r := range rows {
		value := float64(y[r*stride])
		for f, v := range phi[r*Width : (r+1)*Width] {
			v := float64(v)
			sum[f] += v
			square[f] += float64(v * v)
			product[f] += float64(value * v)
		}
	}
}

// addProductsPlain adds only the products.
func addProductsPlain(product []float64, phi []float32, rows int, y []float32, stride int) {
	product = product[:Width]
	for r := range rows {
		value := float64(y[r*stride])
		for f, v := range phi[r*Width : (r+1)*Width] {
			product[f] += float64(value * float64(v))
		}
	}
}

// addClassesPlain adds the features of rows, and adds those of each row to the sums of its class.
func (t total) addClassesPlain(phi []float32, class []int32) {
	sum, square := t.sum[:Width], t.square[:Width]
	for r, k := range class {
		own := t.product[int(k)*t.stride:][:Width]
		for f, v := range phi[r*Width : (r+1)*Width] {
			v := float64(v)
			sum[f] += v
			square[f] += float64(v * v)
			own[f] += v
		}
	}
}
