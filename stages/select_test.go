package stages

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/testdata"
	"github.com/eerf-stream/eerf/scoring"
)

// featureMaps are the feature maps with the distributions that go with them.
var featureMaps = []struct {
	name         string
	m            scoring.Map
	distribution scoring.Distribution
	sigma        float64
}{
	{"cosine gaussian", scoring.MapCosine, scoring.Gaussian, 0},
	{"cosine cauchy", scoring.MapCosine, scoring.Cauchy, 4},
	{"cosine laplace", scoring.MapCosine, scoring.Laplace, 0},
	{"cosine matern", scoring.MapCosine, scoring.Matern, 0},
	{"arccos0", scoring.MapArcCosine0, scoring.Gaussian, 0},
	{"arccos1", scoring.MapArcCosine1, scoring.Gaussian, 0},
	{"arccos2", scoring.MapArcCosine2, scoring.Gaussian, 0},
	{"linear", scoring.MapLinear, scoring.Uniform, 0},
}

// checkScores computes the scores of a published set again in float64, from its own omega, phase and encoder and the
// rows of the batches (partition 0), and compares them to 1e-5 of sqrt(Σy²/n).
func checkScores(t testing.TB, set *wire.FeatureSet, batches []arrow.Record) {
	t.Helper()
	value, err := wire.EncodeFeatureSet(set)
	if err != nil {
		t.Fatal(err)
	}
	published := decodeSet(t, value)
	closing := published.Lineage.Partitions[0].ClosingOrdinal
	spec := &wire.Spec{SampleSeed: published.Lineage.SampleSeed, SampleRate: published.Lineage.SampleRate}
	var rows []referenceRow
	ordinal := int64(0)
	for _, batch := range batches {
		for i := range int(batch.NumRows()) {
			if ordinal < closing && sampled(spec.SampleSeed, 0, ordinal, spec.SampleRate) {
				if row := encodeRow(published.Encoder, batch, i); outcomeOf(spec, 0, ordinal, row) == scored {
					rows = append(rows, row)
				}
			}
			ordinal++
		}
	}
	if int64(len(rows)) != published.Lineage.Rows || len(rows) == 0 {
		t.Fatalf("%d rows scored, the lineage says %d", len(rows), published.Lineage.Rows)
	}
	scores, spread := referenceScores(published, rows)
	outputs, worst := len(spread), 0.0
	for i, want := range scores {
		worst = max(worst, math.Abs(published.Set.S[i]-want)/spread[i%outputs])
	}
	t.Logf("%d rows, %d features, %d outputs: worst score off by %.1e of sqrt(sum y^2/n)", len(rows), len(scores)/outputs, outputs, worst)
	if !(worst <= 1e-5) {
		t.Fatalf("a score is off by %v of sqrt(sum y^2/n)", worst)
	}
	checkOrder(t, published)
}

