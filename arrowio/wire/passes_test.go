package wire

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// examplePass is the spec of a later pass, which sums a Gram.
func examplePass() *Spec {
	s := exampleSpec()
	s.Criterion, s.Rounds, s.Pass = scoring.Residual, 3, 3
	s.Residual = examplePlan(s.Features, s.Rounds, s.Candidates.Count, 3, rand.New(rand.NewPCG(5, 6)))
	s.FirstPass = &Lineage{
		Pipeline: s.Pipeline, Exploration: s.Exploration, Sequence: s.Sequence, SpecHash: "abc", ConfigHash: s.ConfigHash,
		EventsTopic: s.EventsTopic, Kernel: s.Kernel, Counts: Counts{Messages: 9, Rows: 1000, Scored: 90, NotSampled: 910},
		Rows: 90, SampleRate: s.SampleRate, SampleSeed: s.SampleSeed, SampleRows: s.SampleRows, CalibrationRows: s.CalibrationRows,
		BandwidthRule: s.BandwidthRule, Criterion: s.Criterion, Rounds: s.Rounds, Candidates: s.Candidates.Count,
	}
	for i := range s.Partitions {
		s.Partitions[i].EndOffset = 77
		s.FirstPass.Partitions = append(s.FirstPass.Partitions, LineagePartition{
			Partition: s.Partitions[i].Partition, StartOffset: s.Partitions[i].StartOffset, NextOffset: 77, ClosingOrdinal: 500, CloseReason: CloseQuota,
		})
	}
	return s
}

// examplePlan is a plan in the last round, one feature short, with a pool of what is not kept.
func examplePlan(features, rounds, candidates, outputs int, r *rand.Rand) *scoring.ResidualPlan {
	numbers := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = r.ExpFloat64() * math.Pow(10, -float64(r.IntN(5)))
		}
		return v
	}
	chosen := func(first, next int) scoring.Chosen {
		n := next - first
		return scoring.Chosen{
			Index: ordinals(next)[first:], Score: numbers(n), S: numbers(n * outputs), LargeSampleRadius: numbers(n),
		}
	}
	kept := features - 1
	return &scoring.ResidualPlan{
		Features: features, Rounds: rounds, Round: rounds, Rows: 90, Candidates: candidates,
		Pool:   ordinals(candidates)[kept:min(candidates, kept+5*((features+rounds-1)/rounds))],
		Coding: scoring.Coding{Gain: numbers(outputs), Offset: numbers(outputs)},
		Kept:   chosen(0, kept), AboveNoise: kept, Fill: chosen(candidates-features, candidates),
		Intercept: numbers(outputs), Weight: numbers(kept * outputs),
	}
}

func exampleGram() *Checkpoint {
	spec := examplePass()
	c := exampleCheckpoint()
	c.SpecHash, c.Pass, c.Sums = spec.Hash(), spec.Pass, nil
	c.Products = exampleProducts(spec.Residual.Columns(), c.Counts.Scored)
	return c
}

func exampleProducts(columns int, rows int64) *training.Products {
	r := rand.New(rand.NewPCG(7, 9))
	p := training.NewProducts(columns)
	p.Rows = rows
	for _, v := range [][]float64{p.Shift, p.Sum, p.Product} {
		for i := range v {
			v[i] = r.NormFloat64() * math.Pow(10, float64(r.IntN(600)-300))
		}
	}
	return p
}

func TestLaterPassRoundTrip(t *testing.T) {
	s := examplePass()
	got := must(DecodeSpec(newDecoder(), must(EncodeSpec(s))))
	if got.Hash() != s.Hash() {
		t.Error("the hash changed on the way")
	}
	diff(t, s.Residual, got.Residual)
	diff(t, s.FirstPass, got.FirstPass)
	diff(t, got.ResidualPlan(), s.Residual)
}

func TestFirstPassOfResidualIsPlannedAnew(t *testing.T) {
	s := exampleSpec()
	s.Criterion, s.Rounds = scoring.Residual, 2
	got := must(DecodeSpec(newDecoder(), must(EncodeSpec(s)))).ResidualPlan()
	diff(t, scoring.NewResidualPlan(4, 2), got)
	if exampleSpec().ResidualPlan() != nil {
		t.Error("a plan of residuals for another criterion")
	}
}

