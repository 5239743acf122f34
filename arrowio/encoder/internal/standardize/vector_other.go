//go:build !amd64 || noasm

package standardize

// columnVector stands for Column in vectors, which this build does not have.
func columnVector[T float32 | float64]([]float32, []T, float64, float64, float32) (int, bool) {
	return 0, false
}

// rowVector stands for Row in vectors, which this build does not have.
func rowVector[T float32 | float64]([]float32, []T, []float64, []float64, float32) (int, bool) {
	return 0, false
}
