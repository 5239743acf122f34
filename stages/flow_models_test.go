package stages_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
)

// models reads the models topic as a command does.
func (f *flow) models() *stages.Models {
	f.t.Helper()
	m := stages.NewModels(stages.NewRuntime(f.client, f.settings, zap.NewNop()))
	if err := m.Refresh(f.ctx); err != nil {
		f.t.Fatal(err)
	}
	return m
}

func (f *flow) inUse() wire.Current {
	f.t.Helper()
	if current := f.models().Current(); current != nil {
		return *current
	}
	return wire.Current{}
}

func (f *flow) rollback(to string, pin wire.Pin) {
	f.t.Helper()
	if _, err := f.models().Rollback(f.ctx, stages.Rollback{To: to, Pin: pin}); err != nil {
		f.t.Fatal(err)
	}
}

// more sends rows to partition 0 and waits for their features.
func (f *flow) more(first, next int64) {
	f.t.Helper()
	f.sendRows(0, first, next)
	f.featurizedUpTo(0, next/20)
}

// withModels is a flow of one partition with features of 400 rows.
func withModels(t *testing.T, edit func(*stages.Settings)) *flow {
	t.Helper()
	f := newFlow(t, 1, func(s *stages.Settings) {
		s.Exploration.SampleRows = 100
		if edit != nil {
			edit(s)
		}
	})
	f.sendRows(0, 0, 400)
	f.start(allButTrain, nil)
	f.featurizedUpTo(0, 20)
	return f
}

// Who does not beat the model in use is kept with the errors of both, and is not put in use.
func TestFlowAChallengerThatLosesIsKept(t *testing.T) {
	t.Parallel()
	f := withModels(t, func(s *stages.Settings) { s.Train.Promote.Margin = 0.99 })
	runner, counters := f.trainer()
	first := f.challenge(runner)
	if !first.Current || first.Judgement.Verdict != wire.VerdictFirst || f.inUse().ID != first.ID {
		t.Fatalf("%+v, in use %+v", first.Judgement, f.inUse())
	}
	f.more(400, 600)
	lost := f.challenge(runner)
	if j := lost.Judgement; lost.Current || j.Verdict != wire.VerdictWorse || j.Incumbent != first.ID || !j.Compared() || j.Rows == 0 || j.Margin != 0.99 {
		t.Errorf("%+v", j)
	}
	if f.inUse().ID != first.ID || f.currentModel().ID != first.ID {
		t.Errorf("in use %+v", f.inUse())
	}
	entry, err := f.models().Find(lost.ID)
	if err != nil || entry.Promoted() || *entry.Model.Judgement.ChallengerError != *lost.Judgement.ChallengerError {
		t.Errorf("the record of the challenger: %+v, %v", entry, err)
	}
	challenges := counters.Activity().Challenges
	if challenges.Verdicts[wire.VerdictFirst] != 1 || challenges.Verdicts[wire.VerdictWorse] != 1 || counters.Activity().Model.ID != first.ID {
		t.Errorf("%+v", challenges)
	}

	// The same rows again: nothing new. Another trainer finds the same: its challenger loses as before, and is not written twice.
	if _, err := runner.Fit(f.ctx); !errors.Is(err, stages.ErrNoNewRows) {
		t.Errorf("%v", err)
	}
	records := len(f.all(f.settings.Topics.Models, 0))
	again, _ := f.trainer()
	if b := f.challenge(again); b.ID != lost.ID || b.Current || len(f.all(f.settings.Topics.Models, 0)) != records {
		t.Errorf("again %s, %d records more", b.ID, len(f.all(f.settings.Topics.Models, 0))-records)
	}

	// With an easier rule the same challenger takes its place.
	f.settings.Train.Promote = stages.PromoteConfig{Rule: stages.PromoteAlways}
	easy, _ := f.trainer()
	if won := f.challenge(easy); won.ID != lost.ID || !won.Current || f.inUse().ID != lost.ID || f.inUse().Replaced != first.ID {
		t.Errorf("%+v, in use %+v", won.Judgement, f.inUse())
	}
	same, _ := f.trainer()
	if unchanged := f.challenge(same); !unchanged.Unchanged || unchanged.ID != lost.ID || unchanged.Judgement.Verdict != wire.VerdictAlways {
		t.Errorf("%+v", unchanged)
	}
}

// A process that dies between the record of a model and the pointer to it has changed nothing.
func TestFlowACrashBeforeThePointerChangesNothing(t *testing.T) {
	t.Parallel()
	f := withModels(t, nil)
	runner, _ := f.trainer()
	first := f.fit(runner)
	f.settings.Train.Promote.Rule = stages.PromoteAlways
	f.more(400, 600)
	for _, after := range []bool{false, true} { // the pointer is not there, or is there and nobody knows
		log := &faultyLog{Broker: f.client, killAt: 2, killAfter: after}
		r := stages.NewRuntime(log, f.settings, testLogger(t))
		r.Watch = f.watch
		if _, err := stages.NewTrainRunner(r).Fit(f.ctx); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		if moved := f.inUse().ID != first.ID; moved != after {
			t.Errorf("killed after the pointer: %v, and in use is %s", after, f.inUse().ID)
		}
	}
	second, _ := f.trainer()
	if m := f.challenge(second); !m.Current || !m.Unchanged || f.inUse().ID != m.ID {
		t.Errorf("%+v, in use %+v", m, f.inUse())
	}
}

