package stages_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/formats"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/registry"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

// untidyRow is a row of real-world JSON: values of several kinds in a column, some missing, some
// columns rare.
func untidyRow(n int) string {
	a, at := fmt.Sprintf("%.3f", float64(n%101)/7+0.001), time.Date(2026, 1, 1, n, 0, 0, 0, time.UTC).Format(time.RFC3339)
	fields := []string{fmt.Sprintf(`"y":%.4f`, math.Cos(float64(n%101)/7))}
	switch n % 11 {
	case 0:
		fields = append(fields, `"a":"n/a"`)
	case 1:
		fields = append(fields, `"a":null`)
	case 2: // none
	default:
		fields = append(fields, `"a":`+a)
	}
	switch n % 3 {
	case 0:
		fields = append(fields, fmt.Sprintf(`"at":%d`, 1767225600+n))
	default:
		fields = append(fields, `"at":"`+at+`"`)
	}
	fields = append(fields, fmt.Sprintf(`"code":%s`, []string{`"x"`, `7`, `true`, `"y"`, `"x"`}[n%5]))
	if n%7 == 0 {
		fields = append(fields, `"v":[1,2]`)
	} else {
		fields = append(fields, fmt.Sprintf(`"v":[%d,0.5,%d]`, n%13, n%5))
	}
	if n%500 == 3 {
		fields = append(fields, fmt.Sprintf(`"rare%d":1`, n))
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// TestFlowTheCutIntoMessagesChangesNothing: the same rows of JSON in messages of different lengths
// give the same feature set and the same features.
func TestFlowTheCutIntoMessagesChangesNothing(t *testing.T) {
	t.Parallel()
	const count = 1200
	type result struct {
		id       string
		features []float32
		imputed  int64
	}
	var want result
	for _, cut := range [][]int{{1}, {count}, {7, 1, 64}, {3}} {
		f := newFlow(t, 1, func(s *stages.Settings) {
			s.Events.Passthrough = nil
			s.Exploration.Criterion = scoring.Correlation
			everyRow(s)
		})
		var values []pipeline.Record
		for n, i := 0, 0; n < count; i++ {
			var rows []string
			for range cut[i%len(cut)] {
				if n < count {
					rows = append(rows, untidyRow(n))
					n++
				}
			}
			values = append(values, pipeline.Record{Value: []byte("[" + strings.Join(rows, ", ") + "]")})
		}
		for part := range slices.Chunk(values, 500) {
			f.produce(f.settings.Topics.Events, 0, part...)
		}
		w := f.start(allButTrain, nil)
		got := result{id: f.set(1).ID}
		f.until("all rows are featurized", func() bool { return w.Env.Meter.Totals().Featurize.Rows == count })
		f.featurizedUpTo(0, int64(len(values)))
		w.stop()
		got.imputed = w.Env.Meter.Totals().Featurize.Imputed
		for _, part := range f.features(0) {
			got.features = append(got.features, part.Features...)
		}
		if want.id == "" {
			want = got
		}
		if got.id != want.id || got.imputed != want.imputed || !slices.Equal(got.features, want.features) {
			t.Errorf("cut %v: set %s, %d imputed, and one by one %s, %d", cut, got.id, got.imputed, want.id, want.imputed)
		}
	}
}

// TestFlowOneMessageOfManyColumns: one message with many columns does not affect other messages.
func TestFlowOneMessageOfManyColumns(t *testing.T) {
	t.Parallel()
	f := newFlow(t, 1, func(s *stages.Settings) {
		s.Events.Passthrough = nil
		s.Exploration.Criterion = scoring.Correlation
	})
	var many strings.Builder
	many.WriteString(`{"a":1.5,"b":2.5,"y":2.5`)
	for i := range 2040 {
		fmt.Fprintf(&many, `,"z%d":%d.5`, i, i)
	}
	values := []pipeline.Record{{Value: []byte(many.String() + "}")}}
	for n := range 3000 {
		a, b := float64(n%101)/7+0.001, float64(n%89)/5+0.001
		values = append(
			values,
			pipeline.Record{Value: []byte(fmt.Sprintf(`{"a":%.3f,"b":%.3f,"y":%.4f}`, a, b, math.Cos(a)+b/10))},
		)
	}
	for part := range slices.Chunk(values, 500) {
		f.produce(f.settings.Topics.Events, 0, part...)
	}
	f.start([]meter.Stage{meter.StageCalibrate}, nil)
	spec := f.state("a plan", func(s state.Snapshot) bool { return s.Spec != nil }).Spec
	var names []string
	for _, c := range spec.Encoder.Columns {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, []string{"a", "b"}) || spec.LabelledRows() != 3001 {
		t.Errorf("%d columns, the first %q; %d labelled rows", len(names), names[:min(3, len(names))], spec.LabelledRows())
	}
	for _, c := range spec.Encoder.Columns {
		if c.Kind != encoder.Numeric {
			t.Errorf("column %s is %s", c.Name, c.Kind)
		}
	}
}

// fickle is a registry whose answer for one id changes.
type fickle struct {
	*shelf
	mood atomic.Int32
}

const (
	asBefore = iota
	refuses
	replaced
)

func (l *fickle) Fetch(ctx context.Context, id registry.ID) (registry.Schema, error) {
	found, err := l.shelf.Fetch(ctx, id)
	switch mood := l.mood.Load(); {
	case id.Number != 2 || mood == asBefore:
	case mood == refuses:
		return registry.Schema{}, registry.ErrNoSchema
	default:
		found.Text += " "
	}
	return found, err
}

// TestFlowTheRegistryDoesNotDecide: an exploration reads with the schemas of its plan. If the
// registry refuses a schema that it had, the exploration waits; any other difference abandons it
// with that reason.
func TestFlowTheRegistryDoesNotDecide(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		planned, then int32
		abandoned     bool
	}{
		"refused later": {asBefore, refuses, false},
		"replaced":      {asBefore, replaced, true},
		"served later":  {refuses, asBefore, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFlow(t, 1, func(s *stages.Settings) {
				s.Exploration.Criterion = scoring.Correlation
				everyRow(s)
			})
			s := &fickle{shelf: &shelf{}}
			for first := range int64(2) {
				batch := rows(first*800, first*800+800, nil)
				f.sendAs(formats.Avro, batch, 1, s.put)
				batch.Release()
			}
			s.mood.Store(c.planned)
			withRegistry := func(w *worker) { w.Env.Registry = events.NewSchemas(s, zap.NewNop()) }
			planner := f.start([]meter.Stage{meter.StageCalibrate}, withRegistry)
			spec := f.state("a plan", func(s state.Snapshot) bool { return s.Spec != nil }).Spec
			planner.stop()
			if len(spec.Schemas) != 2 || (spec.Schemas[1].Hash == "") != (c.planned == refuses) {
				t.Fatalf("the plan saw %+v", spec.Schemas)
			}
			s.mood.Store(c.then)
			w := f.start([]meter.Stage{meter.StageSubsample, meter.StageSelection}, withRegistry)
			if c.abandoned {
				reason := f.state(
					"abandoned",
					func(s state.Snapshot) bool { return s.Spec.Status == wire.StatusAbandoned },
				).Spec.Reason
				if !strings.Contains(reason, "registry") {
					t.Errorf("reason %q", reason)
				}
				return
			}
			f.until("the registry counts as away", func() bool { return w.Env.Registry.Away() != nil })
			if n := len(f.deadLetters(0, "")); n > 0 {
				t.Errorf("%d dead letters of a stream whose schema was refused", n)
			}
			s.mood.Store(asBefore)
			if set := f.set(1); set.Set.Lineage.Counts.Scored != 1600 || set.Set.Lineage.Counts.Undecodable != 0 {
				t.Errorf("%+v", set.Set.Lineage.Counts)
			}
		})
	}
}

