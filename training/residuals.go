package training

import (
	"fmt"

	"github.com/eerf-stream/eerf/internal/parallel"
)

// Residuals sets dst to f_k − y_k of each row, rows×K, row-major like y; z is rows×M. Predictions are those of Predict.
// Up to workers goroutines share the rows (0 means GOMAXPROCS); the result does not depend on their number. It panics
// if the lengths do not match.
func (m *Model) Residuals(dst, z, y []float32, rows, workers int) {
	if len(dst) != len(y) || len(y) != rows*m.Outputs || len(z) != rows*m.Features {
		panic(fmt.Sprintf("training: residuals of %d rows by %d features and %d outputs, given %d and %d values for %d",
			rows, m.Features, m.Outputs, len(z), len(y), len(dst)))
	}
	const chunk = 256
	chunks := (rows + chunk - 1) / chunk
	goroutines := parallel.Workers(chunks, 2*rows*m.Features*m.Outputs)
	if workers > 0 {
		goroutines = min(goroutines, workers)
	}
	parallel.Tasks(goroutines, chunks, func(_, n int) {
		first, next := n*chunk, min((n+1)*chunk, rows)
		own := dst[first*m.Outputs : next*m.Outputs]
		m.Predict(own, z[first*m.Features:next*m.Features], next-first)
		for i, v := range y[first*m.Outputs : next*m.Outputs] {
			own[i] -= v
		}
	})
}
