package stages

import (
	"errors"
	"testing"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

func TestScoreboardOfSeveralOrigins(t *testing.T) {
	spec, c, _ := steps(t, 0)
	otherSpec := *c[2]
	otherSpec.SpecHash = "0123456789abcdef"
	abacus := ofKernel(c[2], "abacus")
	for _, test := range []struct {
		name    string
		on      []*wire.Checkpoint // nil is a tombstone
		ordinal int64              // of the one to use; 0 = none
		refused error
	}{
		{"nothing", nil, 0, nil},
		{"the furthest", []*wire.Checkpoint{c[0], c[2], c[1]}, 300, nil},
		{"tombstone", []*wire.Checkpoint{c[0], abacus, nil}, 0, nil},
		{"after a tombstone", []*wire.Checkpoint{c[2], nil, c[1]}, 200, nil},
		{"another kernel behind", []*wire.Checkpoint{c[0], abacus}, 100, wire.ErrKernelMismatch},
		{"another kernel before", []*wire.Checkpoint{abacus, c[0]}, 100, wire.ErrKernelMismatch},
		{"another spec behind", []*wire.Checkpoint{c[1], &otherSpec}, 200, wire.ErrSpecMismatch},
		{"another spec before", []*wire.Checkpoint{&otherSpec, &otherSpec, c[1]}, 200, wire.ErrSpecMismatch},
	} {
		t.Run(test.name, func(t *testing.T) {
			board := newScoreboard()
			board.behind = 1
			decoder := arrowio.NewDecoder(arrowio.DefaultLimits())
			for _, checkpoint := range test.on {
				changed := board.signal()
				rec := pipeline.Record{Key: wire.CheckpointKey(spec.Exploration, spec.Pass)}
				if checkpoint != nil {
					rec = checkpointRecord(t, checkpoint)
				}
				if err := board.apply(decoder, rec, spec.Pipeline); err != nil {
					t.Fatal(err)
				}
				<-changed
			}
			usable, refused := board.of(spec), board.refusals(spec)
			if board.complete() {
				t.Error("complete before scores was read")
			}
			switch {
			case test.ordinal == 0 && len(usable) != 0, test.ordinal > 0 && (len(usable) != 1 || usable[0].NextOrdinal != test.ordinal):
				t.Errorf("usable: %v, want one at ordinal %d", usable, test.ordinal)
			}
			if test.refused == nil && len(refused) != 0 || test.refused != nil && (len(refused) != 1 || !errors.Is(refused[0], test.refused)) {
				t.Errorf("refused: %v, want %v", refused, test.refused)
			}
			board.caughtUp()
			if again, refused := board.of(spec), board.refusals(spec); len(again) != len(usable) || len(refused) != 0 || !board.complete() {
				t.Errorf("the second time: %d usable, refused %v, complete %v", len(again), refused, board.complete())
			}
		})
	}
}
