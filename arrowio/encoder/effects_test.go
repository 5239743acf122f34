package encoder

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/scoring"
)

// storeRows returns rows with a store, a number and a label: the effect of the store, times a
// factor, plus noise.
func storeRows(stores, rows int, factor float64, seed uint64) arrow.Record {
	r := rand.New(rand.NewPCG(seed, 1))
	build := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "store", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64},
		{Name: "y", Type: arrow.BinaryTypes.String},
	}, nil))
	defer build.Release()
	effects := make([]float64, stores)
	for i := range effects {
		effects[i] = factor * r.NormFloat64()
	}
	for range rows {
		store := r.IntN(stores)
		build.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("S%04d", store))
		build.Field(1).(*array.Float64Builder).Append(r.NormFloat64())
		class := "no"
		if effects[store]+r.NormFloat64() > 0 {
			class = "yes"
		}
		build.Field(2).(*array.StringBuilder).Append(class)
	}
	return build.NewRecord()
}

func hashOfRow(row int32) uint64 { return scoring.Hash(7, 0, int64(row)) }

// learnEffects returns the encoder of all rows.
func learnEffects(t *testing.T, rec arrow.Record, o Options) *Encoder {
	t.Helper()
	c := NewCalibrator(o)
	if err := c.Add(rec); err != nil {
		t.Fatal(err)
	}
	e, _, err := c.Encoder()
	if err != nil {
		t.Fatal(err)
	}
	sums := NewEffectSums(e)
	if sums == nil {
		t.Fatal("no column has effects")
	}
	if err := sums.Add(rec, nil, hashOfRow); err != nil {
		t.Fatal(err)
	}
	e = sums.Encoder()
	if err := e.Validate(); err != nil {
		t.Fatal(err)
	}
	return e
}

// correlation returns the correlation of an encoded dimension with the labels.
func correlation(rows *Rows, j int) float64 {
	var x, y moment
	product := 0.0
	for i := range rows.N {
		a, b := float64(rows.X[i*rows.Dim+j]), float64(rows.Targets.Values[i])
		x.add(a)
		y.add(b)
		product += a * b
	}
	return (product/float64(rows.N) - x.mean*y.mean) / (x.scale() * y.scale())
}

// The effect of a row that teaches knows nothing about its own label: without an effect of stores
// it does not predict the label, while the effects of all rows seem to.
func TestEffectsLeaveOutTheLabelsOfRowsThatTeach(t *testing.T) {
	for _, c := range []struct {
		factor                 float64
		taughtLow, taughtHigh  float64
		leakedLow, leakedHight float64
	}{
		{factor: 0, taughtLow: -0.08, taughtHigh: 0.04, leakedLow: 0.3, leakedHight: 1},
		{factor: 1, taughtLow: 0.25, taughtHigh: 0.6, leakedLow: 0.4, leakedHight: 1},
	} {
		rec := storeRows(600, 4000, c.factor, 3)
		defer rec.Release()
		e := learnEffects(t, rec, Options{Label: []string{"y"}, Clip: DefaultClip})
		at := e.Columns[0].EffectDimension(0)
		if name := e.FeatureNames()[at]; name != "store, effect on the label" {
			t.Fatalf("dimension %d is %q", at, name)
		}
		var rows Rows
		rows.Teaching = hashOfRow
		if err := e.Encode(&rows, rec, nil); err != nil {
			t.Fatal(err)
		}
		if r := correlation(&rows, at); r < c.taughtLow || r > c.taughtHigh {
			t.Errorf("factor %v: rows that teach have correlation %.3f", c.factor, r)
		}
		rows.Teaching = nil
		if err := e.Encode(&rows, rec, nil); err != nil {
			t.Fatal(err)
		}
		if r := correlation(&rows, at); r < c.leakedLow || r > c.leakedHight {
			t.Errorf("factor %v: rows that only predict have correlation %.3f", c.factor, r)
		}
		if rows.Counts.UnseenCategory > 20 {
			t.Errorf("%d of the calibration rows have an unseen store", rows.Counts.UnseenCategory)
		}
	}
}

