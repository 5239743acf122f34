package scoring

import (
	"reflect"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"github.com/eerf-stream/eerf/scoring/internal/kernel"
)

// candidatesOf describes count candidates of a map, or fewer if the map has no more.
func candidatesOf(m Map, dim, count int) Candidates {
	c := Candidates{Map: m, Sigma: 2, Seed: 3, Dim: dim, Count: count}
	if m == MapLinear {
		c.Count = min(dim, count)
	}
	return c
}

// drawFeatures draws them.
func drawFeatures(m Map, dim, count int) *Features { return candidatesOf(m, dim, count).DrawAll() }

var allMaps = func() (all []Map) {
	for m := range Map(mapCount) {
		all = append(all, m)
	}
	return all
}()

func TestSumsDependOnlyOnRowOrder(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(allMaps).Draw(t, "map")
		dim := rapid.IntRange(1, 40).Draw(t, "dim")
		rows := rapid.IntRange(0, 400).Draw(t, "rows")
		outputs := rapid.IntRange(1, 3).Draw(t, "outputs")
		c := candidatesOf(m, dim, rapid.IntRange(1, 400).Draw(t, "candidates"))
		f := c.DrawAll()
		bank := smallBank(t, c)
		x := normalRows(rapid.Uint64().Draw(t, "seed"), rows, dim)
		targets := Targets{Outputs: outputs, Values: normalRows(6, rows, outputs)}
		if rapid.Bool().Draw(t, "classes") {
			targets = classTargets(rows, outputs)
		}
		want := scoreRows(f, x, rows, targets)
		a := NewAccumulator(bank, NewSums(f.Len(), outputs))
		for first := 0; first < rows; {
			runtime.GOMAXPROCS(rapid.IntRange(1, 4).Draw(t, "procs"))
			next := rapid.IntRange(first, rows).Draw(t, "next")
			if rapid.Bool().Draw(t, "one") {
				next = min(first+1, rows)
			}
			a.Add(x[first*dim:next*dim], next-first, targets.Slice(first, next))
			if rapid.Bool().Draw(t, "restart") {
				bank = smallBank(t, c)
				a = NewAccumulator(bank, a.Sums().Clone())
			} else if rapid.Bool().Draw(t, "look") {
				a.Sums()
			}
			first = next
		}
		if !reflect.DeepEqual(a.Sums(), want) {
			t.Fatalf("sums differ from those of one call")
		}
		if err := want.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

// smallBank has small shards and few waiting rows, so that a small test covers all of its paths.
func smallBank(t *rapid.T, c Candidates) *Bank {
	length := kernel.Width * rapid.IntRange(1, 3).Draw(t, "panels in a shard")
	return newBank(c, length, rapid.SampledFrom([]int{1, 8, 50, 1000}).Draw(t, "waiting rows"))
}

func TestLargeCallsGiveTheSameBitsOnAnyNumberOfGoroutines(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	f := drawFeatures(MapCosine, 33, 301)
	const rows = 700
	x := normalRows(8, rows, 33)
	for _, targets := range []Targets{{Outputs: 2, Values: normalRows(4, rows, 2)}, classTargets(rows, 3)} {
		runtime.GOMAXPROCS(1)
		want, wantFeatures := scoreRows(f, x, rows, targets), transform(f, x, rows)
		for _, procs := range []int{2, 3, 7} {
			runtime.GOMAXPROCS(procs)
			if !reflect.DeepEqual(scoreRows(f, x, rows, targets), want) {
				t.Errorf("sums differ with GOMAXPROCS %d", procs)
			}
			if !reflect.DeepEqual(transform(f, x, rows), wantFeatures) {
				t.Errorf("features differ with GOMAXPROCS %d", procs)
			}
		}
	}
}

// rawOutputs are the outputs of row i.
func rawOutputs(t Targets, i int) []float64 {
	y := make([]float64, t.Outputs)
	for k := range y {
		if t.Class == nil {
			y[k] = float64(t.Values[i*t.Outputs+k])
		} else if int(t.Class[i]) == k {
			y[k] = 1
		}
	}
	return y
}

func TestAddRefusesWrongShapes(t *testing.T) {
	f := drawFeatures(MapCosine, 3, 4)
	a := NewAccumulator(bankOf(f), NewSums(4, 2))
	x := make([]float32, 6)
	values, class := make([]float32, 4), []int32{0, 1}
	panics(t, "scoring: 6 numbers for 3 rows of 3", func() { a.Add(x, 3, Targets{Outputs: 2, Values: values}) })
	panics(t, "scoring: targets of 1 outputs", func() { a.Add(x, 2, Targets{Outputs: 1, Values: values[:2]}) })
	panics(t, "scoring: targets need exactly one", func() { a.Add(x, 2, Targets{Outputs: 2}) })
	panics(t, "scoring: targets need exactly one", func() { a.Add(x, 2, Targets{2, values, class}) })
	panics(t, "scoring: 3 target values", func() { a.Add(x, 2, Targets{Outputs: 2, Values: values[:3]}) })
	panics(t, "scoring: 1 classes for 2 rows", func() { a.Add(x, 2, Targets{Outputs: 2, Class: class[:1]}) })
	panics(t, "scoring: class 2 of row 1", func() { a.Add(x, 2, Targets{Outputs: 2, Class: []int32{0, 2}}) })
	panics(t, "scoring: class -1 of row 0", func() { a.Add(x, 2, Targets{Outputs: 2, Class: []int32{-1, 0}}) })
	panics(t, "scoring: sums of 5 candidates for a bank of 4", func() { NewAccumulator(bankOf(f), NewSums(5, 2)) })
	panics(t, "scoring: bank of invalid candidates: ", func() { NewBank(Candidates{}) })
	if !reflect.DeepEqual(a.Sums(), NewSums(4, 2)) {
		t.Error("a refused call changed the sums")
	}
}
