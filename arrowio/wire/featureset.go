package wire

import (
	"errors"
	"fmt"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/scoring"
)

// FeatureSet is a selected feature set as published: how to turn a row into M features, the scores
// they were selected by, and where the set comes from. It is immutable; [FeatureSet.ID] names it.
type FeatureSet struct {
	Encoder *encoder.Encoder
	Set     scoring.FeatureSet // member by member within each kind, and best first within a member
	Task    scoring.Task
	Coding  scoring.Coding // output coding under which Set.S was computed
	// the candidates that the kept features were drawn from (of the first round, if learned);
	// informative
	Candidates scoring.Candidates
	Lineage    Lineage
}

// Validate returns every inconsistency between the parts of a feature set.
func (f *FeatureSet) Validate() error {
	if f.Set.Features == nil {
		return errors.New("no features")
	}
	if err := f.Set.Validate(); err != nil {
		return fmt.Errorf("features: %w", err)
	}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if err := checkEncoder(f.Encoder); err != nil {
		faults = append(faults, err)
	} else if f.Encoder.Dim != f.Set.Features.Dim {
		fault("encoder gives %d dimensions, features take %d", f.Encoder.Dim, f.Set.Features.Dim)
	}
	if err := f.Candidates.Validate(); err != nil {
		fault("candidates: %w", err)
	} else if f.Candidates.Map != f.Set.Features.Map || f.Candidates.Dim != f.Set.Features.Dim {
		fault("candidates are of map %v in %d dimensions, features of map %v in %d",
			f.Candidates.Map, f.Candidates.Dim, f.Set.Features.Map, f.Set.Features.Dim)
	}
	if err := f.Lineage.validateLearning(f.Set.Features.Dim); err != nil {
		return errors.Join(append(faults, fmt.Errorf("learning: %w", err))...)
	}
	faults = append(faults, f.Lineage.Split.validate(), f.validateLabel(), f.validateLengths(), f.validateNumbers())
	return errors.Join(faults...)
}

// validateLabel checks that the scores match the encoder's label.
func (f *FeatureSet) validateLabel() error {
	if f.Encoder == nil || f.Encoder.Label == nil {
		return nil
	}
	if l := f.Encoder.Label; l.Task != f.Task || l.Outputs() != f.outputs() {
		return fmt.Errorf("scores of %d outputs for task %v, but the label has %d for task %v",
			f.outputs(), f.Task, l.Outputs(), l.Task)
	}
	return nil
}

// outputs returns K, the length of the coding.
func (f *FeatureSet) outputs() int { return len(f.Coding.Gain) }

// validateLengths checks that there are scores for each output.
func (f *FeatureSet) validateLengths() error {
	m, k := f.Set.Features.Len(), f.outputs()
	switch {
	case k < 1:
		return errors.New("no outputs")
	case len(f.Coding.Offset) != k:
		return fmt.Errorf("coding has %d gains, %d offsets", k, len(f.Coding.Offset))
	case len(f.Set.S) != m*k:
		return fmt.Errorf("%d features, %d outputs, but %d scores", m, k, len(f.Set.S))
	}
	return f.validateIndexes()
}

// validateIndexes checks that no feature appears twice. The rounds of learned features have
// separate pools, each numbered from 0 and some of them of more than M0 candidates; all other sets
// choose from one.
func (f *FeatureSet) validateIndexes() error {
	type draw struct{ pool, index int32 }
	seen := make(map[draw]bool, len(f.Set.Index))
	for at, i := range f.Set.Index {
		one := draw{index: i}
		if f.Lineage.Learned() && f.Set.Round != nil {
			one.pool = f.Set.Round[at]
		}
		if i < 0 || int(i) >= f.Candidates.Count && !f.Lineage.Learned() || seen[one] {
			return fmt.Errorf("candidate index %d is repeated or not within 0..%d", i, f.Candidates.Count-1)
		}
		seen[one] = true
	}
	return nil
}

// validateNumbers checks that no NaN or Inf can reach a feature or a report.
func (f *FeatureSet) validateNumbers() error {
	for _, v := range [][]float64{f.Set.Score, f.Set.S, f.Coding.Gain, f.Coding.Offset,
		{f.Lineage.Best, f.Lineage.Cutoff, f.Lineage.Radius, f.Lineage.LargeSampleRadius, f.Lineage.SampleRate}} {
		if !finite(v) {
			return errors.New("a score, coding or lineage figure is not finite")
		}
	}
	return nil
}

// checkEncoder validates an encoder that may be missing.
func checkEncoder(e *encoder.Encoder) error {
	if e == nil {
		return errors.New("no encoder")
	}
	if err := e.Validate(); err != nil {
		return fmt.Errorf("encoder: %w", err)
	}
	return nil
}
