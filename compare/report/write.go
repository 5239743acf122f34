package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/compare"
)

// Names of the files that Write creates.
const (
	Page        = "report.html"
	ResultsJSON = "results.json"
)

// Prepare creates the folder of a report if necessary, and returns an error if it is not writable.
func Prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // a report is no secret
		return fmt.Errorf("make report folder: %w", err)
	}
	return files.CheckTarget(filepath.Join(dir, Page))
}

// Write writes the report into a folder, which it creates if necessary. It replaces files of the
// same names.
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
	return nil
}
