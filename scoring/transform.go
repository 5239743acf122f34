package scoring

import (
	"errors"
	"fmt"
	"math"

	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

// FeatureSet is the M kept features with what selected them. Treat it as immutable.
type FeatureSet struct {
	// Features are the kept ones, best first.
	Features *Features
	// Index is the candidate number of each, [M].
	Index []int32
	// Weight multiplies each feature, [M]; nil means 1.
	Weight []float32
	// Scale multiplies all features: 1/√M.
	Scale float32
	// Score is the criterion's value of each feature, [M].
	Score []float64
	// S is Ŝ_k of each feature and output, row-major by feature [M·K].
	S []float64
}

// NewFeatureSet draws the candidates of a selection: weights 1, scale 1/√M.
func NewFeatureSet(c Candidates, s Selection) *FeatureSet {
	return &FeatureSet{
		Features: c.Draw(s.Index),
		Index:    s.Index,
		Scale:    float32(1 / math.Sqrt(float64(len(s.Index)))),
		Score:    s.Score,
		S:        s.S,
	}
}

// Validate returns every fault of a set that came from outside, joined.
func (fs *FeatureSet) Validate() error {
	if fs.Features == nil {
		return errors.New("feature set has no features")
	}
	if err := fs.Features.Validate(); err != nil {
		return err
	}
	m := fs.Features.Len()
	var errs []error
	if m == 0 {
		errs = append(errs, errors.New("feature set has no features"))
	}
	if len(fs.Index) != m || len(fs.Score) != m || (fs.Weight != nil && len(fs.Weight) != m) {
		errs = append(errs, fmt.Errorf("%d features with %d indices, %d scores and %d weights",
			m, len(fs.Index), len(fs.Score), len(fs.Weight)))
	}
	if m > 0 && len(fs.S)%m != 0 {
		errs = append(errs, fmt.Errorf("%d values of S for %d features", len(fs.S), m))
	}
	for i, w := range fs.Weight {
		if math.IsNaN(float64(w)) || math.IsInf(float64(w), 0) {
			errs = append(errs, fmt.Errorf("weight of feature %d is %v, want a finite number", i, w))
		}
	}
	if !(fs.Scale > 0) || math.IsInf(float64(fs.Scale), 0) {
		errs = append(errs, fmt.Errorf("scale is %v, want a positive finite number", fs.Scale))
	}
	return errors.Join(errs...)
}

// Transformer maps rows to the features of a set. It is immutable and safe for concurrent use.
type Transformer struct {
	panels *kernel.Panels
	factor []float32 // weight·scale of each feature
}

// NewTransformer packs fs, which is not kept. It panics when fs is not valid.
func NewTransformer(fs *FeatureSet) *Transformer {
	if err := fs.Validate(); err != nil {
		panic("scoring: invalid feature set: " + err.Error())
	}
	factor := make([]float32, fs.Features.Len())
	for i := range factor {
		factor[i] = fs.Scale
		if fs.Weight != nil {
			factor[i] = float32(fs.Weight[i] * fs.Scale)
		}
	}
	return &Transformer{pack(fs.Features), factor}
}

// Len returns M.
func (t *Transformer) Len() int { return t.panels.Len }

// Dim returns the numbers that a row must have.
func (t *Transformer) Dim() int { return t.panels.Dim }

// Transform sets dst, row-major [rows·Len], to (weight·scale)·φ(x, ω) for the rows of x, row-major [rows·Dim] and
// finite. A row's features do not depend on the other rows of the call.
func (t *Transformer) Transform(dst, x []float32, rows int) {
	p := t.panels
	if len(x) != rows*p.Dim || len(dst) != rows*p.Len {
		panic(fmt.Sprintf("scoring: %d numbers to %d for %d rows of %d to %d features", len(x), len(dst), rows, p.Dim, p.Len))
	}
	big := rows*p.Len*(p.Dim+elementCost) >= parallelProducts
	parallel(rows, rowChunk, big, func(first, next int) {
		kernel.Featurize(dst[first*p.Len:next*p.Len], p, x[first*p.Dim:next*p.Dim], t.factor)
	})
}

// rowChunk is how many rows a goroutine takes from the queue at a time.
const rowChunk = 32
