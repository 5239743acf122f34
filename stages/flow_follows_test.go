package stages_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/topics"
)

// following makes a second pipeline on the same broker that uses the sets and models of f.
func (f *flow) following(name string) *flow {
	f.t.Helper()
	live := *f
	live.settings.Pipeline.Name, live.settings.Featurize.SetsFrom = name, f.settings.Pipeline.Name
	live.settings.Featurize.Predictions = true
	own := topics.Default().Unnamed()
	own.Partitions = f.settings.Topics.Partitions
	own.Explorations, own.FeatureSets, own.Models = f.settings.Topics.Explorations, f.settings.Topics.FeatureSets, f.settings.Topics.Models
	live.settings.Topics = own.Reading(name, f.settings.Pipeline.Name)
	done, err := topics.Create(f.ctx, f.client, live.settings.Topics)
	if err != nil || len(done) != 3 {
		f.t.Fatalf("topics of %s: %v, %v", name, done, err)
	}
	return &live
}

// sendUnlabelled sends rows first up to, not including, next in messages of 20, without the label column or with nulls in it.
func (f *flow) sendUnlabelled(partition int, first, next int64, withColumn bool) {
	f.t.Helper()
	for ; first < next; first += 20 {
		batch := rows(first, first+20, func(_ int64, r *row) { r.y = nil })
		message := pipeline.Record{Value: encode(f.t, batch)}
		if !withColumn {
			message.Value = withoutColumn(f.t, batch, 5, nil)
		}
		batch.Release()
		f.produce(f.settings.Topics.Events, partition, message)
	}
}

// controlEnds are the ends of the topics that a following pipeline reads.
func (f *flow) controlEnds() (ends [3]int64) {
	f.t.Helper()
	t := f.settings.Topics
	for i, topic := range []string{t.Explorations, t.FeatureSets, t.Models} {
		var err error
		if _, ends[i], err = f.client.Offsets(f.ctx, topic, 0); err != nil {
			f.t.Fatal(err)
		}
	}
	return ends
}

// checkFollowed checks features and predictions of every message against the sets and models that they name.
func (f *flow) checkFollowed(partition int) {
	f.t.Helper()
	models, sets := f.models(), f.follower.Snapshot().Sets
	for _, m := range f.features(partition) {
		rec := stagestest.Decode(f.t, m.record.Value)[0]
		info, err := wire.ParseFeaturesInfo(rec.Schema())
		if err != nil {
			f.t.Fatal(err)
		}
		set := stagestest.Must(f.follower.LoadSet(f.ctx, sets[m.FeatureSetID]))
		numbers, z, err := wire.DecodeFeatures(rec, set.Set.Features.Len())
		if err != nil {
			f.t.Fatal(err)
		}
		source := f.all(f.settings.Topics.Events, partition)[m.SourceOffset]
		events := stagestest.Decode(f.t, source.Value)[0]
		for i, row := range numbers {
			stagestest.CheckFeatures(f.t, set, events, int(row), z[i*set.Set.Features.Len():(i+1)*set.Set.Features.Len()])
		}
		predictions := rec.Column(rec.Schema().FieldIndices(wire.ColumnPrediction)[0]).(*array.Float32)
		if info.Model == "" {
			if predictions.NullN() != len(numbers) {
				f.t.Errorf("offset %d: predictions without a model", m.record.Offset)
			}
			continue
		}
		entry := stagestest.Must(models.Find(info.Model))
		model := stagestest.Must(f.follower.LoadModel(f.ctx, entry))
		want := make([]float32, len(numbers))
		model.Model.Predict(want, z, len(want))
		for i := range want {
			if predictions.Value(i) != want[i] {
				f.t.Errorf("offset %d row %d: %v is predicted, the model says %v", m.record.Offset, i, predictions.Value(i), want[i])
			}
		}
	}
}

