package adaptive

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/scoring"
)

// TestBytesBoundWhatIsInUse measures the memory in use every millisecond while the collector runs all the time.
func TestBytesBoundWhatIsInUse(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	for _, c := range []struct{ rows, dim, candidates, features, steps int }{
		{3000, 12, 1500, 100, 8},
		{1500, 300, 1000, 60, 8},
		{6000, 20, 600, 200, 4},
		{2000, 40, 5000, 50, 0},
	} {
		p := newBenchProblem(c.rows, c.dim, c.candidates, c.features)
		p.options.RefineSteps = c.steps
		runtime.GC()
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		before, most := memory.HeapAlloc, make(chan uint64)
		done := make(chan struct{})
		go func() { most <- mostInUse(done) }()
		_, err := Learn(p.candidates, p.sums, p.sample, scoring.Regression, p.options)
		close(done)
		got := int64(<-most) - int64(before) + int64(4*len(p.sample.X)) // the sample is counted
		if err != nil {
			t.Fatal(err)
		}
		bound := Bytes(p.candidates, c.rows, 1, p.options)
		t.Logf("%+v: %d bytes of %d", c, got, bound)
		if got > bound || got < bound/5 {
			t.Errorf("%+v: %d bytes in use, bound %d", c, got, bound)
		}
	}
}

// mostInUse returns the most bytes of the heap that were in use until done.
func mostInUse(done <-chan struct{}) (most uint64) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		most = max(most, memory.HeapAlloc)
		select {
		case <-done:
			return most
		case <-tick.C:
		}
	}
}
