package scoring

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"runtime"

	"github.com/eerf-stream/eerf/internal/parallel"
	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

// FeatureSet is the M kept features with the results of their selection. Treat it as immutable.
type FeatureSet struct {
	// Features are the kept features, in the order of their kinds and best first within a kind.
	Features *Features
	// Index is the candidate number of each, [M].
	Index []int32
	// Round is the round that chose each, counted from 1, [M]; 0 if no round chose it. Nil means
	// unknown.
	Round []int32
	// Members has the bit 1<<j for each feature of member j, [M]. The members of a set were learned
	// independently; a model is the mean of a linear model on each. Nil means one member.
	Members []int32
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
	return NewFeatureSetOf(c.Draw(s.Index), s)
}

// NewFeatureSetOf is NewFeatureSet with the features of the selection, in its order.
func NewFeatureSetOf(f *Features, s Selection) *FeatureSet {
	return &FeatureSet{
		Features: f, Index: s.Index, Round: s.Round, Score: s.Score, S: s.S,
		Scale: float32(1 / math.Sqrt(float64(len(s.Index)))),
	}
}

// MaxMembers is the greatest number of members of a set.
const MaxMembers = 16

// MemberCount returns the number of members.
func (fs *FeatureSet) MemberCount() int {
	var all int32
	for _, m := range fs.Members {
		all |= m
	}
	return max(bits.Len32(uint32(all)), 1)
}

// MemberFeatures returns the numbers of the features of each member, ascending; one list of all if
// there is one member.
func (fs *FeatureSet) MemberFeatures() [][]int32 {
	lists := make([][]int32, fs.MemberCount())
	for i := range fs.Features.Len() {
		for j := range lists {
			if fs.Members == nil || fs.Members[i]&(1<<j) != 0 {
				lists[j] = append(lists[j], int32(i))
			}
		}
	}
	return lists
}

// Pick returns the set of one member that has some of the features, with the values that they have
// in fs.
func (fs *FeatureSet) Pick(features []int32) *FeatureSet {
	picked := &FeatureSet{Features: fs.Features.Pick(features), Scale: fs.Scale}
	k := len(fs.S) / fs.Features.Len()
	for _, i := range features {
		picked.Index = append(picked.Index, fs.Index[i])
		picked.Score = append(picked.Score, fs.Score[i])
		picked.S = append(picked.S, fs.S[int(i)*k:(int(i)+1)*k]...)
		if fs.Round != nil {
			picked.Round = append(picked.Round, fs.Round[i])
		}
		if fs.Weight != nil {
			picked.Weight = append(picked.Weight, fs.Weight[i])
		}
	}
	return picked
}

// checkMembers reports members without features, features without a member, and more members than
// MaxMembers.
func (fs *FeatureSet) checkMembers() error {
	if fs.Members == nil {
		return nil
	}
	if len(fs.Members) != fs.Features.Len() {
		return fmt.Errorf("%d lists of members for %d features", len(fs.Members), fs.Features.Len())
	}
	var all int32
	for i, m := range fs.Members {
		if all |= m; m == 0 {
			return fmt.Errorf("feature %d has no member", i)
		}
	}
	if n := bits.Len32(uint32(all)); n < 2 || n > MaxMembers || all != 1<<n-1 {
		return fmt.Errorf("members of the features are %b, want 2 to %d without gaps", all, MaxMembers)
	}
	return nil
}

// Validate returns all faults of a set that was read from outside, joined.
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
	if fs.Round != nil && len(fs.Round) != m {
		errs = append(errs, fmt.Errorf("%d rounds for %d features", len(fs.Round), m))
	}
	errs = append(errs, fs.checkMembers())
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
	dim    int
	factor []float32  // weight·scale of each feature
	panels kernel.Set // one kind each, in order; hinges and boxes count as one kind
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
	t := &Transformer{dim: fs.Features.Dim, factor: factor}
	for _, part := range fs.Features.parts(fs.Features.Len()) {
		t.panels = append(t.panels, part.pack())
	}
	return t
}

// NewFeatureTransformer packs features without weights or scale. It panics when f is not valid.
func NewFeatureTransformer(f *Features) *Transformer {
	return NewTransformer(&FeatureSet{
		Features: f,
		Index:    make([]int32, f.Len()),
		Scale:    1,
		Score:    make([]float64, f.Len()),
	})
}

// Len returns M.
func (t *Transformer) Len() int { return len(t.factor) }

// Transform sets dst, row-major [rows·Len], to (weight·scale)·φ(x, ω) for the rows of x, row-major
// [rows·Dim] and finite. A row's features do not depend on the other rows of the call. Small calls,
// such as one row, start no goroutine and allocate nothing.
func (t *Transformer) Transform(dst, x []float32, rows int) {
	if len(x) != rows*t.dim || len(dst) != rows*t.Len() {
		panic(fmt.Sprintf("scoring: %d numbers to %d for %d rows of %d to %d features", len(x), len(dst), rows, t.dim,
			t.Len()))
	}
	if rows*t.rowCost() < parallelTransform {
		t.featurize(dst, x, rows)
		return
	}
	t.TransformOn(dst, x, rows, 0)
}

// TransformOn is Transform on up to workers goroutines, 0 meaning GOMAXPROCS.
func (t *Transformer) TransformOn(dst, x []float32, rows, workers int) {
	m := t.Len()
	parallel.On(workers, rows, rowChunk(rows), func(first, next int) {
		t.featurize(dst[first*m:next*m], x[first*t.dim:next*t.dim], next-first)
	})
}

// BlockRows is the number of rows of a block in [Transformer.EachBlock].
const BlockRows = 512

// EachBlock calls do with the features phi of rows first..next-1, row-major, for one block of
// BlockRows after another. Blocks share memory: do must not keep phi. Workers bounds the
// goroutines; 0 means GOMAXPROCS.
func (t *Transformer) EachBlock(x []float32, rows, workers int, do func(phi []float32, first, next int)) {
	phi := make([]float32, min(rows, BlockRows)*t.Len())
	for first := 0; first < rows; first += BlockRows {
		next := min(first+BlockRows, rows)
		own := phi[:(next-first)*t.Len()]
		t.TransformOn(own, x[first*t.dim:next*t.dim], next-first, workers)
		do(own, first, next)
	}
}

// featurize is Transform on the goroutine of the caller.
func (t *Transformer) featurize(dst, x []float32, rows int) {
	t.panels.Featurize(dst, t.Len(), x, t.factor)
}

// rowCost estimates the time of a row, in products of one number of a row and one of ω.
func (t *Transformer) rowCost() (cost int) {
	for _, p := range t.panels {
		cost += p.Len * elementCost
		if p.Map != kernel.Product {
			cost += p.Len * t.dim
		}
	}
	return cost
}

// parallelTransform is the number of products from which goroutines share a call, like
// parallelScore.
const parallelTransform = 1 << 23

// rowChunk returns the number of rows that a goroutine takes from the queue at a time: whole tiles
// of the kernel, enough to amortize loading a panel, few enough to balance the processors.
func rowChunk(rows int) int {
	const tile, most = 8, 64
	return min(max(rows/(4*runtime.GOMAXPROCS(0))/tile*tile, tile), most)
}
