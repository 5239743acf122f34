package training

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The mean of the members' outputs is the output of the model, and without shared features they are
// the outputs of the members' own models.
func TestMemberOutputsHaveTheMeanOfTheModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, shared := range []bool{false, true} {
		const features, outputs, n = 7, 3, 3
		members, bits := make([][]int32, n), make([]int32, features)
		for i := range int32(features) {
			j := int(i) % n
			members[j] = append(members[j], i)
			bits[i] |= 1 << j
			if shared && i == 2 {
				members[0] = append(members[0], i)
				bits[i] |= 1
			}
		}
		var models []*Model
		for _, own := range members {
			m := &Model{Features: len(own), Outputs: outputs, Theta: make([]float64, outputs*len(own)),
				Intercept: make([]float64, outputs)}
			for i := range m.Theta {
				m.Theta[i] = rnd.NormFloat64()
			}
			for k := range m.Intercept {
				m.Intercept[k] = rnd.NormFloat64()
			}
			models = append(models, m)
		}
		mean := Mean(features, members, models)
		if mean.MemberCount() != n || models[0].MemberCount() != 1 {
			t.Fatalf("%d members", mean.MemberCount())
		}
		z, want, got := make([]float32, features), make([]float64, outputs), make([]float64, n*outputs)
		for i := range z {
			z[i] = float32(rnd.NormFloat64())
		}
		mean.PredictValues(want, z, 1)
		mean.MemberOutputs(got, z, bits)
		for k := range outputs {
			sum := 0.0
			for j := range n {
				sum += got[j*outputs+k]
			}
			if math.Abs(sum/n-want[k]) > 1e-12 {
				t.Errorf("output %d: members have the mean %v, the model %v", k, sum/n, want[k])
			}
		}
		if shared {
			continue
		}
		for j, own := range members {
			var x []float32
			for _, i := range own {
				x = append(x, z[i])
			}
			models[j].PredictValues(want, x, 1)
			for k := range outputs {
				if math.Abs(got[j*outputs+k]-want[k]) > 1e-12 {
					t.Errorf("member %d, output %d: %v, want %v", j, k, got[j*outputs+k], want[k])
				}
			}
		}
	}
}

func TestStandardDeviation(t *testing.T) {
	if got := StandardDeviation([]float64{1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4}); math.Abs(got-math.Sqrt(5./3)) > 1e-6 {
		t.Error(got)
	}
	const most = math.MaxFloat64
	if got := StandardDeviation([]float64{most, -most}); got != most {
		t.Errorf("of the most distant values: %v", got)
	}
}
