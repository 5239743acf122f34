package scoring

import (
	"fmt"
	"math"
	"reflect"
	"runtime"
	"testing"

	"pgregory.net/rapid"
)

// structuredCandidates describes count structured candidates.
func structuredCandidates(m Map, dim, count int) Candidates {
	c := candidatesOf(m, dim, count)
	c.Sampler = Structured
	return c
}

func TestStructuredSumsDependOnRowOrderAlone(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.SampledFrom([]int{64, 65, 100, 200, 1100}).Draw(t, "dim")
		rows := rapid.IntRange(0, 300).Draw(t, "rows")
		outputs := rapid.IntRange(1, 3).Draw(t, "outputs")
		count := rapid.IntRange(1, 2500).Draw(t, "candidates")
		bank := NewBank(structuredCandidates(MapCosine, dim, count), BankOptions{})
		x := normalRows(rapid.Uint64().Draw(t, "seed"), rows, dim)
		targets := Targets{Outputs: outputs, Values: normalRows(6, rows, outputs)}
		if rapid.Bool().Draw(t, "classes") {
			targets = classTargets(rows, outputs)
		}
		whole := NewAccumulator(bank, NewSums(count, outputs))
		whole.Add(x, rows, targets)
		cut := NewAccumulator(bank, NewSums(count, outputs))
		for first := 0; first < rows; {
			runtime.GOMAXPROCS(rapid.IntRange(1, 4).Draw(t, "procs"))
			next := rapid.IntRange(first, rows).Draw(t, "next")
			cut.Add(x[first*dim:next*dim], next-first, targets.Slice(first, next))
			if rapid.Bool().Draw(t, "restart") {
				cut = NewAccumulator(bank, cut.Sums().Clone())
			}
			first = next
		}
		if !reflect.DeepEqual(cut.Sums(), whole.Sums()) {
			t.Fatalf("sums of %d candidates of %d numbers depend on how %d rows are cut", count, dim, rows)
		}
	})
}

func TestStructuredSumsAgreeWithTheProduct(t *testing.T) {
	for _, m := range []Map{MapCosine, MapArcCosine1, MapArcCosine2} {
		for _, shape := range [][3]int{{64, 1, 1}, {64, 1500, 65}, {100, 1100, 7}, {784, 1100, 300}, {1100, 30, 130}} {
			dim, count, rows := shape[0], shape[1], shape[2]
			c := structuredCandidates(m, dim, count)
			bank := NewBank(c, BankOptions{})
			if bank.structured == nil {
				t.Fatal("the candidates are not scored by the fast transform")
			}
			x := normalRows(9, rows, dim)
			for what, targets := range map[string]Targets{
				"values":  {Outputs: 2, Values: normalRows(6, rows, 2)},
				"classes": classTargets(rows, 3),
			} {
				a := NewAccumulator(bank, NewSums(count, targets.Outputs))
				a.Add(x, rows, targets)
				got, want := a.Sums(), scoreRows(c.DrawAll(), x, rows, targets)
				name := fmt.Sprintf("%v, %s, %v", m, what, shape)
				for _, pair := range [][2][]float64{{got.Phi, want.Phi}, {got.PhiSq, want.PhiSq}, {got.YPhi, want.YPhi}} {
					for i, v := range pair[0] {
						near(t, name, v, pair[1][i], 1e-5*(float64(rows)+math.Abs(pair[1][i]))*10)
					}
				}
				if !reflect.DeepEqual(got.Y, want.Y) || got.Rows != want.Rows {
					t.Fatalf("%s: outputs differ", name)
				}
			}
		}
	}
}

func TestStructuredBankIsSmall(t *testing.T) {
	plan := PlanBank(structuredCandidates(MapCosine, 784, 100_000), BankOptions{Memory: 1})
	if plan.Drawn != 0 || plan.Kept != 100_000 || plan.KeptBytes > 100_000*21 {
		t.Errorf("plan %+v", plan)
	}
	if small := structuredCandidates(MapCosine, 63, 10); NewBank(small, BankOptions{}).structured != nil {
		t.Error("fewer numbers than an order are scored by transform")
	}
}

func BenchmarkScoreStructured(b *testing.B) {
	for _, shape := range [][2]int{{64, 4096}, {77, 10000}, {122, 10000}, {256, 8192}, {784, 10000}, {1024, 8192}, {4096, 8192}} {
		dim, count := shape[0], shape[1]
		for _, way := range []string{"transform", "product"} {
			b.Run(fmt.Sprintf("dim=%d/features=%d/rows=1024/way=%s/procs=1", dim, count, way), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				c := structuredCandidates(MapCosine, dim, count)
				c.Sigma = math.Sqrt(float64(dim))
				bank := NewBank(c, BankOptions{})
				if way == "product" {
					bank = newBank(c, planDense(c))
				}
				a := NewAccumulator(bank, NewSums(count, 1))
				x, targets := normalRows(2, 1024, dim), Targets{Outputs: 1, Values: normalRows(3, 1024, 1)}
				for b.Loop() {
					a.Add(x, 1024, targets)
				}
				seconds := b.Elapsed().Seconds() / float64(b.N)
				b.ReportMetric(seconds*1e6/1024, "µs/row")
				b.ReportMetric(2*1024*float64(dim)*float64(count)/seconds/1e9, "GF/s")
			})
		}
	}
}

// planDense is the plan of the same number of candidates that are not structured.
func planDense(c Candidates) BankPlan {
	c.Sampler = IID
	return planBank(c, math.MaxInt64, 1, 1)
}
