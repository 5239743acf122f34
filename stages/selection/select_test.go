package selection_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/goleak"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/selection"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/subsample"
)

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// checkScores recomputes the scores of a published set in float64, from its omega, phase and
// encoder and the rows of the batches (partition 0), and compares them to 1e-5 of sqrt(Σy²/n).
func checkScores(t testing.TB, set *wire.FeatureSet, batches []arrow.Record) {
	t.Helper()
	value, err := wire.EncodeFeatureSet(set)
	if err != nil {
		t.Fatal(err)
	}
	published := decodeSet(t, value)
	closing := published.Lineage.Partitions[0].ClosingOrdinal
	spec := &wire.Spec{Plan: wire.Plan{SampleSeed: published.Lineage.SampleSeed, SampleRate: published.Lineage.SampleRate}}
	var rows []stagestest.Row
	ordinal := int64(0)
	for _, batch := range batches {
		for i := range int(batch.NumRows()) {
			if ordinal < closing && stagestest.Sampled(spec.SampleSeed, 0, ordinal, spec.SampleRate) {
				if row := stagestest.EncodeRow(published.Encoder, batch, i); stagestest.OutcomeOf(
					spec,
					0,
					ordinal,
					row,
				) == stagestest.Scored {
					rows = append(rows, row)
				}
			}
			ordinal++
		}
	}
	if int64(len(rows)) != published.Lineage.Rows || len(rows) == 0 {
		t.Fatalf("%d rows scored, lineage has %d", len(rows), published.Lineage.Rows)
	}
	scores, spread := stagestest.Scores(published, rows)
	outputs, worst := len(spread), 0.0
	for i, want := range scores {
		worst = max(worst, math.Abs(published.Set.S[i]-want)/spread[i%outputs])
	}
	t.Logf(
		"%d rows, %d features, %d outputs: worst score off by %.1e of sqrt(sum y^2/n)",
		len(rows),
		len(scores)/outputs,
		outputs,
		worst,
	)
	if !(worst <= 1e-5) {
		t.Fatalf("a score is off by %v of sqrt(sum y^2/n)", worst)
	}
	checkOrder(t, published)
}

func decodeSet(t testing.TB, value []byte) *wire.FeatureSet {
	t.Helper()
	set, err := wire.DecodeFeatureSet(arrowio.NewDecoder(arrowio.DefaultLimits()), value)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// checkOrder fails unless the features are sorted best first, equal ones by index, and the lineage
// matches them.
func checkOrder(t testing.TB, set *wire.FeatureSet) {
	t.Helper()
	score, index := set.Set.Score, set.Set.Index
	for i := 1; i < len(score); i++ {
		if score[i] > score[i-1] || score[i] == score[i-1] && index[i] < index[i-1] {
			t.Fatalf("feature %d (%v, candidate %d) comes after %v, candidate %d", i, score[i], index[i], score[i-1], index[i-1])
		}
	}
	if l := set.Lineage; l.Best != score[0] || l.Cutoff != score[len(score)-1] || !(l.Radius > 0) {
		t.Fatalf("lineage has best %v, cutoff %v, radius %v", l.Best, l.Cutoff, l.Radius)
	}
	if want := 1 / math.Sqrt(float64(len(score))); math.Abs(float64(set.Set.Scale)-want) > 1e-7 {
		t.Fatalf("scale %v, want %v", set.Set.Scale, want)
	}
}

func TestScoresEqualTheirFloat64Recomputation(t *testing.T) {
	for _, task := range stagestest.Tasks {
		rows := stagestest.Events(t, task, 1500, 11, stagestest.SomeFaults)
		for _, m := range stagestest.FeatureMaps {
			for _, criterion := range []scoring.Criterion{scoring.Energy, scoring.Correlation} {
				t.Run(fmt.Sprintf("%s, %s, %v", task, m.Name, criterion), func(t *testing.T) {
					c := explored.Exploration()
					c.Map, c.Distribution, c.Sigma, c.Criterion = m.Map, m.Distribution, m.Sigma, criterion
					if m.Map == scoring.MapLinear {
						c.Candidates, c.Features = 6, 3
					}
					batches := stagestest.Cut(t, rows, stagestest.Every(400))
					checkScores(t, explored.FeatureSet(t, explored.Events(task), c, batches...), batches)
				})
			}
		}
	}
}

// The checkpoints of two halves of the rows belong to the outer two of three partitions; the middle
// one is empty.
func TestMergeGoesByThePartitionsOfTheSpec(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 800, 12, stagestest.SomeFaults)
	spec := explored.Spec(t, explored.Events(stagestest.Regression), explored.Exploration(), rows)
	spec.Partitions = []wire.Partition{
		{StartOffset: 3, EndOffset: 9, Quota: 50},
		{Partition: 1, StartOffset: 4, EndOffset: 4},
		{Partition: 2, EndOffset: 1},
	}
	checkpoints := map[int32]*wire.Checkpoint{}
	for i, half := range stagestest.Cut(t, rows, stagestest.Every(400)) {
		part := spec.Partitions[2*i]
		s := stagestest.Must(subsample.New(spec, scoring.NewBank(spec.Candidates), part, nil))
		if err := s.Add(part.StartOffset, []arrow.Record{half}, nil); err != nil {
			t.Fatal(err)
		}
		checkpoints[part.Partition] = s.Checkpoint(stagestest.Noon)
	}
	sums, lineage := selection.Merge(spec, checkpoints)
	want := []wire.LineagePartition{
		{
			Partition:      0,
			StartOffset:    3,
			NextOffset:     4,
			EndOffset:      9,
			ClosingOrdinal: checkpoints[0].NextOrdinal,
			CloseReason:    wire.CloseQuota,
		},
		{Partition: 1, StartOffset: 4, NextOffset: 4, EndOffset: 4, CloseReason: wire.CloseEnd},
		{Partition: 2, StartOffset: 0, NextOffset: 1, EndOffset: 1, ClosingOrdinal: 400, CloseReason: wire.CloseEnd},
	}
	if !slices.Equal(lineage.Partitions, want) {
		t.Errorf("lineage %+v, want %+v", lineage.Partitions, want)
	}
	var counts wire.Counts
	meter.Add(&counts, checkpoints[0].Counts)
	meter.Add(&counts, checkpoints[2].Counts)
	if lineage.Counts != counts || lineage.Rows != counts.Scored || sums.Rows != counts.Scored ||
		!lineage.Counts.Reconciles() {
		t.Errorf("lineage counts %+v, want %+v", lineage.Counts, counts)
	}
	if lineage.SpecHash != spec.Hash() || lineage.Exploration != spec.Exploration || lineage.Sequence != 1 {
		t.Errorf("lineage %+v does not name its exploration", lineage)
	}
}

