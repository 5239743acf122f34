package wire

import (
	"math"
	"testing"
)

// A forged pointer or spec with the largest number must not end explorations.
func TestEverySequenceNumberHasASuccessor(t *testing.T) {
	for sequence, valid := range map[int64]bool{
		-1: false, 0: true, 7: true, MaxSequence / 2: true, MaxSequence - 1: true, MaxSequence: true,
		MaxSequence + 1: false, math.MaxInt64: false,
	} {
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
		if _, _, ok := ParseCheckpointKey(CheckpointKey(ExplorationID(&spec.Plan))); ok != valid {
			t.Errorf("key of exploration %d: %v", sequence, ok)
		}
		next := NextSequence(sequence)
		if !validSequence(next) || valid && (CompareSequences(next, sequence) <= 0 || CompareSequences(sequence, next) >= 0) {
			t.Errorf("%d follows %d, comparison %d", next, sequence, CompareSequences(next, sequence))
		}
	}
	if CompareSequences(5, 3) <= 0 || CompareSequences(3, 3) != 0 || CompareSequences(MaxSequence-3, 2) >= 0 {
		t.Error("order of numbers")
	}
}
