package wire

import (
	"math"
	"testing"
)

// The next exploration has the next number, so a forged pointer or spec with the largest one would
// end explorations for good.
func TestASequenceNumberNeedsASuccessor(t *testing.T) {
	for sequence, valid := range map[int64]bool{-1: false, 0: true, math.MaxInt64 - 1: true, math.MaxInt64: false} {
		pointer := Current{ID: "fs-0123456789abcdef0123456789abcdef", Sequence: sequence}
		if err := pointer.Validate(); (err == nil) != valid {
			t.Errorf("pointer %d: %v", sequence, err)
		}
		spec := exampleSpec()
		spec.Sequence = sequence
		spec.Exploration = ExplorationID(&spec.Plan)
		if err := spec.Validate(); (err == nil) != valid {
			t.Errorf("spec %d: %v", sequence, err)
		}
	}
}
