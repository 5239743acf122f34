package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/training"
)

// set is the results on one data set: the largest M of a file.
type set struct {
	*compare.Result
	table   compare.Table
	measure string                     // of the errors; empty = unexplained variance, or the one that decided
	errors  map[string]map[int]float64 // by method and repeat
}

// readResults reads the errors by a measure from the output files of `trainer compare`.
func readResults(paths []string, measure string) ([]*set, error) {
	if len(paths) == 0 {
		return nil, errors.New("no files: expected results.json of trainer compare --out")
	}
	var all []*set
	for _, path := range paths {
		r := &compare.Result{}
		if err := readJSON(path, r); err != nil {
			return nil, err
		}
		if len(r.Tables) == 0 || !r.Complete {
			return nil, fmt.Errorf("%s is not the result of a complete comparison", path)
		}
		at := slices.IndexFunc(all, func(s *set) bool { return s.Data.Name == r.Data.Name })
		if at < 0 {
			all, at = append(all, &set{Result: r, measure: measure, errors: map[string]map[int]float64{}}), len(all)
		}
		if err := all[at].add(r); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return all, nil
}

// add adds the largest M of a result. Methods may have been measured separately, because they are
// independent. Of two measurements of a method, the one with more repeats counts, or else the newer
// one.
func (s *set) add(r *compare.Result) error {
	table := r.Tables[len(r.Tables)-1]
	if s.table.M == 0 {
		s.table.M = table.M
	}
	if a, b := s.Data, r.Data; a.TrainRows != b.TrainRows || a.Dim != b.Dim || a.Candidates != b.Candidates ||
		a.SampleRows != b.SampleRows ||
		a.Sigma != b.Sigma || s.table.M != table.M {
		return fmt.Errorf("rows or settings differ from the previous file on %s", a.Name)
	}
	kept := map[string]bool{}
	for _, l := range table.Lines {
		if old := s.line(l.Method); old != nil && old.Repeats > l.Repeats {
			kept[l.Method] = true
			continue
		}
		s.table.Lines = append(slices.DeleteFunc(s.table.Lines, func(old compare.Line) bool {
			return old.Method == l.Method
		}), l)
		delete(s.errors, l.Method)
	}
	for _, run := range r.Runs {
		if run.M != s.table.M || run.Failure != "" || kept[run.Method] {
			continue
		}
		if s.errors[run.Method] == nil {
			s.errors[run.Method] = map[int]float64{}
		}
		percent, err := s.errorOf(run.Error, &run.Measures)
		if err != nil {
			return err
		}
		s.errors[run.Method][run.Repeat] = percent
	}
	return nil
}

// errorOf returns the error of a run by the measure of the set.
func (s *set) errorOf(decided float64, measures *training.Measures) (float64, error) {
	if s.measure == "" {
		if unexplained := measures.UnexplainedVariance; unexplained != nil {
			return *unexplained, nil
		}
		return decided, nil
	}
	for _, figure := range measures.Figures() {
		if figure.Name == s.measure {
			return figure.Value, nil
		}
	}
	return 0, fmt.Errorf("no %s was measured", s.measure)
}

// line returns the line of a method; nil if it was not measured.
func (s *set) line(method string) *compare.Line {
	for i := range s.table.Lines {
		if l := &s.table.Lines[i]; l.Method == method && l.Repeats > 0 {
			return l
		}
	}
	return nil
}

// trees are the results of scripts/trees.py.
type trees struct {
	Runs []struct {
		Dataset string  `json:"dataset"`
		Method  string  `json:"method"`
		Trees   int     `json:"trees"`
		Error   float64 `json:"error"`
		LogLoss float64 `json:"log_loss"` // of classes
		Repeat  int     `json:"repeat"`
		Seconds float64 `json:"train_seconds"`
		Predict float64 `json:"predict_microseconds"`
	} `json:"runs"`
}

// readTrees joins result files of scripts/trees.py, with the errors by a measure.
func readTrees(paths []string, measure string) (*trees, error) {
	all := &trees{}
	for _, path := range paths {
		var one trees
		if err := readJSON(path, &one); err != nil {
			return nil, err
		}
		all.Runs = append(all.Runs, one.Runs...)
	}
	if measure == training.MeasureLogLoss {
		for i := range all.Runs {
			all.Runs[i].Error = all.Runs[i].LogLoss
		}
	}
	return all, nil
}

// methods returns the names of the libraries in order of appearance.
func (t *trees) methods() []string {
	var names []string
	seen := map[string]bool{}
	for _, run := range t.Runs {
		if !seen[run.Method] {
			seen[run.Method] = true
			names = append(names, run.Method)
		}
	}
	return names
}

// size is a number of trees with its results.
type size struct {
	trees        int
	error        mean
	microseconds float64
	seconds      float64
}

// sizes returns the results of a library on a data set; files list them by rising numbers of trees.
func (t *trees) sizes(dataset, method string) []size {
	var order []int
	errors := map[int][]float64{}
	predict := map[int][]float64{}
	train := map[int][]float64{}
	for _, run := range t.Runs {
		if run.Dataset != dataset || run.Method != method {
			continue
		}
		if errors[run.Trees] == nil {
			order = append(order, run.Trees)
		}
		errors[run.Trees] = append(errors[run.Trees], run.Error)
		predict[run.Trees] = append(predict[run.Trees], run.Predict)
		train[run.Trees] = append(train[run.Trees], run.Seconds)
	}
	var all []size
	for _, n := range order {
		all = append(all, size{n, meanOf(errors[n]), slices.Min(predict[n]), stat.Mean(train[n], nil)})
	}
	return all
}

// mean is the mean of n values and its standard error, which is 0 for one value.
type mean struct {
	value, error float64
	n            int
}

func meanOf(values []float64) mean {
	value, deviation := stat.MeanStdDev(values, nil)
	if len(values) < 2 {
		return mean{value: value, n: len(values)}
	}
	return mean{value, deviation / math.Sqrt(float64(len(values))), len(values)}
}

func readJSON(path string, to any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
