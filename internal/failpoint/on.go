//go:build failpoints && unix

package failpoint

import (
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
	passages = map[Point]int{}
	triggers = mustParse(os.Getenv(Env))
	ahead    = mustParseClock(os.Getenv(EnvClock))
)

func mustParseClock(text string) time.Duration {
	if text == "" {
		return 0
	}
	ahead, err := time.ParseDuration(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return ahead
}

// Now is the time by the process's clock.
func Now() time.Time { return time.Now().Add(ahead) }

func mustParse(text string) []Trigger {
	parsed, err := Parse(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return parsed
}

// Hit passes a point and does what a trigger wants at this passage. A killed process does not return.
func Hit(point Point) {
	if len(triggers) == 0 {
		return
	}
	mu.Lock()
	defer mu.Unlock()
	passages[point]++
	for _, t := range triggers {
		if t.Point == point && t.Passage == passages[point] {
			note(t)
			act(t.Action)
		}
	}
}

// act ends or stops the process. The lock stays held, so that a dying process passes no other point.
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

func note(t Trigger) {
	file, err := os.OpenFile(os.Getenv(EnvLog), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer file.Close()
	fmt.Fprintln(file, t)
}