// Events without a label are featurized and predicted with what another pipeline learned from labelled ones, even after both
// have changed set and model, each row once however often the process dies.
func TestFlowFeaturizesWithTheSetsOfAnotherPipeline(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 2, func(s *stages.Settings) { s.Exploration.SampleRows = 200 })
	live := f.following("live")
	live.settings.Featurize.MaxOutputBytes = 12 * (4*8 + 64) // several outputs of a message

	live.sendUnlabelled(0, 0, 200, false)
	live.sendUnlabelled(1, 10_000, 10_200, true)
	w := live.start([]string{meter.StageFeaturize}, func(w *worker) { w.log.killAt, w.log.killAfter = 4, true })
	if _, next, err := f.client.Offsets(f.ctx, live.settings.Topics.Features, 0); err != nil || next != 0 {
		t.Fatalf("features before there is a set: up to %d, %v", next, err)
	}
	for p := range 2 {
		f.sendRows(p, int64(p)*10_000, int64(p)*10_000+400)
	}
	learner := f.start(meter.Stages(), nil)
	first := f.set(1)
	f.until("a model", func() bool { return f.currentModel() != nil })
	w.fails() // it dies in the middle of its output
	w.end()

	w = live.start([]string{meter.StageFeaturize}, nil)
	live.featurizedUpTo(0, 10)
	live.featurizedUpTo(1, 10)
	learner.stop()

	before := f.controlEnds()
	next := int64(200)
	f.until("predictions of rows that have no label", func() bool {
		live.sendUnlabelled(0, next, next+20, false)
		next += 20
		live.featurizedUpTo(0, next/20)
		all := live.features(0)
		last := stagestest.Decode(t, all[len(all)-1].record.Value)[0]
		info, err := wire.ParseFeaturesInfo(last.Schema())
		if last.Schema().HasField("y") {
			t.Error("a label that the events do not have is in the output")
		}
		return err == nil && info.Model == f.currentModel().ID
	})
	if after := f.controlEnds(); after != before {
		t.Errorf("the pipeline that follows wrote to topics of the other: ends %v, were %v", after, before)
	}

	f.settings.Exploration.Seed = 5
	f.start(meter.Stages(), nil)
	second := f.set(2)
	live.until("the second set", func() bool {
		live.sendUnlabelled(0, next, next+20, false)
		next += 20
		live.featurizedUpTo(0, next/20)
		all := live.features(0)
		return all[len(all)-1].FeatureSetID == second.ID
	})
	w.stop()
	sets := live.checkOnce(0, 20, next/20)
	if len(sets) != 2 || sets[0] != first.ID || sets[1] != second.ID {
		t.Errorf("featurized with sets %v, want %s and %s", sets, first.ID, second.ID)
	}
	live.checkOnce(1, 20, 10)
	live.checkFollowed(0)
	live.checkFollowed(1)
	if letters := append(live.deadLetters(0, ""), live.deadLetters(1, "")...); len(letters) > 0 {
		t.Errorf("%d dead letters, the first %s", len(letters), letters[0].Reason)
	}
}

// A column that only the joined rows have must be excluded from the features, because events lack it.
func TestFlowSaysWhichColumnTheEventsLack(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) { s.Exploration.SampleRows = 200 })
	live := f.following("live")
	f.sendRows(0, 0, 400)
	f.start(exploring, nil)
	f.set(1)
	batch := rows(0, 20, nil)
	defer batch.Release()
	live.produce(live.settings.Topics.Events, 0, pipeline.Record{Value: withoutColumn(t, batch, 1, nil)})
	live.start([]string{meter.StageFeaturize}, nil)
	live.until("a dead letter", func() bool { return len(live.deadLetters(0, meter.StageFeaturize)) == 1 })
	if l := live.deadLetters(0, "")[0]; !strings.Contains(l.Detail, `"x0"`) {
		t.Errorf("dead letter %+v", l.DeadLetter)
	}
}

func TestAPipelineThatFollowsOnlyFeaturizes(t *testing.T) {
	s := testSettings(1)
	s.Pipeline.Name, s.Featurize.SetsFrom = "live", "flow"
	s.Topics = topics.Default().Unnamed().Reading("live", "flow")
	if got := s.Runs(); len(got) != 1 || got[0] != meter.StageFeaturize {
		t.Errorf("runs %v", got)
	}
	if err := s.CheckStages([]string{meter.StageFeaturize}); err != nil {
		t.Error(err)
	}
	for _, stage := range []string{meter.StageCalibrate, meter.StageSubsample, meter.StageSelect, meter.StageTrain} {
		err := s.CheckStages([]string{meter.StageFeaturize, stage})
		for _, text := range []string{"pipeline live", "pipeline flow", "featurize.sets_from", "stage " + stage} {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v does not say %q", stage, err, text)
			}
		}
	}
	if group := s.Group(meter.StageFeaturize); group != "eerf-live-featurize" {
		t.Errorf("group %s: offsets would be mixed with those of the other pipeline", group)
	}
	client := state.Still(s.State(), state.Snapshot{})
	for what, err := range map[string]error{
		"request": client.SendRequest(t.Context(), wire.Request{Action: wire.ActionStart, ID: "r"}),
		"pointer": client.PointSet(t.Context(), &wire.Current{ID: "fs-0123456789abcdef0123456789abcdef", Sequence: 1}, time.Unix(1, 0)),
	} {
		if !errors.Is(err, state.ErrReadOnly) || !pipeline.IsPermanent(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// models is the current state of the models topic.
func (f *flow) models() state.Models {
	f.t.Helper()
	now, err := f.follower.CatchUpModels(f.ctx)
	if err != nil {
		f.t.Fatal(err)
	}
	return now.Models
}