// TestFlowDeadLettersAreSentOnce: the next exploration of the same messages counts their dead
// letters without reporting them a second time.
func TestFlowDeadLettersAreSentOnce(t *testing.T) {
	t.Parallel()
	bound := 50.0
	f := newFlow(t, 1, func(s *stages.Settings) {
		everyRow(s)
		s.Exploration.Criterion = scoring.Correlation
		s.Events.LabelMax = &bound
	})
	f.sendRows(0, 0, 400)
	var bad []pipeline.Record
	for range 10 {
		bad = append(bad, pipeline.Record{Value: []byte(`{"no end`)})
	}
	f.produce(f.settings.Topics.Events, 0, bad...)
	odd := rows(1000, 1040, func(n int64, r *row) {
		if n%20 == 3 {
			r.y = 51.0
		}
	})
	defer odd.Release()
	f.send(0, odd, 20)
	w := f.start(exploring, nil)
	first := f.set(1)
	// The planner follows the topics independently, and treats only records that it has seen as
	// reported.
	if _, err := w.Env.State.Wait(f.ctx, func(s state.Snapshot) bool {
		return s.CurrentSet() != nil && s.CurrentSet().ID == first.ID
	}); err != nil {
		t.Fatal(err)
	}
	f.sendRows(0, 400, 500)
	fresh := f.produce(f.settings.Topics.Events, 0, pipeline.Record{Value: []byte(`{"neither`)})
	f.request(wire.ActionStart, "again")
	second := f.set(2)
	if c, again := first.Set.Lineage.Counts, second.Set.Lineage.Counts; c.Undecodable != 10 || c.Rejected != 2 ||
		again.Undecodable != 11 ||
		again.Rejected != 2 {
		t.Errorf("counts %+v, then %+v", c, again)
	}
	letters := f.deadLetters(0, meter.StageSubsample)
	if len(letters) != 13 || letters[12].Offset != fresh {
		t.Errorf("%d letters of thirteen messages", len(letters))
	}
}
