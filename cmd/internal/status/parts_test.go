package status

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
)

// The page shows what keeps the planner from planning, with times.
func TestExplorationSaysWhatIsInTheWay(t *testing.T) {
	at := time.Unix(1000, 0)
	s := stages.Snapshot{}
	s.Activity.Planning = meter.Planning{Fault: "one class", At: at, RetryAt: at.Add(30 * time.Second)}
	if e := exploration(s, &cluster{}); e.Fault != "one class" || !e.FaultAt.Equal(at) || !e.RetryAt.Equal(at.Add(30*time.Second)) || e.MissingRows != 0 {
		t.Errorf("%+v", e)
	}
	s.Activity.Planning = meter.Planning{MissingRows: 1360, Rows: 640}
	if e := exploration(s, &cluster{}); e.MissingRows != 1360 || e.PresentRows != 640 || e.Fault != "" {
		t.Errorf("%+v", e)
	}
}

// A tail first reads the end, then new records, and skips what is too much; it always reads the newest record.
func TestTail(t *testing.T) {
	broker := pipelinetest.NewBroker()
	broker.AddTopic("t", 1)
	written := 0
	write := func(n, size int) {
		for range n {
			if _, err := broker.Produce(t.Context(), "t", 0, []pipeline.Record{{Value: []byte(strings.Repeat("x", size))}}); err != nil {
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
		t.Errorf("again %v", have)
	}
	write(2, 1)
	if have := read(); !slices.Equal(have, []int64{10, 11}) {
		t.Errorf("what came: %v", have)
	}
	write(20, 1)
	if have := read(); !slices.Equal(have, []int64{27, 28, 29, 30, 31}) || tail.passed != 15 {
		t.Errorf("the newest of many: %v, %d passed over", have, tail.passed)
	}
	write(1, 1)
	broker.Expire("t", 0, int64(written))
	write(1, 1)
	if have := read(); !slices.Equal(have, []int64{33}) {
		t.Errorf("behind what retention removed: %v", have)
	}
	tail.forget()
	if have := read(); !slices.Equal(have, []int64{33}) {
		t.Errorf("anew %v", have)
	}
}

// sumsOf sums made-up features of rows.
func sumsOf(candidates, outputs, rows int) *scoring.Sums {
	s := scoring.NewSums(candidates, outputs)
	random := rand.New(rand.NewPCG(1, 2))
	phi := make([]float64, candidates)
	for range rows {
		for k := range outputs {
			y := random.NormFloat64()
			s.Y[k], s.YSq[k], s.YMin[k], s.YMax[k] = s.Y[k]+y, s.YSq[k]+y*y, min(s.YMin[k], y), max(s.YMax[k], y)
			for i := range phi {
				if k == 0 {
					phi[i] = 0.2*random.NormFloat64() + y/float64(i+2)
					s.Phi[i], s.PhiSq[i] = s.Phi[i]+phi[i], s.PhiSq[i]+phi[i]*phi[i]
				}
				s.YPhi[k*candidates+i] += y * phi[i]
			}
		}
	}
	s.Rows = int64(rows)
	return s
}

func specOf(criterion scoring.Criterion, candidates, features int) *wire.Spec {
	spec := &wire.Spec{
		Exploration: "p.1.abc", Criterion: criterion, Features: features,
		Candidates: scoring.Candidates{Map: scoring.MapCosine, Count: candidates},
		Encoder:    &encoder.Encoder{Label: &encoder.Label{Task: scoring.Regression, Columns: []string{"y"}}},
	}
	if criterion == scoring.Residual {
		spec.Rounds = 2
	}
	return spec
}

func TestSpectrum(t *testing.T) {
	sums := sumsOf(3000, 1, 400)
	for _, c := range []struct {
		criterion scoring.Criterion
		every     int
		cutoff    int
		unit      string
	}{
		{scoring.Energy, 1, 200, unitNorm}, {scoring.Correlation, 1, 200, unitCorrelation},
		{scoring.Correlation, 7, 200, unitCorrelation}, {scoring.Residual, 1, 500, unitCorrelation},
	} {
		have := spectrumOf(specOf(c.criterion, 3000, 200), thin(sums, c.every), c.every)
		if have.Unit != c.unit || have.CutoffRank != c.cutoff || have.Rows != 400 || have.Candidates != 3000 {
			t.Errorf("%v: %+v", c.criterion, have)
		}
		if n := len(have.Rank); n < 100 || n > spectrumRanks+2 || have.Rank[0] != 1 || !slices.IsSorted(have.Rank) {
			t.Errorf("%v: %d ranks from %v", c.criterion, n, have.Rank[0])
		}
		if !slices.IsSortedFunc(have.Value, func(a, b float64) int {
			if a > b {
				return -1
			}
			return 1
		}) || !slices.Contains(have.Value, have.Cutoff) {
			t.Errorf("%v: values %v, cut-off %v", c.criterion, have.Value, have.Cutoff)
		}
		if band := len(have.Low) == len(have.Rank) && len(have.High) == len(have.Rank); band != (c.criterion == scoring.Energy) {
			t.Errorf("%v: a band of %d", c.criterion, len(have.Low))
		}
	}
}

// The newest checkpoints of the exploration count; those of others do not.
func TestScoresOfAnExploration(t *testing.T) {
	s := newScores(pipelinetest.NewBroker(), stages.Default().State())
	s.begin(specOf(scoring.Residual, 40, 4), 2)
	put := func(exploration string, partition int32, rows int) {
		t.Helper()
		c := &wire.Checkpoint{
			Exploration: exploration, SpecHash: "h", Partition: partition, NextOffset: int64(rows), NextOrdinal: int64(rows),
			Counts: wire.Counts{Messages: 1, Rows: int64(rows), Scored: int64(rows)}, Sums: sumsOf(40, 1, rows), Arithmetic: "k",
			WrittenAt: time.Unix(int64(rows), 0),
		}
		value, err := wire.EncodeCheckpoint(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.apply(pipeline.Record{Partition: int(partition), Key: wire.CheckpointKey(exploration), Value: value}); err != nil {
			t.Error(err)
		}
	}
	if s.draw() != nil {
		t.Error("a spectrum of nothing")
	}
	put("p.1.abc", 0, 100)
	put("p.1.abc", 1, 50)
	put("p.1.abc", 0, 80)     // of an owner that lost the partition
	put("p.1.abcdef", 0, 900) // of another exploration
	if have := s.draw(); have.Rows != 150 || have.Partitions != 2 || have.Unit != unitCorrelation || !have.At.Equal(time.Unix(100, 0)) {
		t.Errorf("%+v", have)
	}
}

// What is kept of an exploration is bounded, whatever its size.
func TestSumsAreBounded(t *testing.T) {
	spec := specOf(scoring.Correlation, 100_000, 100)
	spec.Encoder.Label = &encoder.Label{Task: scoring.MultiClass, Classes: []string{"a", "b", "c", "d"}}
	s := newScores(pipelinetest.NewBroker(), stages.Default().State())
	s.begin(spec, 64)
	kept := 2 * 64 * (100_000 + s.every - 1) / s.every * (2 + 4) * 8
	if s.every < 2 || kept > sumsBytes*11/10 {
		t.Errorf("one in %d: %d bytes", s.every, kept)
	}
}

func letterRecord(reason string, offset int64, at time.Time) pipeline.Record {
	d := wire.DeadLetter{Stage: "featurize", Reason: reason, Detail: strings.Repeat("é", 400), Topic: "events", Offset: offset, Time: at}
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
