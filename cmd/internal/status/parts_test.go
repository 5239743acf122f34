package status

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/training"
)

// The page shows the reason why the planner has no plan, with times.
func TestExplorationShowsPlanningFaults(t *testing.T) {
	at := time.Unix(1000, 0)
	s := stages.Snapshot{}
	s.Activity.Planning = meter.Planning{Fault: "one class", At: at, RetryAt: at.Add(30 * time.Second)}
	if e := exploration(s, &cluster{}); e.Fault != "one class" || !e.FaultAt.Equal(at) ||
		!e.RetryAt.Equal(at.Add(30*time.Second)) || e.MissingRows != 0 {
		t.Errorf("%+v", e)
	}
	s.Activity.Planning = meter.Planning{MissingRows: 1360, Rows: 640}
	if e := exploration(s, &cluster{}); e.MissingRows != 1360 || e.PresentRows != 640 || e.Fault != "" {
		t.Errorf("%+v", e)
	}
}

// A tail first reads the end, then new records, and skips the excess; it always reads the newest
// record.
func TestTail(t *testing.T) {
	broker := pipelinetest.NewBroker()
	broker.AddTopic("t", 1)
	written := 0
	write := func(n, size int) {
		for range n {
			if _, err := broker.Produce(t.Context(), "t", 0,
				[]pipeline.Record{{Value: []byte(strings.Repeat("x", size))}}); err != nil {
				t.Fatal(err)
			}
			written++
		}
	}
	tail := tail{log: broker, topic: "t", most: 5, bytes: 1000}
	var offsets []int64
	read := func() []int64 {
		offsets = nil
		first, next, err := broker.Offsets(t.Context(), "t", 0)
		if err == nil {
			err = tail.read(t.Context(), 0, first, next, func(r pipeline.Record) { offsets = append(offsets, r.Offset) })
		}
		if err != nil {
			t.Fatal(err)
		}
		return offsets
	}
	write(10, 1)
	if have := read(); !slices.Equal(have, []int64{5, 6, 7, 8, 9}) || tail.passed != 0 {
		t.Errorf("at first %v", have)
	}
	if have := read(); have != nil {
		t.Errorf("on the second read %v", have)
	}
	write(2, 1)
	if have := read(); !slices.Equal(have, []int64{10, 11}) {
		t.Errorf("new records: %v", have)
	}
	write(20, 1)
	if have := read(); !slices.Equal(have, []int64{27, 28, 29, 30, 31}) || tail.passed != 15 {
		t.Errorf("the newest of many: %v, %d skipped", have, tail.passed)
	}
	write(1, 1)
	broker.Expire("t", 0, int64(written))
	write(1, 1)
	if have := read(); !slices.Equal(have, []int64{33}) {
		t.Errorf("after retention removed records: %v", have)
	}
	tail.forget()
	if have := read(); !slices.Equal(have, []int64{33}) {
		t.Errorf("after a restart %v", have)
	}
}

func TestDrawnRanks(t *testing.T) {
	if have := someRanks(3); !slices.Equal(have, []int{0, 1, 2}) {
		t.Errorf("of three: %v", have)
	}
	have := someRanks(5000)
	if n := len(have); n < 100 || n > spectrumRanks || !slices.IsSorted(have) || have[0] != 0 || have[n-1] != 4999 {
		t.Errorf("%d of 5000: %v", n, have)
	}
}

func letterRecord(reason string, offset int64, at time.Time) pipeline.Record {
	d := wire.DeadLetter{Stage: "featurize", Reason: reason, Detail: strings.Repeat("é",
		400), Topic: "events", Offset: offset, Time: at}
	var r pipeline.Record
	for _, h := range d.Headers() {
		r.Headers = append(r.Headers, pipeline.Header{Key: h.Key, Value: h.Value})
	}
	return r
}

func TestLetters(t *testing.T) {
	l := newLetters(pipelinetest.NewBroker(), "dead-letters")
	start := time.Unix(1000, 0).UTC()
	for i := range 50 {
		l.apply(letterRecord([]string{"often", "often", "seldom"}[i%3], int64(i), start.Add(time.Duration(i)*time.Second)))
	}
	l.apply(pipeline.Record{Value: []byte("no letter")})
	here := map[meter.Cause]int64{{Stage: "featurize", Reason: "often"}: 7, {Stage: "train", Reason: "new"}: 1}
	have := l.list(here)
	if have.Read != 50 || !have.From.Equal(start) || len(have.Reasons) != 3 {
		t.Errorf("%+v", have)
	}
	if often := have.Reasons[0]; often.Reason != "often" || often.Letters != 34 || often.Here != 7 {
		t.Errorf("%+v", often)
	}
	if len(have.Newest) != lettersShown || have.Newest[0].Offset != 49 || have.Newest[11].Offset != 38 {
		t.Errorf("newest %+v", have.Newest)
	}
	if n := len([]rune(have.Newest[0].Detail)); n != detailRunes+1 {
		t.Errorf("a detail of %d letters", n)
	}
	for i := range 100 {
		l.apply(letterRecord(fmt.Sprint("reason", i), 0, start))
	}
	if n := len(l.list(nil).Reasons); n > reasonsKept+1 {
		t.Errorf("%d reasons", n)
	}
}

func TestSetsShowTheShareOfCopies(t *testing.T) {
	if got := describeSet(state.SetEntry{Lineage: wire.Lineage{Copies: 0.25}}).Copies; got != 0.25 {
		t.Errorf("share of copies %v, want 0.25", got)
	}
}

// The page shows the measure by which models are judged, not the misclassification next to it.
func TestModelsAreShownByTheDecidingMeasure(t *testing.T) {
	loss, constant, wrong, variance := 0.3374, 0.4511, 17.3, 12.5
	for _, c := range []struct {
		measures training.Measures
		measure  string
		percent  bool
		want     float64
	}{
		{training.Measures{LogLoss: &loss, ConstantLogLoss: &constant, Misclassification: &wrong}, "log loss", false, loss},
		{training.Measures{Misclassification: &wrong}, "misclassification", true, wrong},
		{training.Measures{UnexplainedVariance: &variance}, "unexplained variance", true, variance},
	} {
		shown := describeModel(&wire.Model{Model: &training.Model{}, Metrics: wire.Metrics{Measures: c.measures}})
		if shown.Measure != c.measure || shown.Percent != c.percent || shown.Error == nil || *shown.Error != c.want {
			t.Errorf("%+v, want %s %v", shown, c.measure, c.want)
		}
	}
}
