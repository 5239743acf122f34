// Package parallel distributes numbered tasks among goroutines.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// leastWork is the number of float32 multiplications below which a second goroutine costs more than
// it saves: about a fifth of a millisecond.
const leastWork = 1 << 24

// Workers returns the number of goroutines that the tasks justify, at least one. work is the number
// of float32 multiplications in all tasks; a float64 multiplication counts twice.
func Workers(tasks, work int) int {
	if work < leastWork {
		return 1
	}
	return max(1, min(runtime.GOMAXPROCS(0), tasks))
}

// Tasks calls task once for each number below tasks, and returns when all are done. worker, below
// workers, identifies the goroutine; the first is the caller's own, so one worker starts no
// goroutine. Each free goroutine takes the next number.
func Tasks(workers, tasks int, task func(worker, number int)) {
	var next atomic.Int64
	work := func(worker int) {
		for n := int(next.Add(1)) - 1; n < tasks; n = int(next.Add(1)) - 1 {
			task(worker, n)
		}
	}
	var others sync.WaitGroup
	for worker := 1; worker < workers; worker++ {
		others.Go(func() { work(worker) })
	}
	work(0)
	others.Wait()
}

// On calls work for the numbers 0..n-1 in chunks of up to size, on up to workers goroutines, and
// returns when all are done. 0 workers means GOMAXPROCS. A single worker gets all numbers in one
// call.
func On(workers, n, size int, work func(first, next int)) {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	chunks := (n + size - 1) / size
	workers = min(workers, chunks)
	if workers < 2 {
		if n > 0 {
			work(0, n)
		}
		return
	}
	Tasks(workers, chunks, func(_, chunk int) { work(chunk*size, min((chunk+1)*size, n)) })
}

// For is On with up to GOMAXPROCS workers. If big is false, it makes one call on the caller's own
// goroutine, because small inputs do not justify starting others.
func For(n, size int, big bool, work func(first, next int)) {
	workers := 0
	if !big {
		workers = 1
	}
	On(workers, n, size, work)
}
