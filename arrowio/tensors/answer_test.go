package tensors

import (
	"encoding/json"
	"math"
	"testing"
)

// An answer is JSON for any numbers of a model.
func TestAnswersWithoutFiniteNumbersAreJSON(t *testing.T) {
	a := Answer{Tensors: []Tensor{
		{Name: "prediction", Datatype: DatatypeFloat64, Rows: 3, Width: 1, Doubles: []float64{math.NaN(), math.Inf(1), -0.5}},
		{Name: "features", Datatype: DatatypeFloat32, Rows: 1, Width: 1, Numbers: []float32{float32(math.Inf(-1))}},
	}}
	body, _ := a.Append(nil)
	var read struct {
		Outputs []struct{ Data []*float64 }
	}
	if err := json.Unmarshal(body, &read); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if d := read.Outputs[0].Data; len(d) != 3 || d[0] != nil || d[1] != nil || *d[2] != -0.5 {
		t.Errorf("%s", body)
	}
}
