package clitest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// programs holds the paths of the programs that the tests of a package have used so far, by name.
var programs = struct {
	sync.Mutex
	paths map[string]string
}{paths: map[string]string{}}

// Program returns the path of featurizer or trainer. The go command links it once for the tests of
// all packages, and keeps it in its cache.
func Program(t testing.TB, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds ", name)
	}
	programs.Lock()
	defer programs.Unlock()
	if programs.paths[name] == "" {
		path, err := build(name)
		if err != nil {
			t.Fatal(err)
		}
		programs.paths[name] = path
	}
	return programs.paths[name]
}

// build builds a tool of go.mod, unless it is in the cache.
func build(name string) (path string, err error) {
	// works for tests of another module, too
	root, err := printed("go", "list", "-m", "-f", "{{.Dir}}", "github.com/eerf-stream/eerf")
	if err != nil {
		return "", err
	}
	folder, err := os.Open(root)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	// Two processes at a time would both link, and one would run the file that the other is still
	// writing.
	if err := lock(folder); err != nil {
		return "", err
	}
	return printed("go", "tool", "-C", root, "-n", name)
}

// printed returns the line that a command prints.
func printed(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// Command is a program with its arguments, not yet started. It does not outlive the test.
func Command(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), Program(t, name), args...)
}
