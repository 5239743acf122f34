//go:build failpoints && unix

package failpoint

import (
	"cmp"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// Enabled reports whether this build has failpoints.
const Enabled = true

var (
	mu       sync.Mutex
	passages int // of the trigger's point so far
	trigger  = must(Parse(os.Getenv(Env)))
	ahead    = must(time.ParseDuration(cmp.Or(os.Getenv(EnvClock), "0")))
)

// must exits if the environment is invalid.
func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return value
}

// Now is the time by the process's clock.
func Now() time.Time { return time.Now().Add(ahead) }

// Hit counts a passage of a point and fires the trigger at its passage. A killed process does not
// return.
func Hit(point Point) {
	if point != trigger.Point {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	passages++
	if passages == trigger.Passage {
		note()
		act(trigger.Action)
	}
}

// act kills or stops the process. The caller holds the lock, so that a dying process does not pass
// its point again.
func act(action Action) {
	signal := syscall.SIGKILL
	if action == Stop {
		signal = syscall.SIGSTOP
	}
	_ = syscall.Kill(os.Getpid(), signal)
	if action == Kill {
		select {}
	}
}

func note() {
	file, err := os.OpenFile(os.Getenv(EnvLog), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	fmt.Fprintln(file, trigger)
}
