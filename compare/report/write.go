package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/compare"
	"github.com/eerf-stream/eerf/training"
)

// Names of the files that Write makes.
const (
	Page        = "report.html"
	ResultsCSV  = "results.csv"
	ResultsJSON = "results.json"
)

// Prepare makes the folder of a report, if necessary, and returns an error if no files can be written to
// it.
func Prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a report is no secret
		return fmt.Errorf("make report folder: %w", err)
	}
	return files.CheckTarget(filepath.Join(dir, Page))
}

// Write writes the report into a folder, which is made if necessary. Files of the same names are replaced.
func Write(dir string, r *compare.Result) error {
	if err := Prepare(dir); err != nil {
		return err
	}
	page, err := html(r)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("result as JSON: %w", err)
	}
	for name, content := range map[string][]byte{Page: page, ResultsJSON: append(text, '\n')} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil { //nolint:gosec // as above
			return fmt.Errorf("write report: %w", err)
		}
	}
	return writeCSV(filepath.Join(dir, ResultsCSV), measurementRows(r))
}

func writeCSV(path string, rows [][]string) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := csv.NewWriter(file).WriteAll(rows); err != nil {
		file.Close()
		return fmt.Errorf("write %s: %w", path, err)
	}
	return file.Close()
}

// measurementRows are the lines of results.csv.
func measurementRows(r *compare.Result) [][]string {
	rows := [][]string{{"method", "m", "features", "repeat", "seed", "error_percent", "unexplained_variance_percent", "log_loss", "auc", "rmse", "mae",
		"preprocess_seconds", "train_seconds", "test_seconds", "row_microseconds", "lambda", "lambda_at_edge", "iterations", "note", "failure"}}
	for _, run := range r.Runs {
		failed := number(run.Error)
		if run.Failure != "" {
			failed = ""
		}
		rows = append(rows, []string{
			run.Method, strconv.Itoa(run.M), strconv.Itoa(run.Features), strconv.Itoa(run.Repeat), strconv.FormatUint(run.Seed, 10),
			failed, figureOf(run, training.MeasureUnexplainedVariance), figureOf(run, "log_loss"), figureOf(run, "auc"), figureOf(run, "rmse"), figureOf(run, "mae"),
			number(run.Preprocess), number(run.Train), number(run.Test), number(run.RowMicroseconds), number(run.Lambda), strconv.FormatBool(run.AtEdge),
			strconv.Itoa(run.Iterations), run.Note, run.Failure,
		})
	}
	return rows
}

// figureOf writes a measure that is one number, "" if it was not measured.
func figureOf(run compare.Measurement, name string) string {
	for _, figure := range run.Measures.Figures() {
		if figure.Name == name {
			return number(figure.Value)
		}
	}
	return ""
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
