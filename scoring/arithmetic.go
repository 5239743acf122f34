package scoring

import (
	"runtime"

	"github.com/eerf-stream/eerf/internal/simd"
	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

// linearAlgebra stands for the version of gonum that go.mod requires. Learned features depend on
// its decompositions, and another version may round differently.
const linearAlgebra = "la17"

// Arithmetic returns the name of this process's arithmetic, such as fma1-la17-amd64: the kernel of
// this processor and build, the version of the linear algebra, the architecture, and noasm for a
// build without assembly. Sums made with different arithmetics differ in their last bits and must
// not be mixed; the same name gives the same bits everywhere.
func Arithmetic() string {
	name := kernel.Name() + "-" + linearAlgebra + "-" + runtime.GOARCH
	if simd.NoAsm {
		name += "-noasm"
	}
	return name
}

// LimitToPlain makes this process compute in plain Go, whatever its processor offers. Every process
// of the same architecture and build supports that [Arithmetic], at many times the cost. Call it
// before the first computation.
func LimitToPlain() { simd.Limit(simd.None) }
