package hostile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var (
	seedFlag  = flag.Uint64("mutant.seed", 1, "the `seed` of mutants")
	firstFlag = flag.Int("mutant.first", 0, "the `number` of the first mutant")
	countFlag = flag.Int("mutant.count", 0, "how `many` mutants are tried; 0 means the test's own number")
)

// workerEnv makes [Run] the worker of the process that set it; its value is the folder they share.
const workerEnv = "EERF_MUTANT_WORKER"

// Files of the shared folder.
const (
	progressFile = "progress" // the number of the mutant at hand, 8 bytes
	reportFile   = "report.json"
)

// Run tries count mutants, or as many as -mutant.count says; a tenth of count in short mode and
// under the race detector. The test that calls it is run again in another process, which must get
// to the same call.
func Run(t *testing.T, s Suite, count int) {
	t.Helper()
	if testing.Short() || RaceDetector {
		count /= 10
	}
	if *countFlag > 0 {
		count = *countFlag
	}
	report, err := run(t, s, Range{*seedFlag, *firstFlag, count})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(report)
}

// run is the worker in a process started as one, and otherwise starts it.
func run(t *testing.T, s Suite, all Range) (Report, error) {
	t.Helper()
	s = s.withDefaults()
	if dir := os.Getenv(workerEnv); dir != "" {
		if err := work(s, all, dir); err != nil {
			t.Fatal(err)
		}
		t.SkipNow() // the rest of the test is for the process that started this one
	}
	dir := t.TempDir()
	output, err := startWorker(t.Name(), all, dir)
	if err != nil {
		return Report{}, died(t, err, output, all.Seed, dir)
	}
	raw, err := os.ReadFile(filepath.Join(dir, reportFile))
	if err != nil {
		return Report{}, fmt.Errorf("the worker has left no report: %w\n%s", err, output)
	}
	var report Report
	return report, json.Unmarshal(raw, &report)
}

// startWorker runs the test of that name in another process and returns its output.
func startWorker(name string, all Range, dir string) (output []byte, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	pattern := "^" + strings.ReplaceAll(name, "/", "$/^") + "$"
	worker := exec.Command(self, "-test.run", pattern, "-test.timeout", "0",
		"-mutant.seed", fmt.Sprint(all.Seed), "-mutant.first", fmt.Sprint(all.First), "-mutant.count", fmt.Sprint(all.Count))
	worker.Env = append(os.Environ(), workerEnv+"="+dir)
	endWithParent(worker)
	runtime.LockOSThread() // the worker ends with it
	defer runtime.UnlockOSThread()
	return worker.CombinedOutput()
}

// died describes a worker that did not get to its end.
func died(t *testing.T, err error, output []byte, seed uint64, dir string) error {
	const shown = 8 << 10
	if len(output) > shown {
		output = bytes.Join([][]byte{output[:shown/2], output[len(output)-shown/2:]}, []byte("\n...\n"))
	}
	raw, readErr := os.ReadFile(filepath.Join(dir, progressFile))
	if readErr != nil || len(raw) != 8 {
		return fmt.Errorf("before the first mutant: %w\n%s", errors.Join(err, readErr), output)
	}
	n := binary.LittleEndian.Uint64(raw)
	return fmt.Errorf(
		"mutant %d of seed %d: %w\n%s\nreplay it: go test -run '^%s$' -mutant.seed %d -mutant.first %d -mutant.count 1",
		n,
		seed,
		err,
		output,
		t.Name(),
		seed,
		n,
	)
}
