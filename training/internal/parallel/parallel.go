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

// Workers returns how many goroutines so many tasks are worth, at least one. work is what all of them multiply, in
// float32; a float64 counts twice.
func Workers(tasks, work int) int {
	if work < leastWork {
		return 1
	}
	return max(1, min(runtime.GOMAXPROCS(0), tasks))
}

// For calls task once for each number below tasks, and returns when all have ended. worker, below workers, is another for
// each goroutine; the first is the caller's own, so that a single one wakes nobody. Numbers are given out in order, the
// next one to who is free.
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