func TestLaterPassesMustBeWhole(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"another criterion":     func(s *Spec) { s.Criterion, s.Rounds = scoring.Correlation, 0 },
		"no rounds":             func(s *Spec) { s.Rounds = 0 },
		"rounds for another":    func(s *Spec) { *s = *exampleSpec(); s.Rounds = 3 },
		"no plan":               func(s *Spec) { s.Residual = nil },
		"a plan in pass 0":      func(s *Spec) { s.Pass = 0 },
		"a negative pass":       func(s *Spec) { s.Pass = -1 },
		"no first pass":         func(s *Spec) { s.FirstPass = nil },
		"other partitions":      func(s *Spec) { s.FirstPass.Partitions = s.FirstPass.Partitions[1:] },
		"a plan that is done":   func(s *Spec) { s.Residual.Done = true },
		"another M":             func(s *Spec) { s.Features++ },
		"another M0":            func(s *Spec) { s.Candidates.Count++ },
		"weights that lack one": func(s *Spec) { s.Residual.Weight = s.Residual.Weight[1:] },
		"kept again":            func(s *Spec) { s.Residual.Pool[0] = s.Residual.Kept.Index[0] },
		"beyond M0":             func(s *Spec) { s.Residual.Pool[0] = 16 },
		"no row":                func(s *Spec) { s.Residual.Rows = 0 },
		"scores that lack one":  func(s *Spec) { s.Residual.Fill.S = s.Residual.Fill.S[1:] },
		"a round too many":      func(s *Spec) { s.Residual.Round++ },
	} {
		s := examplePass()
		change(s)
		if _, err := EncodeSpec(s); err == nil {
			t.Errorf("%s: encoded", name)
		}
	}
}

func TestGramRoundTrip(t *testing.T) {
	want := exampleGram()
	want.FormatVersion, want.WrittenAt = FormatVersion, noon.UTC()
	diff(t, want, must(DecodeCheckpoint(newDecoder(), must(EncodeCheckpoint(exampleGram())))))
	for columns := 1; columns < 9; columns++ { // even and odd triangles fill their lists differently
		c := exampleGram()
		c.Products = exampleProducts(columns, c.Counts.Scored)
		diff(t, c.Products, must(DecodeCheckpoint(newDecoder(), must(EncodeCheckpoint(c)))).Products)
	}
}

func TestGramIsTakenOnlyUnderItsPass(t *testing.T) {
	if err := exampleGram().CheckAgainst(examplePass(), "fma1"); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Checkpoint, *Spec){
		"another pass":    func(c *Checkpoint, _ *Spec) { c.Pass++ },
		"another pool":    func(_ *Checkpoint, s *Spec) { s.Residual.Pool = s.Residual.Pool[1:] },
		"another size":    func(c *Checkpoint, _ *Spec) { c.Products = exampleProducts(5, 90) },
		"scores":          func(c *Checkpoint, _ *Spec) { c.Products, c.Sums = nil, exampleCheckpoint().Sums },
		"the first pass":  func(_ *Checkpoint, s *Spec) { *s = *exampleSpec() },
		"a pass of score": func(_ *Checkpoint, s *Spec) { s.Residual.Pool = nil },
	} {
		c, s := exampleGram(), examplePass()
		change(c, s)
		t.Run(name, func(t *testing.T) { wantError(t, c.CheckAgainst(s, "fma1"), ErrSpecMismatch) })
	}
	for name, change := range map[string]func(*Checkpoint){
		"open":         func(c *Checkpoint) { c.Closed, c.CloseReason = false, "" },
		"first pass":   func(c *Checkpoint) { c.Pass = 0 },
		"both":         func(c *Checkpoint) { c.Sums = exampleCheckpoint().Sums },
		"not finite":   func(c *Checkpoint) { c.Products.Product[3] = math.NaN() },
		"too few":      func(c *Checkpoint) { c.Products.Sum = c.Products.Sum[1:] },
		"other counts": func(c *Checkpoint) { c.Products.Rows++ },
	} {
		c := exampleGram()
		change(c)
		if _, err := EncodeCheckpoint(c); err == nil {
			t.Errorf("%s: encoded", name)
		}
	}
}

func TestEveryPassHasItsKey(t *testing.T) {
	if got := fmt.Sprintf("%s %s", CheckpointKey("p.1.x", 0), CheckpointKey("p.1.x", 12)); got != "p.1.x p.1.x/12" {
		t.Error(got)
	}
}

func TestGramBytesBoundRealCheckpoints(t *testing.T) {
	for _, columns := range []int{1, 2, 100, 1001} {
		c := exampleGram()
		c.Exploration, c.Kernel = longName(maxNameBytes), longName(64)
		c.Products = exampleProducts(columns, c.Counts.Scored)
		checkBound(t, fmt.Sprint(columns), GramBytes(columns), must(EncodeCheckpoint(c)), 8<<10)
	}
}

func TestPassBytesBoundRealPasses(t *testing.T) {
	for _, c := range []struct{ features, rounds, outputs int }{{1, 1, 1}, {500, 3, 1}, {450, 3, 10}, {100, 1, 26}} {
		s := examplePass()
		s.Features, s.Rounds, s.Candidates.Count = c.features, c.rounds, 10*c.features
		s.Residual = examplePlan(c.features, c.rounds, 10*c.features, c.outputs, rand.New(rand.NewPCG(5, 6)))
		first := *s
		first.Pass, first.Residual, first.FirstPass = 0, nil, nil
		added := int64(len(must(EncodeSpec(s))) - len(must(EncodeSpec(&first))))
		bound := PassBytes(c.features, c.outputs)
		t.Logf("%+v: %d bytes, bound %d", c, added, bound)
		if added > bound || bound > 2*added+80<<10 {
			t.Errorf("%+v: %d bytes, bound %d", c, added, bound)
		}
	}
}
