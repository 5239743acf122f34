package hostile

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync/atomic"
	"time"
)

// softMemoryBytes is where the collector begins to work harder: far below the hard limit, so that
// memory that reaches that limit is live and not waiting to be collected.
const softMemoryBytes = 128 << 20

// work tries all mutants of a range in this process and leaves its report in dir. The first fault
// ends it.
func work(s Suite, all Range, dir string) error {
	progress, err := os.Create(filepath.Join(dir, progressFile))
	if err != nil {
		return err
	}
	defer progress.Close()
	debug.SetMemoryLimit(softMemoryBytes)
	debug.FreeOSMemory() // making the messages must not count
	if err := limitAddressSpace(s.MemoryBytes); err != nil {
		return fmt.Errorf("limit the address space: %w", err)
	}
	w := worker{suite: s, report: Report{Range: all, Reasons: map[string]int{}}, progress: progress, meter: newMeter()}
	defer w.watch()()
	for n := all.First; n < all.First+all.Count; n++ {
		if err := w.try(n); err != nil {
			return err
		}
	}
	w.report.LargestBytes, w.report.LargestAt = w.meter.largest, w.meter.largestAt
	raw, err := json.Marshal(w.report)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, reportFile), raw, 0o600)
}

// worker tries one mutant after another.
type worker struct {
	suite    Suite
	report   Report
	progress *os.File
	meter    *Meter
	mutant   []byte
	watched  atomic.Int64 // the number of the mutant at hand

	collected int64 // allocated bytes at the last garbage collection
}

// try runs one mutant. Its number is written to the file of progress first, so that whatever
// ends this process is known by it.
func (w *worker) try(n int) error {
	var number [8]byte
	binary.LittleEndian.PutUint64(number[:], uint64(n))
	if _, err := w.progress.WriteAt(number[:], 0); err != nil {
		return err
	}
	w.watched.Store(int64(n))
	w.mutant = w.suite.Make(random(w.report.Seed, n), w.mutant[:0])
	w.meter.at = n
	w.collect()
	began := processorTime()
	reason, err := w.suite.Try(w.meter, w.mutant)
	if took := processorTime() - began; took > w.report.Longest {
		w.report.Longest, w.report.LongestAt = took, n
	}
	if err == nil {
		err = w.meter.fault
	}
	if err == nil && reason == "" {
		err = fmt.Errorf("refused without a reason")
	}
	if err != nil {
		return fmt.Errorf("%w\nmutant of %d bytes kept in %s", err, len(w.mutant), keep(w.mutant))
	}
	w.report.Reasons[reason]++
	return nil
}

// collect collects garbage where a limit's worth was allocated since the last time. By itself the
// collector may be late on a busy machine, and the address space runs out.
func (w *worker) collect() {
	if now := w.meter.allocated(); now-w.collected > softMemoryBytes {
		w.collected = now
		runtime.GC()
	}
}

// keep writes a mutant to a place where it outlives the test.
func keep(mutant []byte) string {
	f, err := os.CreateTemp("", "mutant-*")
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if _, err := f.Write(mutant); err != nil {
		return err.Error()
	}
	return f.Name()
}

// watch ends the process when one mutant takes more processor time than the deadline, or waits for
// very long, until watch is stopped. Wall-clock time means little on a shared machine.
func (w *worker) watch() (stop func()) {
	ticker, stopped, done := time.NewTicker(w.suite.Deadline/20), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		at, cpu, wall := int64(-1), processorTime(), time.Now()
		for {
			select {
			case <-stopped:
				return
			case <-ticker.C:
			}
			if n := w.watched.Load(); n != at {
				at, cpu, wall = n, processorTime(), time.Now()
				continue
			}
			w.checkDeadline(at, processorTime()-cpu, time.Since(wall))
		}
	}()
	return func() {
		ticker.Stop()
		close(stopped)
		<-done
	}
}

// checkDeadline ends the process if a mutant has taken too long.
func (w *worker) checkDeadline(n int64, cpu, wall time.Duration) {
	const waits = 30 // how long to wait, as a multiple of the deadline
	if cpu <= w.suite.Deadline && wall <= waits*w.suite.Deadline {
		return
	}
	fmt.Fprintf(os.Stderr, "mutant %d is not done after %v of processor time, %v in all\n", n, cpu, wall)
	_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2) // the process ends either way
	os.Exit(3)
}
