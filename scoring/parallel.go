package scoring

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// parallel calls work for every chunk of up to size of 0..n-1, on up to GOMAXPROCS goroutines that take chunks
// from a common queue, and returns when all are done. When big is false it makes one call in the caller's own
// goroutine, which small inputs finish in less time than it takes to start others.
func parallel(n, size int, big bool, work func(first, next int)) {
	workers := min(runtime.GOMAXPROCS(0), (n+size-1)/size)
	if !big || workers < 2 {
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
