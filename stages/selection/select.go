package selection

import (
	"fmt"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// Merge adds up the sums of an exploration's partitions in partition order. Partitions whose ranges are empty have no
// checkpoint.
func Merge(spec *wire.Spec, checkpoints map[int32]*wire.Checkpoint) (*scoring.Sums, wire.Lineage) {
	sums := scoring.NewSums(spec.Candidates.Count, spec.Encoder.Outputs())
	lineage := wire.Lineage{
		Pipeline: spec.Pipeline, Exploration: spec.Exploration, Sequence: spec.Sequence, SpecHash: spec.Hash(),
		ConfigHash: spec.ConfigHash, EventsTopic: spec.EventsTopic, Arithmetic: scoring.Arithmetic(),
		From: spec.From, LabelledRows: spec.LabelledRows(),
		SampleRate: spec.SampleRate, SampleSeed: spec.SampleSeed, SampleRows: spec.SampleRows,
		CalibrationRows: spec.CalibrationRows, BandwidthRule: spec.BandwidthRule,
		Criterion: spec.Criterion, Rounds: spec.Rounds, Candidates: spec.Candidates.Count,
	}
	for _, part := range spec.Partitions {
		line := wire.LineagePartition{
			Partition: part.Partition, StartOffset: part.StartOffset, NextOffset: part.StartOffset, EndOffset: part.EndOffset,
			CloseReason: wire.CloseEnd, CalibrationRows: part.CalibrationRows,
		}
		if c := checkpoints[part.Partition]; c != nil {
			sums.Merge(c.Sums)
			lineage.Counts.Add(c.Counts)
			line.NextOffset, line.ClosingOrdinal, line.CloseReason = c.NextOffset, c.NextOrdinal, c.CloseReason
		}
		lineage.Partitions = append(lineage.Partitions, line)
	}
	lineage.Rows = sums.Rows
	return sums, lineage
}

// Options say how a selection runs; they do not change its result.
type Options struct {
	Workers  int             // goroutines; 0 = one for each core
	Progress func(round int) // called before each round, from 1 on; nil = not reported
}

// Select chooses the features of an exploration and makes the set of them. The sample is of the rows in the sums, in partition
// order; it is nil under a criterion that needs sums alone.
func Select(spec *wire.Spec, sums *scoring.Sums, lineage wire.Lineage, sample *scoring.Sample, now time.Time, o Options) (*wire.FeatureSet, error) {
	var bank *scoring.Bank
	if spec.Criterion.NeedsRows() {
		bank = scoring.NewBank(spec.Candidates, scoring.BankOptions{Partitions: 1})
	}
	selection, err := scoring.SelectFrom(bank, sums, sample, spec.Encoder.Label.Task, scoring.SelectOptions{
		Criterion: spec.Criterion, Features: spec.Features, Rounds: spec.Rounds, Workers: o.Workers, Progress: o.Progress,
	})
	if err != nil {
		return nil, fmt.Errorf("select from exploration %s with %d scored rows: %w", spec.Exploration, sums.Rows, err)
	}
	lineage.SelectedAt = now
	lineage.Best, lineage.Cutoff, lineage.Radius = selection.Best, selection.Cutoff, selection.Radius
	lineage.AboveNoise, lineage.LargeSampleRadius = selection.AboveNoise, slices.Max(selection.LargeSampleRadius)
	lineage.ByResidual = selection.ByResidual
	return &wire.FeatureSet{
		Encoder: spec.Encoder, Task: spec.Encoder.Label.Task, Coding: selection.Coding, Candidates: spec.Candidates,
		Lineage: lineage, Set: *scoring.NewFeatureSet(spec.Candidates, selection),
	}, nil
}

// PlainSet returns M candidates as they are drawn, without selection, under the encoder of a set: what data-dependent
// features are to be compared with.
func PlainSet(of *wire.FeatureSet) *wire.FeatureSet {
	m := of.Set.Features.Len()
	index := make([]int32, m)
	for i := range index {
		index[i] = int32(i)
	}
	outputs := len(of.Coding.Gain)
	candidates := of.Candidates
	candidates.Mix = nil // plain features have one bandwidth: nothing chooses among scales
	return &wire.FeatureSet{
		Encoder: of.Encoder, Task: of.Task, Coding: of.Coding, Candidates: candidates,
		Lineage: wire.Lineage{Pipeline: of.Lineage.Pipeline, Arithmetic: scoring.Arithmetic(), Criterion: of.Lineage.Criterion},
		Set: *scoring.NewFeatureSet(candidates, scoring.Selection{
			Index: index, Score: make([]float64, m), S: make([]float64, m*outputs),
		}),
	}
}
