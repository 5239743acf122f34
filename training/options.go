package training

import "errors"

var (
	// ErrNoRows says that there was nothing to train on.
	ErrNoRows = errors.New("no rows to train on")
	// ErrNotFinite says that a sum or weight is NaN or infinite.
	ErrNotFinite = errors.New("value is not finite")
)

// Options says what Train minimises and which λ it tries.
type Options struct {
	// Intercept adds the unpenalised θ0 (by centring z and y). The paper has none.
	Intercept bool `json:"intercept"`
	// Grid is the set of λ; the zero value is the relative grid.
	Grid Grid `json:"lambda_grid"`
}

// Validate reports a faulty grid.
func (o Options) Validate() error { return o.Grid.Validate() }
