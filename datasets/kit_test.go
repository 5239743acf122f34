package datasets

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/files"
)

// write puts files into a new folder, by path.
func write(t testing.TB, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, content := range contents {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// csv opens a text with a header, two rows per record.
func csv(t testing.TB, text string) func() (RowReader, error) {
	t.Helper()
	path := filepath.Join(write(t, map[string]string{"rows.csv": text}), "rows.csv")
	return func() (RowReader, error) { return files.Open(path, files.Options{BatchRows: 2}) }
}

// table reads rows of texts with the label y.
func table(t testing.TB, task, train, test string) *Table {
	t.Helper()
	var openTest func() (RowReader, error)
	if test != "" {
		openTest = csv(t, test)
	}
	read, err := ReadTable(t.Context(), "rows", encoder.Options{Label: []string{"y"}, Task: task}, csv(t, train), openTest)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(read.Release)
	return read
}
