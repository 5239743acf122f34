package scoring

import (
	"math/bits"
	"slices"

	"github.com/eerf-stream/eerf/internal/simd"
	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

// structured featurizes with the fast transform.
type structured struct {
	blocks *structuredBlocks
	factor []float32
}

// planStructured returns the fast transform of a set, or nil where the rule prefers the product or the set does not
// hold what structured candidates draw.
func planStructured(fs *FeatureSet, in *Affine, factor []float32, faster structuredRule) *structured {
	c, f := fs.Candidates, fs.Features
	if c == nil || c.Sampler != Structured || c.Validate() != nil || c.Dim != f.Dim || c.Map != f.Map {
		return nil
	}
	if slices.ContainsFunc(fs.Index, func(i int32) bool { return i < 0 || int(i) >= c.Count }) {
		return nil
	}
	if !faster(c.Dim, f.Len(), len(c.blocksOf(fs.Index))) || !slices.Equal(c.Draw(fs.Index).Omega, f.Omega) {
		return nil
	}
	rows := max(1, structuredRows/structuredOrder(c.Dim))
	return &structured{newStructuredBlocks(*c, fs.Index, f.shifts(in), in, rows), factor}
}

// shifts returns what shiftOf says of each feature.
func (f *Features) shifts(in *Affine) []float64 {
	shifts := make([]float64, f.Len())
	for m := range shifts {
		var phase float32
		if f.Phase != nil {
			phase = f.Phase[m]
		}
		shifts[m] = shiftOf(f.Map, f.Omega[m*f.Dim:(m+1)*f.Dim], phase, in)
	}
	return shifts
}

// structuredRows is about how many numbers of x go through the blocks together: enough that the diagonals of a block,
// once loaded, serve several rows, and that small orders do not pay for a call with each row.
const structuredRows = 1 << 12

// featurize sets dst to the features of rows of x; a row's do not depend on the others.
func (s *structured) featurize(dst, x []float32, rows int) {
	b, m := s.blocks, len(s.factor)
	memory := b.memory.Get().(*structuredMemory)
	defer b.memory.Put(memory)
	for i := 0; i < rows; i += b.group {
		next := min(i+b.group, rows)
		z := b.arguments(memory, x[i*b.dim:next*b.dim], next-i)
		kernel.Apply(dst[i*m:next*m], z, s.factor)
	}
}

// structuredRule reports whether the features of a row take less time by transform than by product, given the numbers
// of features and blocks.
type structuredRule func(dim, features, blocks int) bool

// structuredCosts are times in nanoseconds on one core, in calls with many rows.
type structuredCosts struct {
	product  float64 // of the dense kernel, one number of x by one of ω
	addition float64 // of the transform, one number at one level
	pick     float64 // of picking one feature out and mapping it, beyond what the dense kernel's map takes
}

// The costs are fitted to BenchmarkTransformStructured for 64 to 2048 numbers on one core of a Sapphire Rapids server, those
// of vectors with AVX-512. Only their ratios matter, and a choice that they get wrong by a tenth costs a tenth. A single row
// gains more than they say: the product then waits for ω to come from memory.
var (
	plainCosts  = structuredCosts{product: 0.30, addition: 0.24, pick: 0.5}
	vectorCosts = structuredCosts{product: 0.0130, addition: 0.0175, pick: 0.4}
)

// costsOf returns the costs with the instructions of a level. The two ways differ in their last bits, so that levels of one
// arithmetic ([Arithmetic]) have to choose alike.
func costsOf(level simd.Level) structuredCosts {
	if level == simd.None {
		return plainCosts
	}
	return vectorCosts
}

// faster is the structuredRule of the costs; products are rounded before they are added on every architecture.
func (c structuredCosts) faster(dim, features, blocks int) bool {
	transform := float64(float64(structuredAdditions(dim, blocks))*c.addition) + float64(float64(features)*c.pick)
	return transform < float64(float64(dim*features)*c.product)
}

// structuredAdditions returns the additions of a row in three transforms of each block; the products with a diagonal
// count as a level.
func structuredAdditions(dim, blocks int) int {
	order := structuredOrder(dim)
	return 3 * blocks * order * bits.Len(uint(order))
}

// rowCost returns about how long a row takes, in products of one row and one ω.
func (s *structured) rowCost() int {
	return structuredAdditions(s.blocks.dim, len(s.blocks.diagonals)) + len(s.factor)*elementCost
}