func decodeSet(t testing.TB, value []byte) *wire.FeatureSet {
	t.Helper()
	set, err := wire.DecodeFeatureSet(newEventReader(NewWatch(nil, nil, "", Default().Topics).limits, nil).decoder, value)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// checkOrder fails unless the features stand best first, equal ones by index, and the lineage says what is kept.
func checkOrder(t testing.TB, set *wire.FeatureSet) {
	t.Helper()
	score, index := set.Set.Score, set.Set.Index
	for i := 1; i < len(score); i++ {
		if score[i] > score[i-1] || score[i] == score[i-1] && index[i] < index[i-1] {
			t.Fatalf("feature %d (%v, candidate %d) stands behind %v, candidate %d", i, score[i], index[i], score[i-1], index[i-1])
		}
	}
	if l := set.Lineage; l.Best != score[0] || l.Cutoff != score[len(score)-1] || !(l.Radius > 0) {
		t.Fatalf("lineage says best %v, cutoff %v, radius %v", l.Best, l.Cutoff, l.Radius)
	}
	if want := 1 / math.Sqrt(float64(len(score))); math.Abs(float64(set.Set.Scale)-want) > 1e-7 {
		t.Fatalf("scale %v, want %v", set.Set.Scale, want)
	}
}

func TestScoresEqualTheirFloat64Recomputation(t *testing.T) {
	for _, task := range tasks {
		rows := events(t, task, 1500, 11, someFaults)
		for _, m := range featureMaps {
			for _, criterion := range []scoring.Criterion{scoring.Energy, scoring.Correlation} {
				t.Run(fmt.Sprintf("%s, %s, %v", task, m.name, criterion), func(t *testing.T) {
					s := testSettings(task)
					s.Exploration.Map, s.Exploration.Distribution, s.Exploration.Sigma = m.m, m.distribution, m.sigma
					s.Exploration.Criterion, s.Exploration.SampleRows = criterion, 200
					if m.m == scoring.MapLinear {
						s.Exploration.Candidates, s.Exploration.Features = 6, 3
					}
					batches := cut(t, rows, every(400))
					checkScores(t, explore(t, s, batches).Set, batches)
				})
			}
		}
	}
}

// readFile returns the rows of a data file, or skips the test.
func readFile(t testing.TB, name string, o files.Options) []arrow.Record {
	t.Helper()
	reader, err := files.Open(testdata.Path(t, name), o)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var batches []arrow.Record
	err = EachBatch(t.Context(), func() (RowReader, error) { return reader, nil }, func(_ int64, batch arrow.Record) error {
		batch.Retain()
		batches = append(batches, batch)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { releaseAll(batches) })
	return batches
}

func TestScoresOfRealDataEqualTheirFloat64Recomputation(t *testing.T) {
	for _, c := range []struct {
		name, label string
		options     files.Options
		outputs     int
	}{
		{"a9a.gz", "label", files.Options{Format: files.FormatLIBSVM}, 1},
		{"letter-recognition.data.gz", "f0", files.Options{Format: files.FormatCSV, NoHeader: true}, 26},
	} {
		t.Run(c.name, func(t *testing.T) {
			batches := readFile(t, c.name, c.options)
			s := testSettings(taskRegression)
			s.Events.Label, s.Events.Passthrough, s.Events.Task = []string{c.label}, nil, "classification"
			s.Exploration.Candidates, s.Exploration.Features, s.Exploration.Sigma = 300, 30, 0
			s.Exploration.SampleRate, s.Exploration.SampleRows = 0.2, 1000
			s.Exploration.CalibrationRows = 2000
			found := explore(t, s, batches)
			if got := len(found.Set.Coding.Gain); got != c.outputs {
				t.Fatalf("%d outputs, want %d", got, c.outputs)
			}
			checkScores(t, found.Set, batches)
		})
	}
}

// partitionCheckpoints explores two halves of the rows as two partitions.
func partitionCheckpoints(t testing.TB) (*wire.Spec, []*wire.Checkpoint) {
	t.Helper()
	rows := events(t, taskRegression, 800, 12, someFaults)
	spec := plan(t, testSettings(taskRegression), rows, wire.Partition{Partition: 0, StartOffset: 3, EndOffset: -1, Quota: 50},
		wire.Partition{Partition: 2, EndOffset: -1})
	var checkpoints []*wire.Checkpoint
	for i, half := range cut(t, rows, every(400)) {
		s := newSubsampler(t, spec, spec.Partitions[i], nil)
		if _, err := s.Add(spec.Partitions[i].StartOffset, []arrow.Record{half}); err != nil {
			t.Fatal(err)
		}
		checkpoints = append(checkpoints, saved(t, s))
	}
	return spec, checkpoints
}

func TestSelectFeaturesMergesPartitionsInTheirOrder(t *testing.T) {
	spec, checkpoints := partitionCheckpoints(t)
	set, err := SelectFeatures(spec, checkpoints, noon)
	if err != nil {
		t.Fatal(err)
	}
	turned := []*wire.Checkpoint{checkpoints[1], checkpoints[0]}
	again, err := SelectFeatures(spec, turned, noon.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if set.ID() != again.ID() {
		t.Fatal("the order in which checkpoints came changed the set")
	}
	if turned[0] != checkpoints[1] {
		t.Error("the caller's list was sorted")
	}
	want := []wire.LineagePartition{
		{Partition: 0, StartOffset: 3, NextOffset: 4, ClosingOrdinal: checkpoints[0].NextOrdinal, CloseReason: wire.CloseQuota},
		{Partition: 2, StartOffset: 0, NextOffset: 1, ClosingOrdinal: 400, CloseReason: wire.CloseDeadline},
	}
	if !slices.Equal(set.Lineage.Partitions, want) {
		t.Errorf("lineage %+v, want %+v", set.Lineage.Partitions, want)
	}
	var counts wire.Counts
	counts.Add(checkpoints[0].Counts)
	counts.Add(checkpoints[1].Counts)
	if set.Lineage.Counts != counts || set.Lineage.Rows != counts.Scored || !set.Lineage.Counts.Reconciles() {
		t.Errorf("lineage counts %+v, want %+v", set.Lineage.Counts, counts)
	}
	if set.Lineage.SpecHash != spec.Hash() || set.Lineage.Exploration != spec.Exploration || set.Lineage.Sequence != 1 {
		t.Errorf("lineage %+v does not name its exploration", set.Lineage)
	}
}

func TestSelectFeaturesNeedsRows(t *testing.T) {
	rows := events(t, taskRegression, 300, 12, faults{})
	spec := plan(t, testSettings(taskRegression), rows, fullSpan(0))
	if _, err := SelectFeatures(spec, nil, noon); err == nil {
		t.Error("a set came of nothing")
	}
	if _, err := SelectFeatures(spec, []*wire.Checkpoint{newSubsampler(t, spec, fullSpan(0), nil).Checkpoint(noon)}, noon); err == nil {
		t.Error("a set came of no rows")
	}
}

func TestSelectFeaturesRefusesConstantLabels(t *testing.T) {
	s := testSettings(taskRegression)
	s.Exploration.SampleRate = 1
	rows := events(t, taskRegression, 300, 13, faults{})
	spec := plan(t, s, rows, fullSpan(0))
	constant := array.NewFloat64Builder(memory.DefaultAllocator)
	defer constant.Release()
	for range rows.NumRows() {
		constant.Append(500)
	}
	columns := slices.Clone(rows.Columns())
	columns[6] = constant.NewArray()
	defer columns[6].Release()
	flat := array.NewRecord(rows.Schema(), columns, rows.NumRows())
	defer flat.Release()
	sub := newSubsampler(t, spec, fullSpan(0), nil)
	if _, err := sub.Add(0, []arrow.Record{flat}); err != nil {
		t.Fatal(err)
	}
	if set, err := SelectFeatures(spec, []*wire.Checkpoint{sub.Checkpoint(noon)}, noon); err == nil {
		t.Fatalf("constant labels gave scores of up to %v", set.Lineage.Best)
	}
}

func TestPlainSet(t *testing.T) {
	set := explore(t, testSettings(taskClasses), []arrow.Record{events(t, taskClasses, 600, 14, faults{})}).Set
	plain := PlainSet(set)
	if err := plain.Validate(); err != nil {
		t.Fatal(err)
	}
	if plain.Set.Features.Len() != set.Set.Features.Len() || plain.Encoder != set.Encoder || plain.Set.Scale != set.Set.Scale {
		t.Fatal("a plain set differs in more than its candidates")
	}
	want := set.Candidates.DrawAll()
	n := len(plain.Set.Features.Omega)
	if !slices.Equal(plain.Set.Features.Omega, want.Omega[:n]) || !slices.Equal(plain.Set.Features.Phase, want.Phase[:plain.Set.Features.Len()]) {
		t.Fatal("plain features are not the first candidates")
	}
	if plain.ID() == set.ID() {
		t.Fatal("two sets, one id")
	}
	NewFeaturizer(plain, testSettings(taskClasses).Limits.decoder(), 1<<20) // it can be used

	s := testSettings(taskClasses)
	s.Exploration.BandwidthMix = []float64{0.5, 2, 8}
	mixed := explore(t, s, []arrow.Record{events(t, taskClasses, 600, 14, faults{})}).Set
	if got := PlainSet(mixed).Set.Features; !slices.Equal(got.Omega, want.Omega[:n]) || slices.Equal(mixed.Candidates.DrawAll().Omega, want.Omega) {
		t.Fatal("plain features have other bandwidths under a mix, or candidates have not")
	}
}

func TestOutdated(t *testing.T) {
	at := func(days int) time.Time { return noon.Add(-time.Duration(days) * 24 * time.Hour) }
	published := map[string]time.Time{"a": at(0), "b": at(1), "c": at(8), "d": at(9), "e": at(30), "e2": at(30)}
	for _, c := range []struct {
		keep int
		days int
		want []string
	}{
		{10, 7, nil},
		{6, 7, nil},
		{5, 7, []string{"e2"}}, // of equal times the first by name stays
		{3, 7, []string{"d", "e", "e2"}},
		{2, 7, []string{"d", "e", "e2"}}, // c was in use until b came, a day ago
		{1, 7, []string{"d", "e", "e2"}},
		{1, 0, []string{"c", "d", "e", "e2"}}, // b was in use until now
		{0, 0, []string{"c", "d", "e", "e2"}}, // the newest always stays
		{0, 100, nil},
	} {
		if got := outdated(published, c.keep, time.Duration(c.days)*24*time.Hour, noon); !slices.Equal(got, c.want) {
			t.Errorf("keep %d, %d days: %v, want %v", c.keep, c.days, got, c.want)
		}
	}
	replaced := map[string]time.Time{"new": noon.Add(-time.Minute), "old": at(30), "older": at(31)}
	if got := outdated(replaced, 1, 7*24*time.Hour, noon); !slices.Equal(got, []string{"older"}) {
		t.Errorf("of a set replaced a minute ago and one replaced 30 days ago: %v", got)
	}
	if got := outdated(nil, 3, 0, noon); got != nil {
		t.Errorf("nothing published: %v", got)
	}
}
