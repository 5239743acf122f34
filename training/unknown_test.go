package training

import "testing"

// Rows of a class that the model does not know are wrong, and have no probability.
func TestRowsOfAnUnknownClassAreWrong(t *testing.T) {
	for _, outputs := range []int{1, 3} {
		y := make([]float32, 3*outputs)
		CodeClasses(y[:outputs], []int32{1}, max(2, outputs))
		CodeUnknownClass(y[outputs : 2*outputs])
		CodeClasses(y[2*outputs:], []int32{0}, max(2, outputs))
		for n, want := range []int32{1, UnknownClass, 0} {
			if got := CodedClass(y[n*outputs : (n+1)*outputs]); got != want {
				t.Errorf("%d outputs: row %d has class %d, want %d", outputs, n, got, want)
			}
		}
		pred := make([]float32, 3*outputs) // of class 0
		for n := range 3 {
			CodeClasses(pred[n*outputs:(n+1)*outputs], []int32{0}, max(2, outputs))
		}
		known := NewClassification(outputs, 0)
		known.Logits = true
		known.AddCoded(append(pred[:outputs:outputs], pred[2*outputs:]...), append(y[:outputs:outputs], y[2*outputs:]...), 2)
		c := NewClassification(outputs, 0)
		c.Logits = true
		c.AddCoded(pred, y, 3)
		m, of := c.Measures(), known.Measures()
		requireClose(
			t,
			"misclassification",
			[]float64{*m.Misclassification, *m.ConstantError},
			[]float64{200. / 3, 200. / 3},
			1e-12,
		)
		requireClose(
			t,
			"log losses",
			[]float64{*m.LogLoss, *m.ConstantLogLoss},
			[]float64{*of.LogLoss, *of.ConstantLogLoss},
			1e-12,
		)
		if m.UnknownClassRows != 1 || of.UnknownClassRows != 0 {
			t.Errorf("%d and %d rows of unknown classes", m.UnknownClassRows, of.UnknownClassRows)
		}
		p := PairedMisclassification(pred, pred, y, outputs)
		requireClose(t, "paired", []float64{p.First, p.Second}, []float64{200. / 3, 200. / 3}, 1e-12)
	}
}
