package stages

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// SelectFeatures merges the checkpoints of an exploration of one pass in partition order and keeps the best features.
// Partitions that are not closed count as closed by the deadline, with the rows that they have.
func SelectFeatures(spec *wire.Spec, checkpoints []*wire.Checkpoint, now time.Time) (*wire.FeatureSet, error) {
	sums, lineage := mergeCheckpoints(spec, checkpoints)
	selection, err := scoring.Select(sums, spec.Encoder.Label.Task, spec.Criterion, spec.Features)
	if err != nil {
		return nil, fmt.Errorf("select from exploration %s with %d scored rows: %w", spec.Exploration, sums.Rows, err)
	}
	return newFeatureSet(spec, selection, lineage, now), nil
}

// newFeatureSet is the set of a selection from the rows of lineage.
func newFeatureSet(spec *wire.Spec, selection scoring.Selection, lineage wire.Lineage, now time.Time) *wire.FeatureSet {
	lineage.SelectedAt = now
	lineage.Best, lineage.Cutoff, lineage.Radius = selection.Best, selection.Cutoff, selection.Radius
	lineage.AboveNoise, lineage.LargeSampleRadius = selection.AboveNoise, slices.Max(selection.LargeSampleRadius)
	lineage.ByResidual = selection.ByResidual
	return &wire.FeatureSet{
		Encoder: spec.Encoder, Task: spec.Encoder.Label.Task, Coding: selection.Coding, Candidates: spec.Candidates,
		Lineage: lineage, Set: *scoring.NewFeatureSet(spec.Candidates, selection),
	}
}

func mergeCheckpoints(spec *wire.Spec, checkpoints []*wire.Checkpoint) (*scoring.Sums, wire.Lineage) {
	sums := scoring.NewSums(spec.Candidates.Count, spec.Encoder.Outputs())
	lineage := wire.Lineage{
		Pipeline: spec.Pipeline, Exploration: spec.Exploration, Sequence: spec.Sequence, SpecHash: spec.Hash(),
		ConfigHash: spec.ConfigHash, EventsTopic: spec.EventsTopic, Kernel: scoring.Kernel(),
		SampleRate: spec.SampleRate, SampleSeed: spec.SampleSeed, SampleRows: spec.SampleRows,
		CalibrationRows: spec.CalibrationRows, BandwidthRule: spec.BandwidthRule,
		Criterion: spec.Criterion, Rounds: spec.Rounds, Candidates: spec.Candidates.Count,
	}
	for _, part := range spec.Partitions {
		line := wire.LineagePartition{
			Partition: part.Partition, StartOffset: part.StartOffset, NextOffset: part.StartOffset,
			CloseReason: wire.CloseDeadline, CalibrationRows: part.CalibrationRows,
		}
		if c := checkpointOf(checkpoints, part.Partition); c != nil {
			sums.Merge(c.Sums)
			lineage.Counts.Add(c.Counts)
			line.NextOffset, line.ClosingOrdinal = c.NextOffset, c.NextOrdinal
			if c.Closed {
				line.CloseReason = c.CloseReason
			}
		}
		lineage.Partitions = append(lineage.Partitions, line)
	}
	lineage.Rows = sums.Rows
	return sums, lineage
}

// checkpointOf returns the partition's checkpoint, nil where no row of it has come yet.
func checkpointOf(checkpoints []*wire.Checkpoint, partition int32) *wire.Checkpoint {
	for _, c := range checkpoints {
		if c.Partition == partition {
			return c
		}
	}
	return nil
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
	candidates.Mix = nil // nothing would choose among the scales: plain features are those of one bandwidth
	return &wire.FeatureSet{
		Encoder: of.Encoder, Task: of.Task, Coding: of.Coding, Candidates: candidates,
		Lineage: wire.Lineage{Pipeline: of.Lineage.Pipeline, Kernel: scoring.Kernel(), Criterion: of.Lineage.Criterion},
		Set: *scoring.NewFeatureSet(candidates, scoring.Selection{
			Index: index, Score: make([]float64, m), S: make([]float64, m*outputs),
		}),
	}
}

// outdated lists the sets or models, by id with the times of their records, that are beyond the newest ones kept and
// were replaced more than minAge ago: what the features topic may still refer to stays.
func outdated(published map[string]time.Time, keep int, minAge time.Duration, now time.Time) []string {
	ids := make([]string, 0, len(published))
	for id := range published {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool {
		a, b := published[ids[i]], published[ids[j]]
		return a.After(b) || a.Equal(b) && ids[i] < ids[j]
	})
	var old []string
	for i := max(1, keep); i < len(ids); i++ {
		if successor := ids[i-1]; now.Sub(published[successor]) > minAge {
			old = append(old, ids[i])
		}
	}
	return old
}
