package failpoint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Names of the environment variables.
const (
	Env    = "EERF_FAILPOINT"
	EnvLog = "EERF_FAILPOINT_LOG"
	// EnvClock is the duration by which the clock of published times is ahead.
	EnvClock = "EERF_FAILPOINT_CLOCK"
)

// Action is the effect of a trigger on its own process.
type Action string

// The actions.
const (
	Kill Action = "kill" // SIGKILL
	Stop Action = "stop" // SIGSTOP
)

// Trigger is an action at the n-th passage of a point. The zero Trigger never fires.
type Trigger struct {
	Point   Point
	Passage int // from 1
	Action  Action
}

// String is the form that [Parse] reads.
func (t Trigger) String() string {
	if t.Point == "" {
		return ""
	}
	return fmt.Sprintf("%s@%d=%s", t.Point, t.Passage, t.Action)
}

// Parse reads a trigger; an empty text gives the zero Trigger. Every fault is an error: a program
// with a misspelt trigger would appear to survive it.
func Parse(text string) (Trigger, error) {
	if text == "" {
		return Trigger{}, nil
	}
	place, action, _ := strings.Cut(text, "=")
	point, passage, _ := strings.Cut(place, "@")
	n, err := strconv.Atoi(passage)
	t := Trigger{Point(point), n, Action(action)}
	if err != nil || n < 1 || !slices.Contains(All(), t.Point) || t.Action != Kill && t.Action != Stop {
		return Trigger{}, fmt.Errorf("failpoint %q: want POINT@N=kill or POINT@N=stop, N from 1", text)
	}
	return t, nil
}