// A rollback holds against what is trained meanwhile, until it is taken off or beaten.
func TestFlowARollbackHolds(t *testing.T) {
	t.Parallel()
	f := withModels(t, func(s *stages.Settings) { s.Train.Promote.Rule = stages.PromoteAlways })
	runner, counters := f.trainer()
	first := f.fit(runner)
	f.more(400, 500)
	second := f.fit(runner)
	f.rollback("", wire.PinHold)
	if f.inUse().ID != first.ID {
		t.Fatalf("in use %+v", f.inUse())
	}
	f.more(500, 600)
	third := f.challenge(runner)
	if j := third.Judgement; third.Current || j.Verdict != wire.VerdictPinned || !j.Compared() || j.Incumbent != first.ID || f.inUse().ID != first.ID {
		t.Errorf("%+v, in use %+v", j, f.inUse())
	}
	if c := counters.Activity(); c.Challenges.Pin != wire.PinHold || c.Model.ID != first.ID {
		t.Errorf("%+v", c.Challenges)
	}
	if _, _, err := f.models().Unpin(f.ctx, ""); err != nil {
		t.Fatal(err)
	}
	f.more(600, 700)
	if fourth := f.challenge(runner); !fourth.Current || fourth.Judgement.Incumbent != first.ID || counters.Activity().Challenges.Pin != "" {
		t.Errorf("%+v", fourth.Judgement)
	}

	// Pinned until beaten, the rule of the day does not matter: it takes a lower error.
	f.rollback(second.ID, wire.PinBeaten)
	f.more(700, 900)
	fifth := f.challenge(runner)
	j := fifth.Judgement
	if beaten := *j.ChallengerError < *j.IncumbentError; fifth.Current != beaten || (j.Verdict == wire.VerdictBetter) != beaten || (f.inUse().ID == second.ID) == beaten {
		t.Errorf("%+v, in use %+v", j, f.inUse())
	}
}

// A rollback that is written while a trainer is about to publish is put back.
func TestFlowARollbackInTheLastMoment(t *testing.T) {
	t.Parallel()
	f := withModels(t, func(s *stages.Settings) { s.Train.Promote.Rule = stages.PromoteAlways })
	runner, _ := f.trainer()
	first := f.fit(runner)
	f.more(400, 500)
	second := f.fit(runner)
	f.more(500, 600)
	log := &faultyLog{Broker: f.client}
	written := 0
	log.produce = func(_ context.Context, topic string, _ int, _ []pipeline.Record) error {
		if written++; topic == f.settings.Topics.Models && written == 2 { // the pointer
			f.rollback(first.ID, wire.PinHold)
		}
		return nil
	}
	r := stages.NewRuntime(log, f.settings, testLogger(t))
	r.Watch = f.watch
	late := stages.NewTrainRunner(r)
	third := f.challenge(late)
	if now := f.inUse(); third.Current || third.Judgement.Incumbent != second.ID || now.ID != first.ID || now.Pin != wire.PinHold {
		t.Errorf("%+v, in use %+v", third, now)
	}
	if again := f.challenge(late); again.Judgement.Verdict != wire.VerdictPinned || again.ID != third.ID { // the same rows are judged again
		t.Errorf("%+v", again.Judgement)
	}
}

// predicted is what a message of features says about predictions.
type predicted struct {
	featurized
	model, missing string
	values         []float32
	nulls          int
}

// predictions reads the features of partition 0 with their predictions, and holds those against the models.
func (f *flow) predictions() (found []predicted) {
	f.t.Helper()
	models := f.models()
	for _, m := range f.features(0) {
		batches, err := arrowio.NewDecoder(arrowio.DefaultLimits()).Decode(m.record.Value)
		if err != nil {
			f.t.Fatal(err)
		}
		rec := batches[0]
		info, err := wire.ParseFeaturesInfo(rec.Schema())
		if err != nil {
			f.t.Fatal(err)
		}
		column := rec.Column(rec.Schema().FieldIndices(wire.ColumnPrediction)[0]).(*array.Float32)
		p := predicted{featurized: m, model: info.Model, missing: info.NoPrediction, values: slices.Clone(column.Float32Values()), nulls: column.NullN()}
		header := ""
		for _, h := range m.record.Headers {
			if h.Key == wire.HeaderModel {
				header = string(h.Value)
			}
		}
		if header != p.model || (p.nulls == 0) != (p.model != "") || (p.missing == "") != (p.model != "") {
			f.t.Errorf("offset %d: header %q, %+v", m.record.Offset, header, info)
		}
		if p.model != "" {
			entry, err := models.Find(p.model)
			if err != nil {
				f.t.Fatal(err)
			}
			model, err := models.Load(f.ctx, entry)
			if err != nil || model.FeatureSetID != m.FeatureSetID {
				f.t.Fatalf("predicted by %s of %s on %s, %v", p.model, model.FeatureSetID, m.FeatureSetID, err)
			}
			_, z, _ := wire.DecodeFeatures(rec, model.Model.Features)
			want := make([]float32, len(p.values))
			model.Model.Predict(want, z, len(want))
			if !slices.Equal(p.values, want) {
				f.t.Errorf("offset %d: predictions %v, the model says %v", m.record.Offset, p.values, want)
			}
		}
		rec.Release()
		found = append(found, p)
	}
	return found
}

