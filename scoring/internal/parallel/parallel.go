// Package parallel shares work on numbered things among goroutines.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// For is On with up to GOMAXPROCS workers. When big is false it makes one call in the caller's own
// goroutine, which small inputs finish in less time than it takes to start others.
func For(n, size int, big bool, work func(first, next int)) {
	workers := 0
	if !big {
		workers = 1
	}
	On(workers, n, size, work)
}

// On calls work for every chunk of up to size of 0..n-1, on up to workers goroutines that take chunks from a common
// queue, and returns when all are done. 0 workers means GOMAXPROCS.
func On(workers, n, size int, work func(first, next int)) {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if workers = min(workers, (n+size-1)/size); workers < 2 {
		if n > 0 {
			work(0, n)
		}
		return
	}
	var taken atomic.Int64
	drain := func() {
		for {
			first := int(taken.Add(int64(size))) - size
			if first >= n {
				return
			}
			work(first, min(first+size, n))
		}
	}
	var others sync.WaitGroup
	for range workers - 1 {
		others.Go(drain)
	}
	drain()
	others.Wait()
}
