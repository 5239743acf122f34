package training

import (
	"fmt"
	"math"
	"math/bits"
)

// MemberCount returns the number of models whose mean m is, 1 if it is no mean.
func (m *Model) MemberCount() int { return max(1, len(m.MemberIntercept)/m.Outputs) }

// MemberOutputs writes the outputs of the models whose mean m is for one row of features into dst,
// [members*K], member-major. Bit j of members[i] is set if member j has feature i. The weight of a
// feature of several members is divided evenly among them: only its mean is kept. It panics if the
// lengths do not match.
func (m *Model) MemberOutputs(dst []float64, z []float32, members []int32) {
	n := m.MemberCount()
	if len(dst) != n*m.Outputs || len(z) != m.Features || len(members) != m.Features {
		panic(fmt.Sprintf("training: %d outputs of %d members from %d features with %d memberships of a model of %d features",
			len(dst), n, len(z), len(members), m.Features))
	}
	copy(dst, m.MemberIntercept)
	for i, v := range z {
		if v == 0 {
			continue
		}
		of := uint32(members[i])
		share := float64(n) * float64(v) / float64(bits.OnesCount32(of))
		for ; of != 0; of &= of - 1 {
			outputs := dst[bits.TrailingZeros32(of)*m.Outputs:][:m.Outputs]
			for k := range outputs {
				outputs[k] += float64(share * m.Theta[k*m.Features+i])
			}
		}
	}
}

// StandardDeviation returns the standard deviation of a sample of at least two finite values. It is
// finite.
func StandardDeviation(values []float64) float64 {
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		squares += float64((v - mean) * (v - mean))
	}
	return min(math.Sqrt(squares/float64(len(values)-1)), math.MaxFloat64)
}
