package parallel

import (
	"runtime"
	"sync/atomic"
	"testing"
)

func TestForCallsEveryTaskOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		for _, tasks := range []int{0, 1, 2, 100} {
			calls, busy := make([]atomic.Int32, tasks), make([]atomic.Int32, workers)
			Tasks(workers, tasks, func(worker, number int) {
				if busy[worker].Add(1) != 1 {
					t.Errorf("worker %d has two tasks at once", worker)
				}
				calls[number].Add(1)
				busy[worker].Add(-1)
			})
			for number := range calls {
				if n := calls[number].Load(); n != 1 {
					t.Errorf("%d workers: task %d of %d was called %d times", workers, number, tasks, n)
				}
			}
		}
	}
}

func TestWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, c := range []struct{ tasks, work, want int }{
		{0, 0, 1}, {0, leastWork, 1}, {10, leastWork - 1, 1}, {10, leastWork, 4}, {3, leastWork, 3},
	} {
		if got := Workers(c.tasks, c.work); got != c.want {
			t.Errorf("%d tasks of %d multiplications: %d workers, want %d", c.tasks, c.work, got, c.want)
		}
	}
}
