package stages_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/train"
)

// ofAnotherVersion is a plan or a checkpoint as a build with other formats writes it.
func ofAnotherVersion(t *testing.T, value []byte) []byte {
	t.Helper()
	other := bytes.Replace(value, fmt.Appendf(nil, `"format_version":%d`, wire.SpecVersion), []byte(`"format_version":9`), 1)
	if bytes.Equal(other, value) {
		t.Fatal("no format version found")
	}
	return other
}

// A build whose plans and checkpoints have another format version finds an exploration that is finished or runs. It
// explores again; until the new set is chosen, the set and the model in use serve without a pause.
func TestFlowAnotherFormatVersionExploresAgain(t *testing.T) {
	t.Parallel()
	for name, running := range map[string]bool{"finished": false, "running": true} {
		t.Run(name, func(t *testing.T) {
			f := newFlow(t, 1, func(s *stages.Settings) {
				s.Exploration.SampleRows, s.Featurize.Predictions, s.Train.Promote.Rule = 100, true, train.PromoteAlways
			})
			names := append([]string{meter.StageTrain}, allButTrain...)
			f.sendRows(0, 0, 400)
			w := f.start(names, nil)
			first := f.set(1)
			f.featurizedUpTo(0, 20)
			f.until("a model", func() bool { return f.models().Current != nil })
			model := f.models().Current.ID
			w.stop()
			f.rewriteVersions(running)
			f.follower = f.follow(f.client)

			release := make(chan struct{})
			w = f.start(names, func(w *worker) {
				w.log.produce = func(ctx context.Context, topic string, _ int, _ []pipeline.Record) error {
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
			spec := f.running()
			f.sendRows(0, 400, 500)
			f.featurizedUpTo(0, 25)
			last := func() featurized { all := f.features(0); return all[len(all)-1] }
			if at := last(); at.FeatureSetID != first.ID || headerOf(at.record, wire.HeaderModel) == "" {
				t.Errorf("meanwhile: set %s, model %q; in use were %s, %s", at.FeatureSetID, headerOf(at.record, wire.HeaderModel), first.ID, model)
			}
			close(release)
			second := f.set(spec.Sequence)
			if second.Set.Lineage.Exploration != spec.Exploration || spec.Sequence != 2 {
				t.Errorf("set of %s after %s", second.Set.Lineage.Exploration, spec.Exploration)
			}
			if _, err := w.State.Wait(f.ctx, func(s state.Snapshot) bool { return s.CurrentSet() != nil && s.CurrentSet().ID == second.ID }); err != nil {
				t.Fatal(err)
			}
			f.sendRows(0, 500, 600)
			f.featurizedUpTo(0, 30)
			if at := last(); at.FeatureSetID != second.ID {
				t.Errorf("afterwards: set %s, not %s", at.FeatureSetID, second.ID)
			}
			f.noCheckpoints("")
		})
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

// rewriteVersions replaces what explorations hold by a plan of another format version; with running also scores.
func (f *flow) rewriteVersions(running bool) {
	f.t.Helper()
	topic := f.settings.Topics.Explorations
	record := f.newestByKey(topic, 0)["flow"]
	if running {
		spec, err := wire.DecodeSpec(arrowio.NewDecoder(arrowio.DefaultLimits()), record.Value)
		if err != nil {
			f.t.Fatal(err)
		}
		spec.Sequence, spec.Exploration = 2, "flow.2.other"
		if record.Value, err = wire.EncodeSpec(spec); err != nil {
			f.t.Fatal(err)
		}
		checkpoint := f.all(f.settings.Topics.Scores, 0)[0]
		f.produce(f.settings.Topics.Scores, 0, pipeline.Record{
			Key: wire.CheckpointKey(spec.Exploration), Value: ofAnotherVersion(f.t, checkpoint.Value), Time: checkpoint.Time,
		})
	}
	at := f.produce(topic, 0, pipeline.Record{Key: record.Key, Value: ofAnotherVersion(f.t, record.Value), Time: record.Time})
	f.deleteRecords(topic, 0, at)
}
