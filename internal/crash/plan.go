package crash

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
)

// Role is the set of stages that a process runs.
type Role string

// The roles.
const (
	RoleAll     Role = "all"     // every stage except train
	RolePlan    Role = "plan"    // calibrate, select
	RoleRows    Role = "rows"    // subsample, featurize
	RoleFeature Role = "feature" // featurize
	RoleTrain   Role = "train"   // train
)

// stages lists the stages of a role, for --stages.
func (r Role) stages() string {
	return map[Role]string{
		RoleAll:     "calibrate,subsample,selection,featurize",
		RolePlan:    "calibrate,selection",
		RoleRows:    "subsample,featurize",
		RoleFeature: "featurize",
		RoleTrain:   "train",
	}[r]
}

// passes lists the points that a role passes.
func (r Role) passes(criterion string) []failpoint.Point {
	var points []failpoint.Point
	for _, p := range failpoint.All() {
		if strings.Contains(r.stages(), stageOf(p)) && !(criterion == "correlation" && needsSample(p)) {
			points = append(points, p)
		}
	}
	return points
}

// needsSample reports whether a point is passed only under a criterion that needs rows.
func needsSample(p failpoint.Point) bool {
	switch p {
	case failpoint.SamplesBefore, failpoint.SamplesAfter, failpoint.SampleRead, failpoint.RoundBefore:
		return true
	}
	return false
}

// stageOf is the stage that passes a point.
func stageOf(p failpoint.Point) string {
	kind, _, _ := strings.Cut(string(p), ".")
	switch kind {
	case "plan":
		return "calibrate"
	case "restore", "checkpoint", "samples", "subsample", "retire":
		return "subsample"
	case "sample", "round", "set":
		return "selection"
	case "train", "model":
		return "train"
	}
	return "featurize"
}

// Slot is a place for a process. If the process ends early, another one takes its place.
type Slot struct {
	Name    string
	Role    Role
	Start   time.Duration       // of the first process
	Arms    []failpoint.Trigger // of the first process, the second, …; later processes have no triggers
	Respawn time.Duration       // between the end of a process and the start of the next
	Clock   time.Duration       // by which the clock of its processes is ahead
}

// Act is a disturbance of a slot or of the broker. A kind of schedules may have its own acts.
type Act string

// The acts of every kind of schedules.
const (
	ActKill   Act = "kill"   // SIGKILL
	ActFreeze Act = "freeze" // SIGSTOP, then SIGCONT
	ActLeave  Act = "leave"  // SIGTERM: an orderly exit
	ActBroker Act = "broker" // SIGKILL of the broker, then its restart
)

// Acts lists the acts of every kind of schedules. Slots with a late start are joins.
func Acts() []Act { return []Act{ActKill, ActFreeze, ActLeave, ActBroker} }

// Action is performed once, on the current process of the slot.
type Action struct {
	At   time.Duration
	Act  Act
	Slot string        // empty for the broker
	For  time.Duration // of a freeze, or of the broker's absence
}

// Plan describes a schedule. Times count from its start; the processes' reactions depend on the
// machine.
type Plan struct {
	Seed      uint64 // 0 if it was not drawn
	Kind      Kind
	Input     uint64
	Criterion string
	From      wire.From     // where explorations begin in the log
	Produce   time.Duration // for sending the input
	Ahead     time.Duration // by which the clock for every other event is ahead
	Freeze    time.Duration // of a process that stopped itself at a point
	Slots     []Slot
	Actions   []Action
}

// overlaps reports whether the plan may lead to two owners at a time: a paused process with an
// expired session and its successor, or owners before and after a restart of the broker.
func (p *Plan) overlaps() bool {
	for _, s := range p.Slots {
		if slices.ContainsFunc(s.Arms, func(t failpoint.Trigger) bool { return t.Action == failpoint.Stop }) {
			return true
		}
	}
	return p.has(ActFreeze) || p.brokerDies()
}

// brokerDies reports whether the broker is down at some time.
func (p *Plan) brokerDies() bool { return p.has(ActBroker) || p.has(ActSave) || p.has(ActLose) }