// sampleOf explores rows by a criterion and returns the inputs of a selection.
func sampleOf(
	t testing.TB,
	task string,
	edit func(*calibrate.Config),
) (*wire.Spec, *scoring.Sums, wire.Lineage, *scoring.Sample) {
	t.Helper()
	c := explored.Exploration()
	c.SampleRate = 1
	edit(&c)
	rows := stagestest.Events(t, task, 700, 31, stagestest.SomeFaults)
	spec := explored.Spec(t, explored.Events(task), c, rows)
	s, err := subsample.New(spec, scoring.NewBank(spec.Candidates), spec.Partitions[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Add(0, []arrow.Record{rows}, nil); err != nil {
		t.Fatal(err)
	}
	sums, lineage := selection.Merge(spec, map[int32]*wire.Checkpoint{0: s.Checkpoint(stagestest.Noon)})
	if samples := s.Samples(); samples != nil {
		return spec, sums, lineage, selection.NewSample(spec, samples)
	}
	return spec, sums, lineage, nil
}

// criteria lists the ways to choose features, including the linear map, which turns residual into
// variable selection.
var criteria = map[string]func(*calibrate.Config){
	"energy":                 func(c *calibrate.Config) { c.Criterion = scoring.Energy },
	"correlation":            func(c *calibrate.Config) { c.Criterion = scoring.Correlation },
	"residual":               func(c *calibrate.Config) { c.Criterion = scoring.Residual },
	"adaptive":               func(c *calibrate.Config) { c.Criterion, c.RefineSteps = scoring.Adaptive, 8 },
	"adaptive, rounds alone": func(c *calibrate.Config) { c.Criterion, c.RefineSteps = scoring.Adaptive, 0 },
	"residual, linear map": func(c *calibrate.Config) {
		c.Criterion, c.Map, c.Sigma = scoring.Residual, scoring.MapLinear, 0
		c.Candidates, c.Features, c.Rounds = 6, 3, 2
	},
}

func TestSelectIsTheSameWhoeverWorks(t *testing.T) {
	for name, edit := range criteria {
		for _, task := range stagestest.Tasks {
			t.Run(name+", "+task, func(t *testing.T) {
				spec, sums, lineage, sample := sampleOf(t, task, edit)
				if (sample != nil) != spec.Criterion.NeedsRows() {
					t.Fatalf("sample %v under criterion %v", sample != nil, spec.Criterion)
				}
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
				id := ""
				for _, with := range [][2]int{{1, 0}, {2, 0}, {2, 3}} {
					runtime.GOMAXPROCS(with[0])
					rounds, most := 0, 0
					set, err := selection.Select(
						spec,
						sums,
						lineage,
						sample,
						stagestest.Noon,
						selection.Options{
							Workers:  with[1],
							Progress: func(p selection.Progress) { rounds, most = max(rounds, p.Round), p.Rounds },
						},
					)
					if err != nil {
						t.Fatal(err)
					}
					if id == "" {
						id = set.ID()
					}
					if set.ID() != id || (rounds > 0) != spec.Criterion.NeedsRows() || rounds > most {
						t.Errorf("%d processors, %d workers: set %s after %d rounds, want %s", with[0], with[1], set.ID(), rounds, id)
					}
				}
			})
		}
	}
}

func TestPlainSet(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Classes, 600, 14, stagestest.Faults{})
	set := explored.FeatureSet(t, explored.Events(stagestest.Classes), explored.Exploration(), rows)
	plain := selection.PlainSet(set)
	if err := plain.Validate(); err != nil {
		t.Fatal(err)
	}
	if plain.Set.Features.Len() != set.Set.Features.Len() || plain.Encoder != set.Encoder ||
		plain.Set.Scale != set.Set.Scale {
		t.Fatal("a plain set differs in more than its candidates")
	}
	want := set.Candidates.DrawAll()
	n := len(plain.Set.Features.Omega)
	if !slices.Equal(plain.Set.Features.Omega, want.Omega[:n]) ||
		!slices.Equal(plain.Set.Features.Phase, want.Phase[:plain.Set.Features.Len()]) {
		t.Fatal("plain features are not the first candidates")
	}
	if plain.ID() == set.ID() {
		t.Fatal("two different sets have the same id")
	}
	c := explored.Exploration()
	c.Criterion = scoring.Adaptive
	learned := explored.FeatureSet(t, explored.Events(stagestest.Classes), c, rows)
	if got := selection.PlainSet(learned).Set.Features; got.Len() != learned.Set.Features.Len() ||
		!slices.Equal(got.Omega, set.Candidates.DrawAll().Omega[:len(got.Omega)]) {
		t.Fatal("plain features for a learned set are not the first plain candidates")
	}
}
