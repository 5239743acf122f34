package wire

import (
	"math"
	"testing"

	"github.com/eerf-stream/eerf/scoring"
)

func TestCheckpointContinuesOnlyUnderItsSpec(t *testing.T) {
	if err := exampleCheckpoint().CheckAgainst(exampleSpec(), "fma1"); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		checkpoint func(*Checkpoint)
		spec       func(*Spec)
		want       error
	}{
		"other exploration": {func(c *Checkpoint) { c.Exploration = "ex-6" }, nil, ErrSpecMismatch},
		"other seed":        {nil, func(s *Spec) { s.SampleSeed++ }, ErrSpecMismatch},
		"other partition":   {func(c *Checkpoint) { c.Partition = 1 }, nil, ErrSpecMismatch},
		"other size":        {func(c *Checkpoint) { c.Sums = scoring.NewSums(3, 3) }, nil, ErrSpecMismatch},
		"other kernel":      {func(c *Checkpoint) { c.Arithmetic = "avx2" }, nil, ErrArithmeticMismatch},
	}
	for name, c := range cases {
		checkpoint, spec := exampleCheckpoint(), exampleSpec()
		if c.checkpoint != nil {
			c.checkpoint(checkpoint)
		}
		if c.spec != nil {
			c.spec(spec)
		}
		t.Run(name, func(t *testing.T) { wantError(t, checkpoint.CheckAgainst(spec, "fma1"), c.want) })
	}
}

// What cannot be read is not written either.
func TestEncodersRefuseInvalidValues(t *testing.T) {
	model := func(spoil func(*Model)) func() ([]byte, error) {
		m := exampleChallenger()
		spoil(m)
		return func() ([]byte, error) { return EncodeModel(m) }
	}
	spec, checkpoint, set := exampleSpec(), exampleCheckpoint(), exampleFeatureSet()
	spec.Partitions[1].Partition = 0
	checkpoint.Sums = nil
	set.Set.S = set.Set.S[1:]
	for name, encode := range map[string]func() ([]byte, error){
		"a partition twice":  func() ([]byte, error) { return EncodeSpec(spec) },
		"no spec":            func() ([]byte, error) { return EncodeSpec(nil) },
		"no sums":            func() ([]byte, error) { return EncodeCheckpoint(checkpoint) },
		"no checkpoint":      func() ([]byte, error) { return EncodeCheckpoint(nil) },
		"a score missing":    func() ([]byte, error) { return EncodeFeatureSet(set) },
		"no set":             func() ([]byte, error) { return EncodeFeatureSet(nil) },
		"no model":           func() ([]byte, error) { return EncodeModel(nil) },
		"an unknown request": func() ([]byte, error) { return EncodeRequest(&Request{Action: "sing", ID: "x"}) },
		"an unknown end": func() ([]byte, error) {
			return EncodeRequest(&Request{
				Action: ActionStart,
				ID:     "x",
				From:   "noon",
			})
		},
		"a pointer to nothing":       func() ([]byte, error) { return EncodeCurrent(&Current{}) },
		"an unknown pin":             func() ([]byte, error) { return EncodeCurrent(&Current{ID: "m-1", Pin: "for ever"}) },
		"an infinite weight":         model(func(m *Model) { m.Model.Theta[0] = math.Inf(1) }),
		"a foreign id":               model(func(m *Model) { m.ID = "m-0123" }),
		"weights of another shape":   model(func(m *Model) { m.Judged.Features, m.Judged.Theta = 3, m.Judged.Theta[:9] }),
		"weights that are no number": model(func(m *Model) { m.Judged.Theta[2] = math.NaN() }),
		"no intercept":               model(func(m *Model) { m.Judged.Intercept = nil }),
		"a margin without end":       model(func(m *Model) { m.Judgement.Margin = math.Inf(1) }),
		"fewer rows than none":       model(func(m *Model) { m.Judgement.Rows = -1 }),
	} {
		if value, err := encode(); err == nil || value != nil {
			t.Errorf("%s is encoded", name)
		}
	}
}
