package tensors

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/internal/hostile"
)

// slack is what decoding may allocate in addition to its budget: the shapes and names of inputs,
// the Go objects of an error.
const slack = 1 << 20

// TestMutants damages valid requests: a refusal has a reason, every value of an accepted request
// can be read, and nothing takes more memory than its budget.
func TestMutants(t *testing.T) {
	binaryBody, header := inBinary()
	bases := []*hostile.Message{messageOf("json", []byte(inJSON)), messageOf("binary", binaryBody)}
	d := NewDecoder(testLimits)
	hostile.Run(t, hostile.Suite{
		Make: func(r *rand.Rand, into []byte) []byte {
			return bases[r.IntN(len(bases))].Mutate(r, into, bases)
		},
		Try: func(m *hostile.Meter, mutant []byte) (string, error) {
			word := ""
			for _, length := range []int{len(mutant), min(header, len(mutant))} {
				m.Within(testLimits.BudgetBytes+2*int64(len(mutant))+slack, func() {
					if r, err := d.Decode(mutant, length); err == nil {
						r.Rows.Release()
					}
				})
				_, err := d.Decode(mutant, length)
				word = wordOf(err)
				if err := try(d, mutant, length); err != nil {
					return "", err
				}
			}
			return word, nil
		},
	}, 4_000)
}

func wordOf(err error) string {
	switch {
	case err == nil:
		return hostile.Accepted
	case errors.Is(err, ErrTensors):
		return Reason
	}
	return arrowio.Reason(err)
}

// messageOf treats every byte as a length.
func messageOf(name string, b []byte) *hostile.Message {
	marks := make([]hostile.Mark, min(len(b), 2000))
	for i := range marks {
		marks[i] = hostile.Mark{At: i, Width: 1}
	}
	return &hostile.Message{Name: name, Bytes: b, Order: binary.LittleEndian, Marks: marks, Parts: []int{0, len(b) / 2}}
}
