package wire

import (
	"testing"

	"github.com/eerf-stream/eerf/scoring"
)

func TestCheckpointIsContinuedOnlyUnderItsSpec(t *testing.T) {
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

func TestCountsAddAndReconcile(t *testing.T) {
	a, b := exampleCheckpoint().Counts, exampleCheckpoint().Counts
	a.Add(b)
	if a.Rows != 2*b.Rows || a.UnseenClass != 2*b.UnseenClass || a.Messages != 2*b.Messages || !a.Reconciles() {
		t.Errorf("sum is %+v", a)
	}
	a.Rows++
	if a.Reconciles() {
		t.Error("a row without an outcome reconciles")
	}
}

func TestEncodersRefuseInvalidValues(t *testing.T) {
	refused := func(name string, value []byte, err error) {
		if err == nil || value != nil {
			t.Errorf("%s is encoded", name)
		}
	}
	spec := exampleSpec()
	spec.Partitions[1].Partition = 0
	value, err := EncodeSpec(spec)
	refused("a spec with a partition twice", value, err)
	checkpoint := exampleCheckpoint()
	checkpoint.Sums = nil
	value, err = EncodeCheckpoint(checkpoint)
	refused("a checkpoint without sums", value, err)
	set := exampleFeatureSet()
	set.Set.S = set.Set.S[1:]
	value, err = EncodeFeatureSet(set)
	refused("a set with a score missing", value, err)
	model := exampleModel()
	model.Model.Theta[0] = inf64()
	value, err = EncodeModel(model)
	refused("a model with an infinite weight", value, err)
	value, err = EncodeRequest(&Request{Action: "sing", ID: "x"})
	refused("an unknown request", value, err)
	value, err = EncodeRequest(&Request{Action: ActionStart, ID: "x", From: "noon"})
	refused("an unknown end", value, err)
	value, err = EncodeCurrent(&Current{})
	refused("a pointer to nothing", value, err)
	for name, encode := range map[string]func() ([]byte, error){
		"spec":        func() ([]byte, error) { return EncodeSpec(nil) },
		"checkpoint":  func() ([]byte, error) { return EncodeCheckpoint(nil) },
		"feature set": func() ([]byte, error) { return EncodeFeatureSet(nil) },
		"model":       func() ([]byte, error) { return EncodeModel(nil) },
	} {
		value, err := encode()
		refused("a nil "+name, value, err)
	}
}
