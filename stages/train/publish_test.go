package train

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/training"
)

func (k *flow) rollback(to string, pin wire.Pin) {
	k.t.Helper()
	k.models()
	if _, err := k.follower.Rollback(k.t.Context(), state.Rollback{To: to, Pin: pin, Time: stagestest.Noon}); err != nil {
		k.t.Fatal(err)
	}
}

// A challenger that does not beat the current model is kept with the errors of both, but does not
// become current.
func TestLosingChallengerIsKept(t *testing.T) {
	k := newFlow(t, 1)
	k.config.Promote.Margin = 0.99
	k.sendRows(0, 0, 400)
	r := k.runner(k.Broker)
	counters := k.meter
	first := k.fit(r)
	if !first.Current || first.Judgement.Verdict != wire.VerdictFirst || k.inUse().ID != first.ID {
		t.Fatalf("%+v, in use %+v", first.Judgement, k.inUse())
	}
	k.sendRows(0, 400, 600)
	lost := k.fit(r)
	if j := lost.Judgement; lost.Current || j.Verdict != wire.VerdictNotBetter || j.Incumbent != first.ID ||
		!j.Compared() ||
		j.Rows == 0 ||
		j.Margin != 0.99 {
		t.Errorf("%+v", j)
	}
	if k.inUse().ID != first.ID {
		t.Errorf("in use %+v", k.inUse())
	}
	entry, err := k.models().Find(lost.ID)
	if err != nil || entry.Promoted() || *entry.Model.Judgement.ChallengerError != *lost.Judgement.ChallengerError {
		t.Errorf("the record of the challenger: %+v, %v", entry, err)
	}
	challenges := counters.Activity().Challenges
	if challenges.Verdicts[wire.VerdictFirst] != 1 || challenges.Verdicts[wire.VerdictNotBetter] != 1 ||
		counters.Activity().Model.ID != first.ID {
		t.Errorf("%+v", challenges)
	}

	// The same rows give no new model. Another trainer finds the same: its challenger loses as
	// before and is not rewritten.
	if _, err := r.Fit(t.Context()); !errors.Is(err, ErrNoNewRows) {
		t.Errorf("%v", err)
	}
	records := len(k.Records(k.topics.Models, 0))
	if again := k.fit(k.runner(k.Broker)); again.ID != lost.ID || again.Current ||
		len(k.Records(k.topics.Models, 0)) != records {
		t.Errorf("again %s, %d records more", again.ID, len(k.Records(k.topics.Models, 0))-records)
	}

	// With an easier rule the same challenger replaces it.
	k.config.Promote = Promote{Rule: PromoteAlways}
	if won := k.fit(k.runner(k.Broker)); won.ID != lost.ID || !won.Current || k.inUse().ID != lost.ID ||
		k.inUse().Replaced != first.ID {
		t.Errorf("%+v, in use %+v", won.Judgement, k.inUse())
	}
	if same := k.fit(k.runner(k.Broker)); !same.Unchanged || same.ID != lost.ID ||
		same.Judgement.Verdict != wire.VerdictAlways {
		t.Errorf("%+v", same)
	}
}

// One enormous label among the held-out rows hides all other losses. The challenger then only
// replaces the current model if their errors differ by more than rounding.
func TestOneEnormousLabelReplacesNoModel(t *testing.T) {
	for _, margin := range []Margin{MarginAuto, 0} {
		k := newFlow(t, 1)
		k.config.Promote.Margin = margin
		k.sendRows(0, 0, 1000)
		r := k.runner(k.Broker)
		first := k.fit(r)
		// The label is held out, and the other new rows have labels that teach nonsense.
		bad := k.rows(1000, 1400)
		defer bad.Release()
		var enormous arrow.Record
		for large, held := 1e30, false; !held; large *= 1.01 {
			enormous = relabelled(t, flipped(t, bad), func(row int, y float64) float64 {
				if row == 0 {
					return large
				}
				return y
			})
			id := rowid.NewHasher(k.set.Lineage.Identity).Identities(enormous, []int32{0}, nil)[0]
			held = training.HeldOut(k.config.HeldOutSeed, id, k.config.HeldOutFraction)
		}
		k.produce(k.topics.Features, 0, featuresOf(t, k.set, 0, 5000, []arrow.Record{enormous}, whole)...)
		ruined := k.fit(r)
		j := ruined.Judgement
		if !j.Compared() || math.Abs(*j.IncumbentError-*j.ChallengerError) > 1e-6 {
			t.Fatalf("margin %v: the enormous label does not judge: %+v", margin, j)
		}
		if ruined.Current || j.Verdict != wire.VerdictNotBetter || k.inUse().ID != first.ID {
			t.Errorf("margin %v: %+v, current %s", margin, j, k.inUse().ID)
		}
	}
}

