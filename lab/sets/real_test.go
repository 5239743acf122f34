package sets

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/internal/testdata"
)

// loadReal loads a set from the data folder, or skips the test.
func loadReal(t *testing.T, name string) (*Set, *Table) {
	t.Helper()
	set, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	dir, ok := testdata.Dir()
	if !ok {
		t.Skipf("no data folder: set %s", testdata.Variable)
	}
	if missing := set.Missing(dir); len(missing) > 0 {
		t.Skipf("%s has no %s", dir, filepath.Join(missing...))
	}
	table, err := set.Load(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(table.Release)
	return set, table
}

// realSets are the sets with the known numbers of rows by class in both parts.
var realSets = []struct {
	name        string
	train, test []int
}{
	{"adult", []int{24720, 7841}, []int{12435, 3846}},
	{"a9a", []int{24720, 7841}, []int{12435, 3846}},
	{"mnist", []int{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}, []int{
		980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009,
	}},
	{"letter", nil, nil},
	{"har", []int{1226, 1073, 986, 1286, 1374, 1407}, []int{496, 471, 420, 491, 532, 537}},
	{"news", nil, nil},
	{"news-log", nil, nil},
	{"year", nil, nil},
	{"airfoil", nil, nil},
	{"concrete", nil, nil},
	{"parkinsons", nil, nil},
	{"sml", nil, nil},
	{"skillcraft", nil, nil},
	{"pumadyn32nm", nil, nil},
	{"keggdirected", nil, nil},
}

func TestRealSetsHaveTheirPublishedRowsAndClasses(t *testing.T) {
	for _, c := range realSets {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && !slices.Contains([]string{"adult", "a9a", "letter"}, c.name) {
				t.Skip("large")
			}
			set, table := loadReal(t, c.name)
			d := set.Defaults
			split, err := table.Split(datasets.SplitOptions{
				Seed:         1,
				TestFraction: d.TestFraction,
				Standardize:  d.Standardize,
				Clip:         d.Clip,
			})
			if err != nil {
				t.Fatal(err)
			}
			if found := split.Report.Telltales; len(found) > 0 {
				t.Errorf("false alarm: %v", found)
			}
			checkPart(t, set, split.Train, set.TrainRows, c.train)
			checkPart(t, set, split.Test, set.TestRows, c.test)
			if (datasets.LeftOut{}) != split.TrainLeftOut || (datasets.LeftOut{}) != split.TestLeftOut {
				t.Errorf("left out %+v and %+v", split.TrainLeftOut, split.TestLeftOut)
			}
			if table.Fixed() != d.Fixed {
				t.Errorf("fixed %v", table.Fixed())
			}
			if d.Clip == 0 {
				checkStandardized(t, split.Train)
			}
			if len(table.masks) != d.Splits {
				t.Errorf("%d published splits, want %d", len(table.masks), d.Splits)
			}
		})
	}
}

// constants are the numbers of constant columns, which have no dimension.
var constants = map[string]int{"sml": 4, "keggdirected": 1}

func checkPart(t *testing.T, set *Set, d *datasets.Data, rows int, classes []int) {
	t.Helper()
	dim := set.Dim - constants[set.Name]
	if d.N != rows || d.Dim != dim || d.Classes != set.Classes || len(d.X) != d.N*d.Dim || d.Name != set.Name {
		t.Fatalf("%s: %d rows of %d dimensions, %d values, %d classes; want %d of %d, %d classes",
			d.Name, d.N, d.Dim, len(d.X), d.Classes, rows, dim, set.Classes)
	}
	if set.Classes == 0 {
		if len(d.Y) != d.N || d.Class != nil {
			t.Errorf("%d labels", len(d.Y))
		}
		return
	}
	found := make([]int, d.Classes)
	for _, k := range d.Class {
		found[k]++
	}
	if classes != nil && !slices.Equal(found, classes) {
		t.Errorf("rows of each class %v, want %v", found, classes)
	}
	if slices.Min(found) == 0 || len(d.Class) != d.N {
		t.Errorf("rows of each class %v", found)
	}
}

// checkStandardized checks that every column of the training rows has mean 0, and deviation 1 or 0.
func checkStandardized(t *testing.T, d *datasets.Data) {
	t.Helper()
	for j := range d.Dim {
		var sum, squares, fourths float64
		for i := j; i < len(d.X); i += d.Dim {
			v := float64(d.X[i])
			sum += v
			squares += v * v
			fourths += v * v * v * v
		}
		n := float64(d.N)
		mean, square := sum/n, squares/n
		if fourths/n >= square*square*encoder.DefaultCalibrationRows/4 {
			continue // too few rows differ from the others for the calibration rows to have some
		}
		// Six standard errors of the moments of the calibration rows.
		ofMean := 6 * math.Sqrt(square/encoder.DefaultCalibrationRows)
		ofSquare := 6 * math.Sqrt((fourths/n-square*square)/encoder.DefaultCalibrationRows)
		if math.Abs(mean) > ofMean+1e-4 || math.Abs(square-1) > ofSquare+1e-3 {
			t.Fatalf("column %d has mean %g and mean square %g", j, mean, square)
		}
	}
}
