package scoring

import "github.com/eerf-stream/eerf/scoring/internal/kernel"

// KernelVersion names the arithmetic that this build computes features and sums with.
const KernelVersion = kernel.Name

// Kernel returns the name of the numeric kernel in use. Sums of kernels of different names differ in their last bits
// and are not to be mixed. The plain Go kernel gives the same bits on every architecture, so its name has none.
func Kernel() string { return KernelVersion }

// Bank is the packed form of drawn features that rows are scored against. It is immutable: all partitions share one.
type Bank struct{ panels *kernel.Panels }

// NewBank packs f, which is not kept. It panics when f is not valid or empty.
func NewBank(f *Features) *Bank { return &Bank{pack(f)} }

// Len returns the number of features.
func (b *Bank) Len() int { return b.panels.Len }

// Dim returns the numbers that a row must have.
func (b *Bank) Dim() int { return b.panels.Dim }

// pack packs valid features for the kernels.
func pack(f *Features) *kernel.Panels {
	if err := f.Validate(); err != nil {
		panic("scoring: invalid features: " + err.Error())
	}
	if f.Len() == 0 {
		panic("scoring: no features")
	}
	return kernel.Pack(kernelMap(f.Map), f.Dim, f.Omega, f.Phase)
}

// kernelMap returns the kernels' word for m.
func kernelMap(m Map) kernel.Map {
	switch m {
	case MapCosine:
		return kernel.Cosine
	case MapArcCosine0:
		return kernel.Step
	case MapArcCosine1:
		return kernel.Ramp
	case MapArcCosine2:
		return kernel.SquaredRamp
	case MapLinear:
		return kernel.Coordinate
	}
	panic("scoring: no kernel for feature map " + m.String())
}
