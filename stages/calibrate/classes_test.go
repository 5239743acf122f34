package calibrate_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/state"
)

// classRoom returns a room whose events have unconfigured classes. Its window is the newest 200
// rows.
func classRoom(t *testing.T) *room {
	return newRoom(t, 1, func(s *calibrate.Settings) {
		s.Events.Passthrough = nil
		s.Exploration.Window = 200
	})
}

var classSchema = arrow.NewSchema(
	[]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "y", Type: arrow.BinaryTypes.String}},
	nil,
)

// sendClasses appends rows to partition 0, ten per message, and cycles through the classes.
func (r *room) sendClasses(rows int, classes ...string) {
	r.t.Helper()
	for first := 0; first < rows; first += 10 {
		b := array.NewRecordBuilder(memory.DefaultAllocator, classSchema)
		for i := range 10 {
			r.seed = r.seed*6364136223846793005 + 1442695040888963407
			b.Field(0).(*array.Float64Builder).Append(float64(r.seed>>40) / (1 << 24))
			b.Field(1).(*array.StringBuilder).Append(classes[(first+i)%len(classes)])
		}
		rec := b.NewRecord()
		pipelinetest.Produce(r.t, r.Broker, "events", 0, pipeline.Record{Value: stagestest.Message(r.t, rec)})
		rec.Release()
		b.Release()
	}
}

// askFor requests an exploration for a class, like a featurizer.
func (r *room) askFor(class string) {
	r.t.Helper()
	spec := r.Env.State.Snapshot().Spec
	request := wire.Request{
		Action: wire.ActionStart,
		ID:     wire.ClassRequestID(spec.Sequence, class),
		Class:  class,
		Reason: "rows of " + class,
		Time:   r.Env.Clock(),
	}
	if err := r.Env.State.SendRequest(r.t.Context(), request); err != nil {
		r.t.Fatal(err)
	}
}

func answered(s state.Snapshot) bool { return len(s.Requests) == 0 }

// Featurizers that request the same class make one request, and the resulting set knows the class.
func TestPlannerExploresForANewClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := classRoom(t)
		r.sendClasses(200, "no", "yes")
		r.start()
		r.selected(r.spec(1), 200)
		r.sendClasses(50, "maybe", "no")
		r.askFor("maybe")
		r.askFor("maybe")
		second := r.spec(2)
		if got := second.Encoder.Label.Classes; !slices.Equal(got, []string{"maybe", "no", "yes"}) ||
			!strings.Contains(second.Reason, "rows of maybe") {
			t.Errorf("classes %v, because of %q", got, second.Reason)
		}
		r.selected(second, 200)
		if now := r.still(); now.Spec.Sequence != 2 || !answered(now) {
			t.Errorf("exploration %d, requests %+v", now.Spec.Sequence, now.Requests)
		}
		// A featurizer that has not seen the new exploration repeats the request for the previous
		// one.
		late := wire.Request{
			Action: wire.ActionStart,
			ID:     wire.ClassRequestID(1, "maybe"),
			Class:  "maybe",
			Time:   r.Env.Clock(),
		}
		if err := r.Env.State.SendRequest(t.Context(), late); err != nil {
			t.Fatal(err)
		}
		if now := r.still(); now.Spec.Sequence != 2 || !answered(now) {
			t.Errorf("late: exploration %d, requests %+v", now.Spec.Sequence, now.Requests)
		}
	})
}

// A class that has left the window is declined and looked for only once, even by the next planner.
func TestPlannerDeclinesAClassThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := classRoom(t)
		r.sendClasses(200, "no", "yes")
		r.start()
		first := r.spec(1)
		r.selected(first, 200)
		r.sendClasses(50, "gone")
		r.sendClasses(300, "no", "yes")
		r.askFor("gone")
		now := r.until("an answer", func(s state.Snapshot) bool { return answered(s) && len(s.Spec.DeclinedClasses) > 0 })
		if now.Spec.Sequence != 1 || !now.Spec.KnowsClass("gone") || now.Spec.KnowsClass("other") ||
			now.Spec.Hash() != first.Hash() {
			t.Errorf("spec %+v", now.Spec)
		}
		reads := r.reads.Load()
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
		r.start()
		r.askFor("gone")
		if now := r.still(); now.Spec.Sequence != 1 || !answered(now) || r.reads.Load() != reads {
			t.Errorf("exploration %d, requests %+v, %d more fetches", now.Spec.Sequence, now.Requests, r.reads.Load()-reads)
		}
		// A person's request explores the present rows and gives the class another chance.
		r.ask(wire.ActionStart, "")
		if second := r.spec(2); second.KnowsClass("gone") {
			t.Errorf("declined %v", second.DeclinedClasses)
		}
	})
}

// A request for a class does not cancel the running exploration.
func TestPlannerLetsARunningExplorationFinishFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := classRoom(t)
		r.sendClasses(200, "no", "yes")
		r.start()
		first := r.spec(1)
		r.sendClasses(50, "maybe", "no")
		r.askFor("maybe")
		if now := r.still(); now.Spec.Sequence != 1 || len(now.Requests) != 1 {
			t.Fatalf("exploration %d, requests %+v", now.Spec.Sequence, now.Requests)
		}
		r.selected(first, 200)
		if second := r.spec(2); !second.KnowsClass("maybe") {
			t.Errorf("classes %v", second.Encoder.Label.Classes)
		}
	})
}

// Too many classes to learn must not make the planner reread the window repeatedly.
func TestPlannerDeclinesWhatCannotBePlanned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := classRoom(t)
		r.sendClasses(200, "no", "yes")
		r.start()
		r.selected(r.spec(1), 200)
		var names []string
		for i := range 200 {
			names = append(names, time.Duration(i).String())
		}
		r.sendClasses(200, names...)
		r.askFor("7ns")
		now := r.until("an answer", func(s state.Snapshot) bool { return answered(s) })
		if now.Spec.Sequence != 1 || !now.Spec.KnowsClass("7ns") {
			t.Errorf("exploration %d, declined %v", now.Spec.Sequence, now.Spec.DeclinedClasses)
		}
	})
}
