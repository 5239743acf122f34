package selection_test

import (
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/selection"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
)

// learn configures learned features from all rows.
func learn(c *calibrate.Config) { c.Criterion, c.RefineSteps, c.SampleRate = scoring.Adaptive, 8, 1 }

// relabelled replaces the label of rows by a function of their encoding by a spec.
func relabelled(t testing.TB, spec *wire.Spec, rows arrow.Record, label func(x []float64) float64) arrow.Record {
	t.Helper()
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	defer b.Release()
	for i := range int(rows.NumRows()) {
		b.Append(label(stagestest.EncodeRow(spec.Encoder, rows, i).X))
	}
	columns := slices.Clone(rows.Columns())
	at := rows.Schema().FieldIndices("y")[0]
	columns[at] = b.NewArray()
	defer columns[at].Release()
	out := array.NewRecord(rows.Schema(), columns, rows.NumRows())
	t.Cleanup(out.Release)
	return out
}

// residualWorld returns a world in which the label is one of residual's candidates, so that learned
// features are no better.
func residualWorld(t testing.TB, perMessage int, edit func(*calibrate.Config)) *explored.World {
	t.Helper()
	c := explored.Exploration()
	learn(&c)
	c.CalibrationRows = 100
	if edit != nil {
		edit(&c)
	}
	e := explored.Events(stagestest.Regression)
	all := make([]arrow.Record, 3)
	first := explored.NewWorld(t, 3, e, c)
	for p := range all {
		all[p] = stagestest.Events(t, stagestest.Regression, 300, uint64(60+p), stagestest.Faults{})
		first.Send(p, all[p])
	}
	planner := first.Start(nil, meter.StageCalibrate)
	spec := first.Spec()
	planner.Stop()
	one := adaptive.Plain(spec.Candidates).Draw([]int32{11})
	w := explored.NewWorld(t, 3, e, c)
	for p, rows := range all {
		w.Send(p, stagestest.Cut(t, relabelled(t, spec, rows, func(x []float64) float64 {
			sum := float64(one.Phase[0])
			for j, v := range x {
				sum += float64(one.Omega[j]) * v
			}
			return 500 + math.Cos(sum)
		}), stagestest.Every(perMessage))...)
	}
	return w
}

// Under residual the set consists of the best candidates, unchanged.
func TestTheSetOfResidual(t *testing.T) {
	ids := map[string]bool{}
	for _, perMessage := range []int{50, 7} {
		w := residualWorld(t, perMessage, func(c *calibrate.Config) { c.Criterion = scoring.Residual })
		w.Start(nil, meter.StageCalibrate, meter.StageSubsample, meter.StageSelection)
		got := w.Set()
		l := got.Set.Lineage
		if l.Learning == nil || l.Learning.Best().Kind != adaptive.ByResidual || l.Learned() || l.Counts.HeldOut == 0 ||
			l.ByResidual != got.Set.Set.Features.Len() {
			t.Fatalf("lineage %+v", l)
		}
		if c := got.Set.Candidates; c.Varied || !c.Draw(got.Set.Set.Index).Equal(got.Set.Set.Features) ||
			!slices.Contains(got.Set.Set.Index, 11) {
			t.Errorf("candidates %+v do not give the features", c)
		}
		ids[got.ID] = true
	}
	if len(ids) != 1 {
		t.Errorf("sets %v of the same rows", ids)
	}
}

func TestTheLineageSaysHowFeaturesWereLearned(t *testing.T) {
	spec, sums, lineage, sample := sampleOf(t, stagestest.Regression, learn)
	if sums.Rows != lineage.Rows-lineage.Counts.HeldOut || int(lineage.Rows) != sample.Rows ||
		len(sample.HeldOut) != sample.Rows ||
		!slices.Equal(sample.Parts, []int{sample.Rows}) {
		t.Fatalf(
			"sums of %d rows, a sample of %d in parts %v, %d of them marked; counts %+v",
			sums.Rows,
			sample.Rows,
			sample.Parts,
			len(sample.HeldOut),
			lineage.Counts,
		)
	}
	var reports []selection.Progress
	set, err := selection.Select(
		spec,
		sums,
		lineage,
		sample,
		stagestest.Noon,
		selection.Options{Progress: func(p selection.Progress) {
			p.Points = slices.Clone(p.Points)
			reports = append(reports, p)
		}},
	)
	if err != nil {
		t.Fatal(err)
	}
	l := set.Lineage.Learning
	if l.Rows != sums.Rows || l.HeldOutRows != lineage.Counts.HeldOut || len(l.Importance) != spec.Encoder.Dim ||
		!set.Lineage.Learned() {
		t.Errorf("report %+v of counts %+v", l, lineage.Counts)
	}
	if set.Lineage.Radius != 0 || set.Lineage.AboveNoise != 0 || set.Lineage.RefineSteps != 8 ||
		set.Lineage.RefineRounds != 1 {
		t.Errorf("lineage %+v", set.Lineage)
	}
	last, rounds := reports[len(reports)-1], adaptive.Options{RefineSteps: 8, RefineRounds: 1}.AllRounds()
	if len(reports) != len(l.Points)+1 || !slices.Equal(last.Points, l.Points) || last.Round != rounds ||
		reports[0].Round != 1 ||
		reports[0].Last() != nil {
		t.Errorf("%d reports, the last %+v; points %+v", len(reports), last, l.Points)
	}
	decoded := decodeSet(t, stagestest.Must(wire.EncodeFeatureSet(set)))
	if decoded.ID() != set.ID() {
		t.Errorf("set %s decoded as %s", set.ID(), decoded.ID())
	}
}