// Effects are shrunk by the number of rows that the variance within stores is worth.
func TestShrinkageFollowsTheVarianceBetweenValues(t *testing.T) {
	var priors []float64
	for _, factor := range []float64{0, 0.3, 1, 3} {
		rec := storeRows(300, 6000, factor, 5)
		priors = append(priors, learnEffects(t, rec, Options{Label: []string{"y"}}).Columns[0].Effects.Prior)
		rec.Release()
	}
	for i := 1; i < len(priors); i++ {
		if priors[i] >= priors[i-1] || priors[i] < leastPrior {
			t.Errorf("priors %v do not fall as stores differ more", priors)
		}
	}
}

// Effects stand at their dimension in every way of standardizing, follow their definition, and are
// 0 for unknown and missing values.
func TestEffectsFollowTheirDefinition(t *testing.T) {
	rec := storeRows(120, 3000, 1, 9)
	defer rec.Release()
	for _, standardize := range []string{StandardizeNumeric, StandardizeAll, StandardizeNone} {
		e := learnEffects(t, rec, Options{Label: []string{"y"}, Clip: DefaultClip, Standardize: standardize})
		text, err := e.CanonicalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var read Encoder
		if err := json.Unmarshal(text, &read); err != nil || !reflect.DeepEqual(&read, e) {
			t.Fatalf("%s: JSON gives another encoder (%v)", standardize, err)
		}
		f, at := e.Columns[0].Effects, e.Columns[0].EffectDimension(0)
		build := array.NewStringBuilder(memory.DefaultAllocator)
		build.AppendValues(append([]string{"nowhere", ""}, f.Values...), nil)
		build.AppendNull()
		stores := build.NewArray()
		x := array.NewFloat64Builder(memory.DefaultAllocator)
		x.AppendValues(make([]float64, stores.Len()), nil)
		schema := arrow.NewSchema(rec.Schema().Fields()[:2], nil)
		asked := array.NewRecord(schema, []arrow.Array{stores, x.NewArray()}, int64(stores.Len()))
		var rows Rows
		if err := e.Encode(&rows, asked, nil); err != nil {
			t.Fatal(err)
		}
		for i := range rows.N {
			want := 0.0
			if v := i - 2; v >= 0 && v < len(f.Values) {
				n, sum := 0.0, 0.0
				for fold := range EffectFolds {
					n += float64(f.Rows[v*EffectFolds+fold])
					sum += f.Sums[v*EffectFolds+fold]
				}
				want = (sum - n*f.Mean[0]) / (n + f.Prior) / f.Scale[0]
			}
			if got := rows.X[i*rows.Dim+at]; math.Abs(float64(got)-want) > 1e-6 {
				t.Errorf("%s: row %d has %v, want %v", standardize, i, got, want)
			}
		}
		if rows.Counts.UnseenCategory != 1 {
			t.Errorf("%s: %d unseen categories, want 1", standardize, rows.Counts.UnseenCategory)
		}
	}
}

func TestEffectsAreChecked(t *testing.T) {
	rec := storeRows(120, 3000, 1, 9)
	defer rec.Release()
	for name, change := range map[string]func(f *Effects){
		"unsorted values":   func(f *Effects) { f.Values[0], f.Values[1] = f.Values[1], f.Values[0] },
		"too few rows":      func(f *Effects) { f.Rows = f.Rows[1:] },
		"negative rows":     func(f *Effects) { f.Rows[0] = -1 },
		"too many sums":     func(f *Effects) { f.Sums = append(f.Sums, 1) },
		"an infinite sum":   func(f *Effects) { f.Sums[0] = math.Inf(1) },
		"a scale of 0":      func(f *Effects) { f.Scale[0] = 0 },
		"no prior":          func(f *Effects) { f.Prior = 0 },
		"a second output":   func(f *Effects) { f.Mean, f.Scale = []float64{0, 0}, []float64{1, 1} },
		"a mean that is no": func(f *Effects) { f.Mean[0] = math.NaN() },
	} {
		e := learnEffects(t, rec, Options{Label: []string{"y"}})
		change(e.Columns[0].Effects)
		if e.Validate() == nil {
			t.Errorf("%s: no fault", name)
		}
	}
}
