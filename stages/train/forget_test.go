package train

import (
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/training"
)

// flipped returns the rows with the opposite label: the other class, or the number on the other
// side of the mean.
func flipped(t *testing.T, rows arrow.Record) arrow.Record {
	t.Helper()
	at := rows.Schema().FieldIndices("y")[0]
	var made arrow.Array
	switch label := rows.Column(at).(type) {
	case *array.Float64:
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		defer b.Release()
		mean, _ := training.MeanAndError(label.Float64Values())
		for _, y := range label.Float64Values() {
			b.Append(2*mean - y)
		}
		made = b.NewArray()
	case *array.String:
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		other := map[string]string{"no": "yes", "yes": "no"}
		for i := range label.Len() {
			b.Append(other[label.Value(i)])
		}
		made = b.NewArray()
	default:
		t.Fatalf("labels are %v", label.DataType())
	}
	defer made.Release()
	columns := append([]arrow.Array(nil), rows.Columns()...)
	columns[at] = made
	rec := array.NewRecord(rows.Schema(), columns, rows.NumRows())
	t.Cleanup(rec.Release)
	return rec
}

// relabelled returns the rows with other labels.
func relabelled(t *testing.T, rows arrow.Record, label func(row int, y float64) float64) arrow.Record {
	t.Helper()
	at := rows.Schema().FieldIndices("y")[0]
	labels := slices.Clone(rows.Column(at).(*array.Float64).Float64Values())
	for row, y := range labels {
		labels[row] = label(row, y)
	}
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(labels, nil)
	made := b.NewArray()
	defer made.Release()
	columns := slices.Clone(rows.Columns())
	columns[at] = made
	changed := array.NewRecord(rows.Schema(), columns, rows.NumRows())
	t.Cleanup(changed.Release)
	return changed
}

// trained returns the model of rows in order, trained as a stream or as a file, which forgets
// nothing.
func trained(t *testing.T, set *wire.FeatureSet, config Config, stream bool, batches ...arrow.Record) *wire.Model {
	t.Helper()
	trainer, err := NewFile(set, config, "rows", nil)
	if err != nil {
		t.Fatal(err)
	}
	trainer.trainer.ages = stream
	for _, batch := range batches {
		if err := trainer.Add(batch); err != nil {
			t.Fatal(err)
		}
	}
	return solve(t, trainer.trainer)
}

// errorOn returns the error of a model on fresh rows, in percent.
func errorOn(t *testing.T, set *wire.FeatureSet, model *wire.Model, rows arrow.Record) float64 {
	t.Helper()
	e, err := Evaluate(set, model, []arrow.Record{rows})
	if err != nil {
		t.Fatal(err)
	}
	return e.Error()
}

var forgetting = []struct {
	task   string
	config func() Config
}{{stagestest.Regression, trainConfig}, {stagestest.Binary, trainConfig}, {stagestest.Binary, logisticConfig}}

// After the relation has turned, a model that forgets follows within a few of the shortest
// half-lives and reports its error on the newest rows. A model that cannot forget stays wrong.
func TestForgettingFollowsAChange(t *testing.T) {
	for _, c := range forgetting {
		config := c.config()
		before := stagestest.Events(t, c.task, 12_000, 71, stagestest.Faults{})
		after := flipped(t, stagestest.Events(t, c.task, 8000, 72, stagestest.Faults{}))
		fresh := flipped(t, stagestest.Events(t, c.task, 4000, 73, stagestest.Faults{}))
		set := featureSet(t, c.task, before)
		forgets, never := trained(t, set, config, true, before, after), trained(t, set, config, false, before, after)
		was := errorOn(t, set, trained(t, set, config, false, before),
			stagestest.Events(t, c.task, 4000, 74, stagestest.Faults{}))
		now, stays := errorOn(t, set, forgets, fresh), errorOn(t, set, never, fresh)
		if forgets.Metrics.HalfLife != halfLives[0] || never.Metrics.HalfLife != 0 {
			t.Errorf("%s, %s: half-lives %v and %v", c.task, config.Loss, forgets.Metrics.HalfLife, never.Metrics.HalfLife)
		}
		if now > 2*was || stays < 1.5*now {
			t.Errorf("%s, %s: error %.1f %% before, %.1f %% after, %.1f %% without forgetting", c.task, config.Loss, was, now,
				stays)
		}
		if promised, _ := forgets.Metrics.Percent(); *promised > 2*now || *promised < now/2 {
			t.Errorf("%s, %s: promises %.1f %%, has %.1f %%", c.task, config.Loss, *promised, now)
		}
	}
}

// Without a change, forgetting is not worse.
func TestForgettingIsNotWorseWithoutChange(t *testing.T) {
	for _, c := range forgetting {
		var differences []float64
		for seed := range uint64(5) {
			rows := stagestest.Events(t, c.task, 10_000, 80+seed, stagestest.Faults{})
			fresh := stagestest.Events(t, c.task, 4000, 90+seed, stagestest.Faults{})
			set := featureSet(t, c.task, rows)
			with := errorOn(t, set, trained(t, set, c.config(), true, rows), fresh)
			differences = append(differences, with-errorOn(t, set, trained(t, set, c.config(), false, rows), fresh))
		}
		if mean, standard := training.MeanAndError(differences); mean > 2*standard+1e-3 {
			t.Errorf("%s, %s: %.3f ± %.3f points worse", c.task, c.config().Loss, mean, standard)
		}
	}
}

// Cells grow with age and keep every row, and only the newest can judge.
func TestCellsGrowWithAge(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 30_000, 91, stagestest.Faults{})
	set := featureSet(t, stagestest.Regression, rows)
	trainer, err := NewFile(set, trainConfig(), "rows", nil)
	if err != nil {
		t.Fatal(err)
	}
	trainer.trainer.ages = true
	if err := trainer.Add(rows); err != nil {
		t.Fatal(err)
	}
	cells := trainer.trainer.agedCells()
	sum, judging := int64(0), 0
	for i, c := range cells {
		sum += c.rows
		if !c.folded() {
			judging += c.heldOutRows(false)
		}
		if i > 0 && (c.folded() != cells[i-1].folded() && !c.folded() || float64(c.rows) > max(cellRows, c.age)) {
			t.Errorf("cell %d has %d rows at age %v, the newer one has %d", i, c.rows, c.age, cells[i-1].rows)
		}
	}
	if sum != trainer.trainer.Rows() || len(cells) > 20 || judging < newestRows || judging > 3*newestRows {
		t.Errorf("%d of %d rows in %d cells, %d judge", sum, trainer.trainer.Rows(), len(cells), judging)
	}
}

// Cells of several lanes are ordered by time, even while the open ones have no rows.
func TestCellsOfLanesAreOrderedByTime(t *testing.T) {
	set := featureSet(t, stagestest.Regression, stagestest.Events(t, stagestest.Regression, 400, 92, stagestest.Faults{}))
	trainer, err := New(set, trainConfig(), arrowio.DefaultLimits(), 3)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		for number, l := range trainer.lanes {
			l.open().rows = cellRows
			l.keep(&rowBuffers{}, stagestest.Noon.Add(time.Duration(10*i+number)*time.Second))
		}
	}
	cells := trainer.agedCells()
	for i, c := range cells[1:] {
		if newer := cells[i]; c.newest.After(newer.newest) || c.age < newer.age {
			t.Errorf("cell %d of %v, age %v, is after one of %v, age %v", i+1, c.newest, c.age, newer.newest, newer.age)
		}
	}
}