// A model whose held-out rows taught the features promises no error. The first better model that
// does replaces it.
func TestModelWithoutAnErrorIsReplacedByABetterOne(t *testing.T) {
	k := newFlow(t, 1)
	k.config.Promote.Margin = 0.99
	k.set.Lineage.SampleRate = 1
	if _, err := k.follower.PublishSet(t.Context(), k.set, stagestest.Noon); err != nil {
		t.Fatal(err)
	}
	rows := k.rows(0, 400)
	defer rows.Release()
	k.produce(k.topics.Features, 0,
		featuresOf(t, k.set, 0, 0, []arrow.Record{rows}, whole)...) // the event of the set's range
	r := k.runner(k.Broker)
	if first := k.fit(r); first.Metrics.Seen == nil || first.Metrics.MeasuredRows != 0 ||
		first.Metrics.UnexplainedVariance != nil {
		t.Fatalf("%+v", first.Metrics)
	}
	k.sendFeatures(0, 400, 2400, 100)
	second := k.fit(r)
	j := second.Judgement
	if second.Metrics.MeasuredRows == 0 || j.Margin != 0 || !j.Compared() ||
		second.Current != (*j.ChallengerError < *j.IncumbentError) {
		t.Errorf("%+v, %+v", second.Metrics.Measures, j)
	}
}

// A rollback persists regardless of later models, until it is unpinned or beaten.
func TestRollbackHolds(t *testing.T) {
	k := newFlow(t, 1)
	k.config.Promote.Rule = PromoteAlways
	k.sendRows(0, 0, 400)
	r := k.runner(k.Broker)
	first := k.fit(r)
	k.sendRows(0, 400, 500)
	second := k.fit(r)
	k.rollback("", wire.PinHold)
	if k.inUse().ID != first.ID {
		t.Fatalf("in use %+v", k.inUse())
	}
	k.sendRows(0, 500, 600)
	third := k.fit(r)
	if j := third.Judgement; third.Current || j.Verdict != wire.VerdictPinned || !j.Compared() ||
		j.Incumbent != first.ID || k.inUse().ID != first.ID {
		t.Errorf("%+v, in use %+v", j, k.inUse())
	}
	if c := k.meter.Activity(); c.Challenges.Pin != wire.PinHold || c.Model.ID != first.ID {
		t.Errorf("%+v", c.Challenges)
	}
	if _, _, err := k.follower.Unpin(t.Context(), "", stagestest.Noon); err != nil {
		t.Fatal(err)
	}
	k.sendRows(0, 600, 700)
	if fourth := k.fit(r); !fourth.Current || fourth.Judgement.Incumbent != first.ID ||
		k.meter.Activity().Challenges.Pin != "" {
		t.Errorf("%+v", fourth.Judgement)
	}

	// Pinned until beaten, the configured rule does not matter: a lower error wins.
	k.rollback(second.ID, wire.PinBeaten)
	k.sendRows(0, 700, 900)
	fifth := k.fit(r)
	j := fifth.Judgement
	if beaten := *j.ChallengerError < *j.IncumbentError; fifth.Current != beaten ||
		(j.Verdict == wire.VerdictBetter) != beaten || (k.inUse().ID == second.ID) == beaten {
		t.Errorf("%+v, in use %+v", j, k.inUse())
	}
}