// The featurizer predicts with the model in use, changes it when the pointer moves, and says what made each message.
func TestFlowPredictions(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) {
		s.Exploration.SampleRows, s.Featurize.Predictions, s.Train.Promote.Rule = 100, true, stages.PromoteAlways
	})
	f.sendRows(0, 0, 400)
	w := f.start(allButTrain, nil)
	f.featurizedUpTo(0, 20)
	next := int64(400)
	// rows come until the newest message is as it should be
	until := func(what string, ok func(predicted) bool) predicted {
		t.Helper()
		var last predicted
		f.until(what, func() bool {
			f.sendRows(0, next, next+20)
			next += 20
			f.featurizedUpTo(0, next/20)
			all := f.predictions()
			last = all[len(all)-1]
			return ok(last)
		})
		return last
	}
	if p := f.predictions(); p[0].missing != "no_model" || p[0].nulls != 20 {
		t.Errorf("before there is a model: %+v", p[0])
	}
	runner, _ := f.trainer()
	first := f.fit(runner)
	until("predictions by the first model", func(p predicted) bool { return p.model == first.ID })
	second := f.fit(runner)
	until("predictions by the second model", func(p predicted) bool { return p.model == second.ID })
	f.rollback(first.ID, wire.PinHold)
	until("predictions by the first one again", func(p predicted) bool { return p.model == first.ID })

	// Of a new feature set there is no model at first; a restart in between finds the state by itself.
	w.stop()
	f.settings.Exploration.Seed = 7
	w = f.start(allButTrain, nil)
	set := f.set(2)
	until("rows of the new set", func(p predicted) bool { return p.FeatureSetID == set.ID && p.missing == "other_feature_set" })
	if _, _, err := f.models().Unpin(f.ctx, ""); err != nil {
		t.Fatal(err)
	}
	for range 4 { // enough rows of the new set
		f.more(next, next+20)
		next += 20
	}
	third := f.challenge(runner)
	if third.Judgement.IncumbentSet != first.FeatureSetID || !third.Judgement.Compared() {
		t.Errorf("%+v", third.Judgement)
	}
	until("predictions by a model of the new set", func(p predicted) bool { return p.model == third.ID })

	var counts stages.FeaturizeCounts
	for _, p := range f.predictions() {
		n := int64(len(p.values))
		switch p.missing {
		case "":
			counts.Predicted += n
		case "no_model":
			counts.NoModel += n
		default:
			counts.OtherSetModel += n
		}
	}
	f.until("the newest rows are counted", func() bool { return w.Counters.Totals().Featurize.Predicted > 0 })
	if c := w.Counters.Totals().Featurize; c.OtherSetModel != counts.OtherSetModel || c.NoModel != 0 || counts.NoModel < 400 ||
		c.Predicted+c.OtherSetModel != c.Featurized {
		t.Errorf("counts %+v, on the topic %+v", c, counts)
	}
}

// Of the models that were not put in use the newest are kept too, and the one in use always is, however old.
func TestFlowTheModelInUseIsNeverRetired(t *testing.T) {
	t.Parallel()
	f := withModels(t, func(s *stages.Settings) {
		s.Train.Promote.Margin, s.Topics.KeepModels = 0.99, 2
	})
	f.settings.Topics.FeaturesRetention = 1 // of the models; the topic keeps its features
	runner, _ := f.trainer()
	first := f.fit(runner)
	var lost []string
	for i := range int64(4) {
		f.more(400+i*100, 500+i*100)
		lost = append(lost, f.fit(runner).ID)
	}
	var left []string
	for _, entry := range f.models().Entries() {
		left = append(left, entry.ID)
	}
	if want := []string{lost[3], lost[2], first.ID}; !slices.Equal(left, want) || f.inUse().ID != first.ID {
		t.Errorf("left %v, want %v", left, want)
	}
	if _, err := f.models().Find(lost[0]); !errors.Is(err, stages.ErrNoModel) {
		t.Error(err)
	}
}
