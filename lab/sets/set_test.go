package sets

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/internal/testdata"
	"github.com/eerf-stream/eerf/scoring"
)

func TestEverySetIsComplete(t *testing.T) {
	for _, name := range Names() {
		s, err := Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		d := s.Defaults
		switch {
		case s.Name != name, s.Title == "", s.License == "", !strings.HasPrefix(s.Home,
			"http"), s.open == nil, len(s.Files) == 0:
			t.Errorf("%s has empty fields: %+v", name, s)
		case s.Dim < 1,
			s.TrainRows < 1,
			s.TestRows < 1,
			d.Candidates < d.Features[len(d.Features)-1],
			!slices.IsSorted(d.Features):
			t.Errorf("%s: %+v", name, s)
		case d.Sample <= 0, d.Sample > 1, (d.Fixed || d.Splits > 0) == (d.TestFraction != 0), d.Map != scoring.MapCosine:
			t.Errorf("%s: defaults %+v", name, d)
		case d.Splits == 0 && (d.Standardize != "all" || d.Clip != 0): // the paper's
			t.Errorf("%s: defaults %+v", name, d)
		case !d.Fixed && d.Splits == 0 && int(math.Round(d.TestFraction*float64(s.TrainRows+s.TestRows))) != s.TestRows:
			t.Errorf("%s: a fraction of %v does not give %d rows", name, d.TestFraction, s.TestRows)
		}
		for _, f := range s.Files {
			sum, err := hex.DecodeString(f.SHA256)
			if err != nil || len(sum) != 0 && len(sum) != 32 || f.Path == "" || len(f.URLs) == 0 {
				t.Errorf("%s: %+v", name, f)
			}
			for _, url := range f.URLs {
				if !strings.HasPrefix(url, "https://") {
					t.Errorf("%s: %s", name, url)
				}
			}
		}
	}
}

func TestUnknownSetsListTheKnown(t *testing.T) {
	if _, err := Lookup("adlut"); err == nil ||
		!strings.Contains(err.Error(), `"adlut": want one of adult, a9a, mnist, letter,`) {
		t.Error(err)
	}
}

func TestMissingFilesSayHowToGetThem(t *testing.T) {
	s, _ := Lookup("adult")
	dir := write(t, map[string]string{"adult.data": ""})
	_, err := s.Load(t.Context(), dir)
	if !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "no adult.test (nor any with .gz): run `lab fetch adult --data-dir "+dir) {
		t.Error(err)
	}
}

func TestDataFolderPrecedence(t *testing.T) {
	t.Setenv(Variable, "")
	if Dir("") != DefaultDir || Dir("x") != "x" {
		t.Error(Dir(""), Dir("x"))
	}
	t.Setenv(Variable, "y")
	if Dir("") != "y" || Dir("x") != "x" {
		t.Error(Dir(""), Dir("x"))
	}
}

const (
	adultTrain = `39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, United-States, <=50K
50, ?, 83311, Bachelors, 13, Married-civ-spouse, Sales, Husband, White, Male, 0, 0, 13, United-States, >50K

`
	adultTest = `|1x3 Cross validator
25, Private, 226802, 11th, 7, Never-married, Sales, Own-child, Black, Male, 0, 0, 40, United-States, <=50K.
44, Private, 160323, Bachelors, 10, Married-civ-spouse, Sales, Husband, Black, Male, 7688, 0, 40, ?, >50K.

`
)

