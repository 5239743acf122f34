// Package testdata finds the real data sets that tests read. The environment variable EERF_DATA
// names their folder. If it is not set, the nearest folder shared/data is used, in the checkout or
// beside it or any folder above it. Without a folder, the tests that need one are skipped.
package testdata

import (
	"os"
	"path/filepath"
	"testing"
)

// Variable is the environment variable that names the data folder.
const Variable = "EERF_DATA"

// Path returns the path of the data file name, such as "a9a.gz". If there is no data folder, or the
// file is not in it, the test is skipped with a message.
func Path(t testing.TB, name string) string {
	t.Helper()
	dir, ok := Dir()
	if !ok {
		t.Skipf("no data folder: set %s to the folder that holds %s", Variable, name)
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not in the data folder %s", name, dir)
	}
	return path
}

// Dir returns the data folder, and whether there is one.
func Dir() (string, bool) {
	if dir := os.Getenv(Variable); dir != "" {
		return dir, isDir(dir)
	}
	at, err := os.Getwd()
	if err != nil {
		return "", false
	}
	for {
		if dir := filepath.Join(at, "shared", "data"); isDir(dir) {
			return dir, true
		}
		above := filepath.Dir(at)
		if above == at {
			return "", false
		}
		at = above
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
