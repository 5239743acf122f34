package scoring

import "github.com/eerf-stream/eerf/scoring/internal/portable"

// Log returns the natural logarithm of a positive, finite number, with the same bits on every
// processor: processes must agree on features that were learned from logarithms of labels.
func Log(x float64) float64 { return portable.Log(x) }