func (p *Plan) has(act Act) bool {
	return slices.ContainsFunc(p.Actions, func(a Action) bool { return a.Act == act })
}

// String describes the plan in one line for each slot and action.
func (p *Plan) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d of %s: input %d, %s from %s, sent in %v, stopped processes resume after %v\n",
		p.Seed, p.Kind, p.Input, p.Criterion, p.From, p.Produce, p.Freeze)
	for _, s := range p.Slots {
		fmt.Fprintf(&text, "  %-5v slot %s (%s), %v, clock %+v\n", s.Start, s.Name, s.Role, s.Arms, s.Clock)
	}
	for _, a := range p.Actions {
		fmt.Fprintf(&text, "  %-5v %s %s %v\n", a.At, a.Act, a.Slot, a.For)
	}
	return text.String()
}

// Draw returns the plan of a seed and a kind. Times are multiples of the session timeout. Plans of
// one seed have the same crashes in every kind.
func Draw(kind Kind, seed uint64, session time.Duration) *Plan {
	d := drawer{rand.New(rand.NewPCG(seed, 0xc4a54)), session}
	p := &Plan{
		Seed:      seed,
		Kind:      kind,
		Input:     d.Uint64(),
		Criterion: "correlation",
		From:      wire.FromEarliest,
		Produce:   d.between(2*session, 4*session),
	}
	if d.IntN(2) == 0 {
		p.Criterion = []string{"residual", "adaptive"}[seed%2] // not drawn, to leave the following draws unchanged
	}
	if d.IntN(2) == 0 {
		p.From = wire.FromNext
	}
	p.Freeze = d.between(session*4/3, session*2)
	roles := []Role{RoleAll, []Role{RoleAll, RoleRows, RolePlan}[d.IntN(3)]}
	for range d.IntN(3) {
		roles = append(roles, []Role{RoleAll, RoleRows, RoleFeature}[d.IntN(3)])
	}
	roles = append(roles, RoleTrain)
	for i, role := range roles {
		p.Slots = append(p.Slots, d.slot(fmt.Sprintf("%s%d", role, i), role, p))
	}
	for at := d.between(session/4, session); at < p.Produce+session; at += d.between(session/4, session*3/2) {
		p.Actions = append(p.Actions, d.action(at, p))
	}
	if draw := p.Kind.rules().draw; draw != nil {
		draw(d, p)
		slices.SortStableFunc(p.Actions, func(a, b Action) int { return cmp.Compare(a.At, b.At) })
	}
	return p
}

type drawer struct {
	*rand.Rand
	session time.Duration
}

func (d drawer) between(low, high time.Duration) time.Duration {
	return (low + time.Duration(d.Int64N(int64(high-low)))).Round(time.Millisecond)
}

// slot draws the start of a slot and the triggers of its first processes.
func (d drawer) slot(name string, role Role, p *Plan) Slot {
	s := Slot{Name: name, Role: role, Respawn: d.between(50*time.Millisecond, d.session)}
	if len(p.Slots) > 0 && d.IntN(3) == 0 {
		s.Start = d.between(d.session/4, p.Produce)
	}
	points := role.passes(p.Criterion)
	for range d.IntN(4) {
		t := failpoint.Trigger{
			Point:   points[d.IntN(len(points))],
			Passage: 1 + d.IntN(1+d.IntN(8)),
			Action:  failpoint.Kill,
		}
		if d.IntN(3) == 0 {
			t.Action = failpoint.Stop
		}
		s.Arms = append(s.Arms, t)
	}
	return s
}

// action draws an act on a slot or on the broker.
func (d drawer) action(at time.Duration, p *Plan) Action {
	a := Action{At: at, Slot: p.Slots[d.IntN(len(p.Slots))].Name}
	switch n := d.IntN(10); {
	case n < 3:
		a.Act = ActKill
	case n < 6:
		a.Act, a.For = ActFreeze, d.between(d.session*4/3, d.session*2)
	case n < 8:
		a.Act = ActLeave
	default:
		a.Act = ActBroker
		a.Slot = ""
		a.For = d.between(100*time.Millisecond, d.session)
	}
	return a
}
