package stages_test

import (
	"math"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/train"
)

// autumn makes the label depend on another column.
func autumn(_ int64, r *row) { r.y = math.Cos(2*r.x[2] - 1) }

// unexplained is the share of held-out variance that a ridge model on the features of a set leaves unexplained, in
// percent, for autumn's rows.
func unexplained(t *testing.T, set *wire.FeatureSet, first, next int64) float64 {
	t.Helper()
	settings := stages.Default()
	core := featurize.New(set, settings.Limits.Decoder(), settings.Featurize.MaxOutputBytes)
	trainer, err := train.New(set, settings.Train, settings.Limits.Decoder(), 1)
	if err != nil {
		t.Fatal(err)
	}
	batch := rows(first, next, autumn)
	defer batch.Release()
	source := message(t, batch, 0, next-first)
	source.Topic = "events"
	offset := int64(0)
	err = core.Process(source, 0, stagestest.Noon, func(part featurize.Part) error {
		if part.Output == nil { // the message itself
			return nil
		}
		out := *part.Output
		out.Offset, offset = offset, offset+1
		return trainer.Partition(0).Add(out)
	})
	if err != nil {
		t.Fatal(err)
	}
	model, err := trainer.Solve(t.Context(), "season", stagestest.Noon)
	if err != nil {
		t.Fatal(err)
	}
	return *model.Metrics.UnexplainedVariance
}

// When the target changes, an exploration of recent rows finds features for the new season. Without new rows, nothing is
// explored.
func TestFlowExploringAgainFollowsTheSeason(t *testing.T) {
	t.Parallel()
	const n = 3000
	f := newFlow(t, 2, func(s *stages.Settings) {
		s.Exploration.Window, s.Exploration.MinRows = n, n
		s.Exploration.Candidates, s.Exploration.Features, s.Exploration.SampleRate = 800, 24, 1
	})
	send := func(first int64, edit func(int64, *row)) {
		for p := range int64(2) {
			batch := rows(first+p*n/2, first+(p+1)*n/2, edit)
			f.send(int(p), batch, 100)
			batch.Release()
		}
	}
	send(0, nil)
	f.start(exploring, nil)
	before := f.set(1).Set
	send(n, autumn)
	f.request(wire.ActionStart, "autumn")
	after := f.set(2).Set
	for i, set := range []*wire.FeatureSet{before, after} {
		for _, part := range set.Lineage.Partitions {
			if want := int64(i * n / 200); part.StartOffset != want || part.EndOffset != want+n/200 || !set.Lineage.Counts.Reconciles() {
				t.Errorf("set %d reads %+v", i+1, part)
			}
		}
	}
	old, now := unexplained(t, before, 2*n, 3*n), unexplained(t, after, 2*n, 3*n)
	if now > old/2 {
		t.Errorf("of rows of the new season the new set leaves %.2f %% unexplained, the old one %.2f %%", now, old)
	}
	f.produce(f.settings.Topics.Explorations, 0, pipeline.Record{Key: wire.RequestKey("flow", "unreadable"), Value: []byte("hello")})
	f.request(wire.ActionStart, "the same rows again")
	f.state("the requests are answered", func(s state.Snapshot) bool { return len(s.Requests) == 0 })
	if s := f.follower.Snapshot(); s.Sequence() != 2 || s.Running() != nil {
		t.Errorf("an exploration of the same rows: %+v", s.Spec)
	}
}