// A rollback written just before a trainer publishes is restored.
func TestRollbackJustBeforePublishingIsRestored(t *testing.T) {
	k := newFlow(t, 1)
	k.config.Promote.Rule = PromoteAlways
	k.sendRows(0, 0, 400)
	r := k.runner(k.Broker)
	first := k.fit(r)
	k.sendRows(0, 400, 500)
	second := k.fit(r)
	k.sendRows(0, 500, 600)
	log := &pipelinetest.Between{Broker: k.Broker}
	byHand := k.follower
	written := 0
	log.OnProduce = func(_ context.Context, topic string, _ int, _ []pipeline.Record) error {
		written++
		if topic == k.topics.Models && written == 2 { // the pointer
			_, err := byHand.Rollback(t.Context(), state.Rollback{To: first.ID, Pin: wire.PinHold, Time: stagestest.Noon})
			return err
		}
		return nil
	}
	k.followOn(log)
	late := k.runner(log)
	third := k.fit(late)
	if now := k.inUse(); third.Current || third.Judgement.Incumbent != second.ID || now.ID != first.ID ||
		now.Pin != wire.PinHold {
		t.Errorf("%+v, in use %+v", third, now)
	}
	if again := k.fit(late); again.Judgement.Verdict != wire.VerdictPinned ||
		again.ID != third.ID { // the same rows are judged again
		t.Errorf("%+v", again.Judgement)
	}
}

// The newest models that were not promoted are kept too. The current model is always kept, however
// old.
func TestCurrentModelIsNeverRetired(t *testing.T) {
	k := newFlow(t, 1)
	k.config.Promote.Margin, k.topics.KeepModels, k.topics.FeaturesRetention = 0.99, 2, -1
	k.followOn(k.Broker)
	k.sendRows(0, 0, 400)
	r := k.runner(k.Broker)
	now := stagestest.Noon
	r.Env.Clock = func() time.Time { return now }
	first := k.fit(r)
	var lost []string
	for i := range int64(4) {
		now = now.Add(time.Second)
		k.sendRows(0, 400+i*100, 500+i*100)
		lost = append(lost, k.fit(r).ID)
	}
	var left []string
	for _, entry := range k.models().Entries() {
		left = append(left, entry.ID)
	}
	if want := []string{lost[3], lost[2], first.ID}; !slices.Equal(left, want) || k.inUse().ID != first.ID {
		t.Errorf("left %v, want %v", left, want)
	}
	if _, err := k.models().Find(lost[0]); !errors.Is(err, state.ErrNoModel) {
		t.Error(err)
	}
}

// loseSet retires the feature set of a model.
func (k *flow) loseSet(m *Fitted) {
	k.produce(k.topics.FeatureSets, 0, pipeline.Record{Key: wire.SetKey("test", m.FeatureSetID)})
	_, err := k.follower.Wait(k.t.Context(), func(s state.Snapshot) bool {
		_, there := s.Sets[m.FeatureSetID]
		return !there
	})
	if err != nil {
		k.t.Fatal(err)
	}
}

// If a comparison is impossible, the challenger still becomes current, unless the rule requires a
// comparison.
func TestIncumbentWithoutItsRecordOrSet(t *testing.T) {
	for name, c := range map[string]struct {
		rule  string
		other bool // the incumbent belongs to another set
		lose  func(k *flow, incumbent *Fitted)
		want  wire.Verdict
	}{
		"its record": {PromoteBetter, false, func(k *flow, m *Fitted) {
			k.produce(k.topics.Models, 0, pipeline.Record{Key: wire.SetKey("test", m.ID)})
		}, wire.VerdictUnopposed},
		"its set": {PromoteBetter, true, (*flow).loseSet, wire.VerdictNewSet},
	} {
		t.Run(name, func(t *testing.T) {
			k := newFlow(t, 1)
			k.config.Promote.Rule = c.rule
			k.sendRows(0, 0, 400)
			first := k.fit(k.runner(k.Broker))
			if c.other {
				k.use(2, 5)
			}
			k.sendRows(0, 400, 800)
			k.followOn(k.Broker) // a process that has not held the first model
			c.lose(k, first)
			second := k.fit(k.runner(k.Broker))
			if j := second.Judgement; j.Compared() || j.NotCompared == "" || j.Verdict != c.want || !second.Current ||
				j.Incumbent != first.ID {
				t.Errorf("%+v", j)
			}
		})
	}
}
