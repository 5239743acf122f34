package scoring

import "github.com/eerf-stream/eerf/scoring/internal/portable"

// Log returns the natural logarithm of a positive, finite number, with the same bits on every processor: what is learned from
// logarithms of labels has to agree between processes.
func Log(x float64) float64 { return portable.Log(x) }
