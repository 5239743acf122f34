package testdata

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDirIsTheOneThatTheVariableNames(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(Variable, dir)
	if got, ok := Dir(); !ok || got != dir {
		t.Fatalf("Dir() = %q, %v; want %q", got, ok, dir)
	}
	if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Path(t, "x"); got != filepath.Join(dir, "x") {
		t.Fatalf("Path = %q", got)
	}
}

func TestDirIsFoundAboveTheWorkingFolder(t *testing.T) {
	root := t.TempDir()
	want := filepath.Join(root, "shared", "data")
	below := filepath.Join(root, "checkout", "pkg")
	for _, dir := range []string{want, below} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(Variable, "")
	t.Chdir(below)
	got, ok := Dir()
	if !ok {
		t.Fatal("not found")
	}
	same, err := sameFile(got, want)
	if err != nil || !same {
		t.Fatalf("Dir() = %q, want %q (%v)", got, want, err)
	}
}

func TestPathSkipsWhereTheFileIsAbsent(t *testing.T) {
	t.Setenv(Variable, t.TempDir())
	var skipped bool
	t.Run("absent", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		Path(t, "absent.csv")
		t.Error("went on without the file")
	})
	if !skipped {
		t.Error("was not skipped")
	}
}

func sameFile(a, b string) (bool, error) {
	x, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	y, err := os.Stat(b)
	if err != nil {
		return false, err
	}
	return os.SameFile(x, y), nil
}
