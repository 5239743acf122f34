package selection

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
	"github.com/eerf-stream/eerf/stages/meter"
)

// Merge adds up the sums of an exploration's partitions in partition order. Partitions with an
// empty range have no checkpoint.
func Merge(spec *wire.Spec, checkpoints map[int32]*wire.Checkpoint) (*scoring.Sums, wire.Lineage) {
	sums := scoring.NewSums(spec.Candidates.Count, spec.Encoder.Outputs())
	lineage := wire.Lineage{
		Pipeline:        spec.Pipeline,
		Exploration:     spec.Exploration,
		Sequence:        spec.Sequence,
		SpecHash:        spec.Hash(),
		ConfigHash:      spec.ConfigHash,
		EventsTopic:     spec.EventsTopic,
		EventsLog:       spec.EventsLog,
		Arithmetic:      scoring.Arithmetic(),
		From:            spec.From,
		LabelledRows:    spec.LabelledRows(),
		Identity:        spec.Identity,
		Copies:          spec.Copies,
		SampleRate:      spec.SampleRate,
		SampleSeed:      spec.SampleSeed,
		SampleRows:      spec.SampleRows,
		CalibrationRows: spec.CalibrationRows,
		BandwidthRule:   spec.BandwidthRule,
		Columns:         spec.Columns,
		Excluded:        spec.Excluded,
		Criterion:       spec.Criterion,
		Rounds:          spec.Rounds,
		Members:         spec.Members,
		RefineSteps:     spec.RefineSteps,
		RefineRounds:    spec.RefineRounds,
		Candidates:      spec.Candidates.Count,
	}
	for _, part := range spec.Partitions {
		line := wire.LineagePartition{
			Partition: part.Partition, StartOffset: part.StartOffset, NextOffset: part.StartOffset, EndOffset: part.EndOffset,
			CloseReason: wire.CloseEnd, CalibrationRows: part.CalibrationRows,
		}
		if c := checkpoints[part.Partition]; c != nil {
			sums.Merge(c.Sums)
			meter.Add(&lineage.Counts, c.Counts)
			line.NextOffset, line.ClosingOrdinal, line.CloseReason = c.NextOffset, c.NextOrdinal, c.CloseReason
		}
		lineage.Partitions = append(lineage.Partitions, line)
	}
	lineage.Rows = lineage.Counts.Scored
	return sums, lineage
}

// Progress is the progress of a selection.
type Progress struct {
	Round, Rounds int // the current round, counted from 1, and the maximum
	// Points holds the measurements on held-out rows so far, under the adaptive criterion.
	Points []adaptive.Point
}

// Last returns a copy of the newest point; nil = none.
func (p Progress) Last() *adaptive.Point {
	if len(p.Points) == 0 {
		return nil
	}
	last := p.Points[len(p.Points)-1]
	return &last
}

// Options control how a selection runs. They do not affect its result.
type Options struct {
	Workers  int            // goroutines; 0 = one per core
	Progress func(Progress) // called before each round and with each point; nil = not reported
	Stop     func() error   // called between steps; the selection ends with its error; nil = never
}

// chosen is the result of a selection by any criterion.
type chosen struct {
	selection scoring.Selection
	set       *scoring.FeatureSet
	learning  *adaptive.Report
}

// Select chooses the features of an exploration and makes the feature set. The sample holds the
// summed and the held-out rows in partition order. It is nil under a criterion that needs only
// sums.
func Select(
	spec *wire.Spec,
	sums *scoring.Sums,
	lineage wire.Lineage,
	sample *scoring.Sample,
	now time.Time,
	o Options,
) (*wire.FeatureSet, error) {
	choose := choose
	if spec.Criterion.NeedsRows() {
		choose = learn
	}
	c, err := choose(spec, sums, sample, o)
	if errors.Is(err, scoring.ErrConstantLabels) {
		err = fmt.Errorf(
			"%w: set events.label (--label) to a column that varies, or score more rows (exploration.sample_rows, --sample)",
			err,
		)
	}
	if err != nil {
		return nil, fmt.Errorf("select by label %q from exploration %s with %d scored rows: %w",
			spec.Encoder.Label.Columns, spec.Exploration, lineage.Rows, err)
	}
	s := c.selection
	lineage.SelectedAt, lineage.Learning = now, c.learning
	lineage.Best, lineage.Cutoff, lineage.Radius, lineage.AboveNoise = slices.Max(
		s.Score,
	), slices.Min(
		s.Score,
	), s.Radius, s.AboveNoise
	if c.learning != nil && !lineage.Learned() {
		lineage.ByResidual = len(s.Index)
	}
	if len(s.LargeSampleRadius) > 0 {
		lineage.LargeSampleRadius = slices.Max(s.LargeSampleRadius)
	}
	return &wire.FeatureSet{
		Encoder:    spec.Encoder,
		Task:       spec.Encoder.Label.Task,
		Coding:     s.Coding,
		Candidates: spec.Candidates,
		Lineage:    lineage,
		Set:        *c.set,
	}, nil
}

// choose selects candidates of the spec by their sums.
func choose(spec *wire.Spec, sums *scoring.Sums, _ *scoring.Sample, _ Options) (*chosen, error) {
	s, err := scoring.Select(sums, spec.Encoder.Label.Task, spec.Criterion, spec.Features)
	if err != nil {
		return nil, err
	}
	return &chosen{selection: s, set: scoring.NewFeatureSet(spec.Candidates, s)}, nil
}

// learn learns features from the sample, or chooses candidates by its rows.
func learn(spec *wire.Spec, sums *scoring.Sums, sample *scoring.Sample, o Options) (*chosen, error) {
	options := adaptive.Options{
		Features:     spec.Features,
		Rounds:       spec.Rounds,
		Members:      spec.Members,
		RefineSteps:  spec.RefineSteps,
		RefineRounds: spec.RefineRounds,
		Workers:      o.Workers,
		Columns:      spec.Encoder.Origins(),
		ChooseOnly:   !spec.Criterion.Learns(),
		Stop:         o.Stop,
	}
	if o.Progress != nil {
		now := Progress{Round: 1, Rounds: options.AllRounds()}
		o.Progress(now)
		options.Progress = func(p adaptive.Point) {
			if now.Points = append(now.Points, p); p.Kind == adaptive.ByRound {
				now.Round = min(now.Round+1, now.Rounds)
			}
			o.Progress(now)
		}
	}
	learned, err := adaptive.Learn(spec.Candidates, sums, sample, spec.Encoder.Label.Task, options)
	if err != nil {
		return nil, err
	}
	return &chosen{selection: learned.Selection, set: learned.FeatureSet(), learning: &learned.Report}, nil
}

// PlainSet returns the first M candidates as drawn, without selection, under the encoder of a set:
// the baseline for data-dependent features.
func PlainSet(of *wire.FeatureSet) *wire.FeatureSet {
	m := of.Set.Features.Len()
	index := make([]int32, m)
	for i := range index {
		index[i] = int32(i)
	}
	outputs := len(of.Coding.Gain)
	candidates := adaptive.Plain(of.Candidates) // dense and with one bandwidth, because no selection chooses among scales
	return &wire.FeatureSet{
		Encoder: of.Encoder, Task: of.Task, Coding: of.Coding, Candidates: candidates,
		Lineage: wire.Lineage{
			Pipeline:   of.Lineage.Pipeline,
			Arithmetic: scoring.Arithmetic(),
			Criterion:  of.Lineage.Criterion,
		},
		Set: *scoring.NewFeatureSet(candidates, scoring.Selection{
			Index: index, Score: make([]float64, m), S: make([]float64, m*outputs),
		}),
	}
}