func TestAdultAsPublished(t *testing.T) {
	s, _ := Lookup("adult")
	dir := write(t, map[string]string{"adult.data.gz": zipped(t, adultTrain), "adult.test": adultTest})
	d, err := s.Load(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Release()
	split, err := d.Split(datasets.SplitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(split.Train.Class, []int32{0, 1}) || !slices.Equal(split.Test.Class, []int32{0, 1}) {
		t.Errorf("classes %v and %v of %v", split.Train.Class, split.Test.Class, split.Encoder.Label.Classes)
	}
	if names := split.Encoder.FeatureNames(); !slices.Contains(names, "workclass=State-gov") ||
		slices.Contains(names, "workclass=?") ||
		names[0] != "age" {
		t.Errorf("features %v", names)
	}
}

func TestErrorsNameFileAndLine(t *testing.T) {
	s, _ := Lookup("adult")
	for _, c := range []struct{ train, test, says string }{
		{
			adultTrain,
			strings.Replace(adultTest, "44, ", "44", 1),
			"adult.test: line 3: the row has 14 fields where the first row has 15",
		},
		{adultTrain, "|1x3 Cross validator", "adult.test: the file is empty"},
		{strings.ReplaceAll(adultTrain, ", White", ""), adultTest, "column"},
	} {
		_, err := s.Load(t.Context(), write(t, map[string]string{"adult.data": c.train, "adult.test": c.test}))
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "data set adult: ") {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}

func TestNewsExcludesColumnsThatAreNoPredictors(t *testing.T) {
	text := "url, timedelta, n_tokens_title, shares\n" + strings.Repeat(
		"http://x, 731.0, 12.0, 100\nhttp://y, 5.0, 9.0, 10000\n",
		5,
	)
	dir := write(t, map[string]string{"OnlineNewsPopularity.csv": text})
	for name, means := range map[string]float64{"news": 5050, "news-log": 3 * math.Log(10)} {
		s, _ := Lookup(name)
		d, err := s.Load(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		split, err := d.Split(datasets.SplitOptions{Seed: 3, TestFraction: 0.2})
		d.Release()
		if err != nil {
			t.Fatal(err)
		}
		if got := split.Encoder.FeatureNames(); !slices.Equal(got, []string{"n_tokens_title"}) {
			t.Errorf("%s: features %v", name, got)
		}
		all := append(append([]float32(nil), split.Train.Y...), split.Test.Y...)
		var sum float64
		for _, y := range all {
			sum += float64(y) + split.Encoder.Label.Mean[0]
		}
		if math.Abs(sum/float64(len(all))-means) > 1e-3 || len(all) != 10 {
			t.Errorf("%s: mean label %v of %d, want %v", name, sum/float64(len(all)), len(all), means)
		}
	}
}

// activities are rows of measures and their labels.
func activities(rows, labels int) (x, y string) {
	var a, b strings.Builder
	for i := range rows {
		for j := range 561 {
			fmt.Fprintf(&a, " %16.7e", float64(i*j%5)/5)
		}
		a.WriteString("\n")
	}
	for i := range labels {
		fmt.Fprintf(&b, "%d\n", i%3+1)
	}
	return a.String(), b.String()
}

func TestHARJoinsLabelsToRows(t *testing.T) {
	s, _ := Lookup("har")
	x, y := activities(6, 6)
	for _, c := range []struct {
		labels int
		says   string
	}{{6, ""}, {5, "more rows than labels"}, {7, "1 more labels than rows"}} {
		_, labels := activities(0, c.labels)
		d, err := s.Load(t.Context(), write(t, map[string]string{
			"uci_har/X_train.txt":   x,
			"uci_har/y_train.txt":   y,
			"uci_har/X_test.txt.gz": zipped(t, x),
			"uci_har/y_test.txt":    labels,
		}))
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%d labels: %v, want %q", c.labels, err, c.says)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		split, err := d.Split(datasets.SplitOptions{})
		d.Release()
		if err != nil || split.Train.Dim != 561 || !slices.Equal(split.Test.Class, []int32{0, 1, 2, 0, 1, 2}) {
			t.Errorf("%+v, %v", split, err)
		}
	}
}

func TestSetsThatEndBeforeTheirTestRows(t *testing.T) {
	s, _ := Lookup("letter")
	_, err := s.Load(
		t.Context(),
		write(t, map[string]string{"letter-recognition.data": strings.Repeat("T,2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8\n", 10)}),
	)
	if err == nil || !strings.Contains(err.Error(), "no test rows") {
		t.Error(err)
	}
}

func TestYearColumnsFitTheSample(t *testing.T) {
	path := testdata.Path(t, "partial/YearPredictionMSD_first1176.csv.gz")
	columns := yearColumns()
	reader, err := folder(
		filepath.Dir(path),
	).delimited("YearPredictionMSD_first1176.csv", headless(columns), named(columns))()
	if err != nil {
		t.Fatal(err)
	}
	defer closeReader(reader)
	rec, err := reader.Next()
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	if rec.NumRows() != 1176 || rec.Column(0).(*array.Int64).Value(0) != 2001 || rec.ColumnName(90) != "timbre90" {
		t.Errorf("%d rows, first label %v", rec.NumRows(), rec.Column(0).ValueStr(0))
	}
}
