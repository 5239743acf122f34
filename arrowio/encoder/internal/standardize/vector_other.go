//go:build !amd64 || noasm

package standardize

// columnVector would be Column in vectors.
func columnVector[T float32 | float64]([]float32, []T, float64, float64, float32) (int, bool) {
	return 0, false
}

// rowVector would be Row in vectors.
func rowVector[T float32 | float64]([]float32, []T, []float64, []float64, float32) (int, bool) {
	return 0, false
}
