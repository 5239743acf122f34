// Package explored is the part of the test kit that explores: it makes specs and feature sets from
// rows in memory with the functions that the stages call. It is separate from stagestest, because
// the internal tests of these packages import stagestest.
package explored

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/selection"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/subsample"
)

// Events configures reading the generated events of a task. The classes are configured, so that the
// classes of bad rows stay unseen. NaN is a fault.
func Events(task string) events.Config {
	c := events.Default()
	c.Label, c.Passthrough, c.NaN = []string{"y"}, []string{"id"}, encoder.NaNReject
	c.Classes = map[string][]string{
		stagestest.Binary: {"no", "yes"}, stagestest.Classes: {"east", "north", "south", "west"},
	}[task]
	return c
}

// Exploration explores 40 candidates for 10 features on every third row.
func Exploration() calibrate.Config {
	c := calibrate.Default()
	c.Candidates, c.Features = 40, 10
	c.Criterion = scoring.Correlation // criteria that need rows have their own tests
	c.SampleRate = 0.34
	c.CalibrationRows = 300
	c.Sigma = 1.5 // the neighbour rule has its own tests
	return c
}

// Wide configures reading and exploring wide events, with as many features as candidates, because
// the choice does not matter.
func Wide(features int) (events.Config, calibrate.Config) {
	e, c := events.Default(), calibrate.Default()
	e.Label, e.Task, e.NaN = []string{"y"}, "regression", encoder.NaNReject
	c.Candidates, c.Features, c.Criterion = features, features, scoring.Correlation
	c.SampleRate, c.CalibrationRows, c.Sigma = 1, 1024, 8
	return e, c
}

// Spec returns the plan of an exploration of the batches, the messages of partition 0 of events
// from offset 0 on.
func Spec(t testing.TB, e events.Config, c calibrate.Config, batches ...arrow.Record) *wire.Spec {
	t.Helper()
	settings := calibrate.Settings{
		Pipeline:    "test",
		Events:      e,
		Exploration: c,
		Limits:      events.DefaultLimits(),
		EventsTopic: "events",
	}
	planned, err := calibrate.PlanRows(settings, func(do func(arrow.Record) error) error {
		for _, batch := range batches {
			if err := do(batch); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return planned.Spec
}

// FeatureSet returns the result of that exploration.
func FeatureSet(t testing.TB, e events.Config, c calibrate.Config, batches ...arrow.Record) *wire.FeatureSet {
	t.Helper()
	spec := Spec(t, e, c, batches...)
	core, err := subsample.New(spec, scoring.NewBank(spec.Candidates), spec.Partitions[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	for offset, batch := range batches {
		if err := core.Add(int64(offset), []arrow.Record{batch}, nil); err != nil {
			t.Fatal(err)
		}
	}
	var sample *scoring.Sample
	if collected := core.Samples(); collected != nil {
		sample = selection.NewSample(spec, collected)
	}
	sums, lineage := selection.Merge(spec, map[int32]*wire.Checkpoint{0: core.Checkpoint(stagestest.Noon)})
	set, err := selection.Select(spec, sums, lineage, sample, stagestest.Noon, selection.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}
