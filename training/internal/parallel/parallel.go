// Package parallel shares tasks among goroutines.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// leastWork is the number of float32 multiplications below which a second goroutine costs more than it saves: about a
// fifth of a millisecond.
const leastWork = 1 << 24

// Workers returns how many goroutines the tasks justify, at least one. work is the number of multiplications in all
// tasks, in float32; a float64 counts twice.
func Workers(tasks, work int) int {
	if work < leastWork {
		return 1
	}
	return max(1, min(runtime.GOMAXPROCS(0), tasks))
}

// For calls task once for each number below tasks, and returns when all are done. worker, below workers, identifies
// the goroutine; the first is the caller's own, so with one worker no goroutine is started. Numbers are handed out in
// order, each to the next free goroutine.
func For(workers, tasks int, task func(worker, number int)) {
	var next atomic.Int64
	work := func(worker int) {
		for n := int(next.Add(1)) - 1; n < tasks; n = int(next.Add(1)) - 1 {
			task(worker, n)
		}
	}
	var wait sync.WaitGroup
	for worker := 1; worker < workers; worker++ {
		wait.Go(func() { work(worker) })
	}
	work(0)
	wait.Wait()
}
