package stages_test

import (
	"bytes"
	"context"
	"regexp"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/train"
)

// A build with another format version of plans explores again. Until the new set is chosen, the
// current set and model serve without interruption.
func TestFlowAnUpgradeServesOn(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) {
		s.Exploration.SampleRows, s.Featurize.Predictions, s.Train.Promote.Rule = 100, true, train.PromoteAlways
	})
	names := append([]meter.Stage{meter.StageTrain}, allButTrain...)
	f.sendRows(0, 0, 400)
	w := f.start(names, nil)
	first := f.set(1)
	f.featurizedUpTo(0, 20)
	if _, err := f.follower.WaitModels(f.ctx, func(s state.Snapshot) bool { return s.Models.Current != nil }); err != nil {
		t.Fatal(err)
	}
	w.stop()
	f.planOfAnotherVersion()
	f.follower = f.onlooker()
	f.sendRows(0, 400, 500) // more rows, another set

	release := make(chan struct{})
	f.start(names, func(w *worker) {
		w.log.OnProduce = func(ctx context.Context, topic string, _ int, _ []pipeline.Record) error {
			if topic == f.settings.Topics.FeatureSets {
				select {
				case <-release:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		}
	})
	spec := f.state("another exploration", func(s state.Snapshot) bool { return s.Running() != nil }).Spec
	f.featurizedUpTo(0, 25)
	last := func() explored.Featurized { all := f.features(0); return all[len(all)-1] }
	if at := last(); at.FeatureSetID != first.ID || headerOf(at.Record, wire.HeaderModel) == "" {
		t.Errorf(
			"meanwhile: set %s, model %q; the current set was %s",
			at.FeatureSetID,
			headerOf(at.Record, wire.HeaderModel),
			first.ID,
		)
	}
	close(release)
	second := f.set(spec.Sequence)
	if second.Set.Lineage.Exploration != spec.Exploration || second.ID == first.ID {
		t.Errorf("set %s of %s after %s", second.ID, second.Set.Lineage.Exploration, spec.Exploration)
	}
	for next := int64(500); last().FeatureSetID != second.ID; next += 20 { // the set changes between messages
		f.sendRows(0, next, next+20)
		f.featurizedUpTo(0, next/20+1)
	}
}

func headerOf(r pipeline.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// planOfAnotherVersion replaces the records of explorations by the newest plan in another format
// version.
func (f *flow) planOfAnotherVersion() {
	f.t.Helper()
	topic := f.settings.Topics.Explorations
	plan := f.newestByKey(topic, 0)["flow"]
	other := regexp.MustCompile(`"format_version":[0-9]+`).ReplaceAll(plan.Value, []byte(`"format_version":99`))
	if bytes.Equal(other, plan.Value) {
		f.t.Fatal("no format version found")
	}
	at := f.produce(topic, 0, pipeline.Record{Key: plan.Key, Value: other, Time: plan.Time})
	f.deleteRecords(topic, 0, at)
}
