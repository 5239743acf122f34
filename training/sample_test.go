package training

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

const sampleSeed = 5

// offer adds the listed rows of d, named as messages of ten rows.
func offer(e *EvaluationSample, d table, rows []int) {
	for _, n := range rows {
		id := RowID{Partition: int32(n % 3), Offset: int64(n / 10), Row: int32(n % 10), Identity: uint64(n)}
		p := d.part(n, n+1)
		e.Add(id, id.Hash(sampleSeed), p.z, p.y)
	}
}

func requireSameRows(t *testing.T, what string, got, want *EvaluationSample) {
	t.Helper()
	z, y, n := got.Rows()
	wantZ, wantY, wantN := want.Rows()
	if n != wantN || !slices.Equal(z, wantZ) || !slices.Equal(y, wantY) {
		t.Fatalf("%s: %d rows, want the same %d", what, n, wantN)
	}
}

func TestSampleIsAFunctionOfTheSetOfRows(t *testing.T) {
	d := randomTable(61, 500, 3, 2)
	r := rand.New(rand.NewPCG(6, 6))
	for _, bound := range []int{0, 1, 7, 100, 500, 1000} {
		want := NewEvaluationSample(3, 2, bound)
		offer(want, d, r.Perm(500))
		if want.Len() != min(bound, 500) {
			t.Fatalf("bound %d: %d rows held", bound, want.Len())
		}
		for range 5 {
			order := append(r.Perm(500), r.Perm(500)[:200]...) // some rows twice
			cut := r.IntN(len(order))
			whole := NewEvaluationSample(3, 2, bound)
			left, right := NewEvaluationSample(3, 2, bound), NewEvaluationSample(3, 2, bound)
			offer(whole, d, order)
			requireSameRows(t, "another order", whole, want)
			offer(left, d, order[:cut])
			offer(right, d, order[cut:])
			left.Merge(right)
			requireSameRows(t, "merged parts", left, want)
		}
	}
}

func TestSampleMeasuresModels(t *testing.T) {
	d := randomTable(63, 400, 5, 1)
	m := trainAt(t, d, 1e-3, true).Model
	e := NewEvaluationSample(5, 1, 400)
	order := make([]int, 400)
	for i := range order {
		order[i] = i
	}
	offer(e, d, order)
	want := NewRegression([]float64{3})
	all := make([]float32, 400)
	m.Predict(all, d.z, 400)
	want.Add(all, d.y, 400)
	got := e.Regression(m, []float64{3}, nil)
	requireClose(t, "unexplained variance", []float64{got.UnexplainedVariance()},
		[]float64{want.UnexplainedVariance()}, 1e-12)

	binary := d
	binary.y = make([]float32, 400)
	class := make([]int32, 400)
	for n := range class {
		if d.y[n] > 3 {
			class[n] = 1
		}
	}
	CodeClasses(binary.y, class, 2)
	fit := trainAt(t, binary, 1e-3, true).Model
	coded := NewEvaluationSample(5, 1, 400)
	offer(coded, binary, order)
	pred := make([]float32, 400)
	fit.Predict(pred, d.z, 400)
	by := NewClassification(1, 0)
	by.Add(pred, class)
	if c := coded.Classification(fit, 0).Measures(); !reflect.DeepEqual(c, by.Measures()) {
		t.Fatalf("classification %+v, want %+v", c, by)
	}
}
