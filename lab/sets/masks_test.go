package sets

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/datasets"
)

// regressionFiles are 30 rows in the form of airfoil. Row i is a test row of split i mod 10.
func regressionFiles() map[string]string {
	var rows, masks strings.Builder
	for i := range 30 {
		fmt.Fprintf(&rows, "%d.5,%d,%d,1,%d,%d\n", i, i%4, i%7, i%3, 100+i)
		mask := strings.Split(strings.Repeat("0", publishedSplits), "")
		mask[i%publishedSplits] = "1"
		masks.WriteString(strings.Join(mask, ",") + "\n")
	}
	return map[string]string{
		"uci_regression/airfoil.csv": rows.String(), "uci_regression/airfoil.test_mask.csv": masks.String(),
	}
}

// testLabels are the labels of the test rows in a seed's split, as in the file.
func testLabels(t *testing.T, table *Table, seed uint64) []float64 {
	t.Helper()
	split, err := table.Split(datasets.SplitOptions{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	if split.Train.N+split.Test.N != table.Rows() {
		t.Errorf("%d and %d rows", split.Train.N, split.Test.N)
	}
	labels := make([]float64, split.Test.N)
	for i, y := range split.Test.Y {
		labels[i] = math.Round(float64(y) + split.Encoder.Label.Mean[0])
	}
	return labels
}

func TestSeedSelectsAPublishedSplit(t *testing.T) {
	s, _ := Lookup("airfoil")
	table, err := s.Load(t.Context(), write(t, regressionFiles()))
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	if table.Fixed() {
		t.Error("a set with ten splits is reported as fixed")
	}
	for seed, first := range map[uint64]float64{1: 100, 2: 101, 10: 109, 11: 100, 0: 109} {
		got := testLabels(t, table, seed)
		if want := []float64{first, first + 10, first + 20}; !slices.Equal(got, want) {
			t.Errorf("seed %d: labels of the test rows %v, want %v", seed, got, want)
		}
	}
}

func TestFaultyMasks(t *testing.T) {
	s, _ := Lookup("airfoil")
	const masks = "uci_regression/airfoil.test_mask.csv"
	line := strings.Repeat("0,", publishedSplits-1) + "0\n"
	for says, change := range map[string]func(files map[string]string){
		"the masks have 31 rows, the data 30": func(files map[string]string) { files[masks] += line },
		"split 1 has 0 test rows of 30":       func(files map[string]string) { files[masks] = strings.Repeat(line, 30) },
		"row 1 of the masks has 2 in column 1": func(files map[string]string) {
			files[masks] = strings.Replace(files[masks], "1", "2", 1)
		},
		"has no uci_regression/airfoil.test_ma": func(files map[string]string) { delete(files, masks) },
	} {
		files := regressionFiles()
		change(files)
		if _, err := s.Load(t.Context(), write(t, files)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want %q in it", err, says)
		}
	}
}

func TestPublishedSplitsTakeEachRowOnce(t *testing.T) {
	for _, name := range Names() {
		if set, _ := Lookup(name); set.Defaults.Splits == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			_, table := loadReal(t, name)
			for i := range table.Rows() {
				times := 0
				for _, mask := range table.masks {
					if mask[i] {
						times++
					}
				}
				if times != 1 {
					t.Fatalf("row %d is a test row of %d splits", i+1, times)
				}
			}
		})
	}
}
