package crash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
)

// Role is what a process of a schedule runs.
type Role string

// The roles.
const (
	RoleAll     Role = "all"     // every stage but train
	RolePlan    Role = "plan"    // calibrate, select
	RoleRows    Role = "rows"    // subsample, featurize
	RoleFeature Role = "feature" // featurize
	RoleTrain   Role = "train"   // trainer run
)

// stages lists what a role runs, for --stages.
func (r Role) stages() string {
	return map[Role]string{
		RoleAll: "calibrate,subsample,select,featurize", RolePlan: "calibrate,select",
		RoleRows: "subsample,featurize", RoleFeature: "featurize",
	}[r]
}

// passes lists the points that a role comes by.
func (r Role) passes(criterion string) []failpoint.Point {
	var points []failpoint.Point
	for _, p := range failpoint.All() {
		stage := stageOf(p)
		switch {
		case criterion == "correlation" && needsSample(p):
		case r == RoleTrain && stage == "train", r != RoleTrain && strings.Contains(r.stages(), stage):
			points = append(points, p)
		}
	}
	return points
}

// needsSample is whether a point is passed under a criterion that needs rows alone.
func needsSample(p failpoint.Point) bool {
	return p == failpoint.SamplesBefore || p == failpoint.SamplesAfter || p == failpoint.SampleRead || p == failpoint.RoundBefore
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
		return "select"
	case "train", "model":
		return "train"
	}
	return "featurize"
}

// Slot is a place for a process. One that ends too early is followed by another one.
type Slot struct {
	Name    string
	Role    Role
	Start   time.Duration       // when the first one starts
	Arms    []failpoint.Trigger // of the first process, the second, …; none for those after
	Respawn time.Duration       // between the end of one and the start of the next
}

// Kind is something that is done to a slot, or to the broker.
type Kind string

// The kinds of actions.
const (
	ActKill   Kind = "kill"   // SIGKILL
	ActFreeze Kind = "freeze" // SIGSTOP, then SIGCONT
	ActLeave  Kind = "leave"  // SIGTERM: an orderly end
	ActBroker Kind = "broker" // SIGKILL of the broker, then its restart
)

// Kinds lists the kinds of actions. A join is a slot that starts late.
func Kinds() []Kind { return []Kind{ActKill, ActFreeze, ActLeave, ActBroker} }

// Spoil is something that happens to the samples of an exploration before they are read.
type Spoil string

// What may happen.
const (
	SpoilNothing Spoil = ""
	SpoilLose    Spoil = "lose"   // all that are there are deleted
	SpoilDamage  Spoil = "damage" // a message of the same rows with other numbers comes before them
)

// Action is done once, to whatever process the slot has then.
type Action struct {
	At   time.Duration
	Kind Kind
	Slot string        // none for the broker
	For  time.Duration // how long a freeze or the absence of the broker lasts
}

// Plan is everything that a schedule does. Times are from its start; what the processes make of it is up to the machine.
type Plan struct {
	Seed      uint64 // 0 for one that was not drawn
	Input     uint64
	Criterion string
	From      wire.From     // what part of the log explorations read
	Spoil     Spoil         // what is done to the samples, once, while a process stands at one of their points
	Produce   time.Duration // over which the input is sent
	Freeze    time.Duration // of a process that stopped itself at a point
	Slots     []Slot
	Actions   []Action
}

// overlaps is whether the plan has what may put rows into features twice: a process that was paused and taken for dead,
// which has a partition together with its successor, or a broker that dies between a write and its acknowledgement.
func (p *Plan) overlaps() bool {
	for _, s := range p.Slots {
		if slices.ContainsFunc(s.Arms, func(t failpoint.Trigger) bool { return t.Action == failpoint.Stop }) {
			return true
		}
	}
	return p.has(ActFreeze) || p.has(ActBroker)
}

func (p *Plan) has(kind Kind) bool {
	return slices.ContainsFunc(p.Actions, func(a Action) bool { return a.Kind == kind })
}

// String describes the plan in one line for each slot and action.
func (p *Plan) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d: input %d, %s from %s, sent in %v, stopped processes go on after %v, samples: %q\n",
		p.Seed, p.Input, p.Criterion, p.From, p.Produce, p.Freeze, p.Spoil)
	for _, s := range p.Slots {
		fmt.Fprintf(&text, "  %-5v slot %s (%s), %v\n", s.Start, s.Name, s.Role, s.Arms)
	}
	for _, a := range p.Actions {
		fmt.Fprintf(&text, "  %-5v %s %s %v\n", a.At, a.Kind, a.Slot, a.For)
	}
	return text.String()
}

// Draw makes the plan of a seed: the same one always. Times fit a session timeout.
func Draw(seed uint64, session time.Duration) *Plan {
	d := drawer{rand.New(rand.NewPCG(seed, 0xc4a54)), session}
	p := &Plan{Seed: seed, Input: d.Uint64(), Criterion: "correlation", From: wire.FromEarliest, Produce: d.between(2*session, 4*session)}
	if d.IntN(2) == 0 {
		p.Criterion = []string{"residual", "adaptive"}[seed%2] // not drawn: what follows stays as it was
		p.Spoil = []Spoil{SpoilNothing, SpoilLose, SpoilDamage}[d.IntN(3)]
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
	if p.Spoil != SpoilNothing {
		at := map[Spoil]failpoint.Point{SpoilLose: failpoint.SamplesAfter, SpoilDamage: failpoint.SamplesBefore}[p.Spoil]
		stop := failpoint.Trigger{Point: at, Passage: 1 + d.IntN(6), Action: failpoint.Stop}
		p.Slots[0].Arms = append([]failpoint.Trigger{stop}, p.Slots[0].Arms...)
	}
	for at := d.between(session/4, session); at < p.Produce+session; at += d.between(session/4, session*3/2) {
		p.Actions = append(p.Actions, d.action(at, p))
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

// slot draws when a slot starts and what its first processes do to themselves.
func (d drawer) slot(name string, role Role, p *Plan) Slot {
	s := Slot{Name: name, Role: role, Respawn: d.between(50*time.Millisecond, d.session)}
	if len(p.Slots) > 0 && d.IntN(3) == 0 {
		s.Start = d.between(d.session/4, p.Produce)
	}
	points := role.passes(p.Criterion)
	for range d.IntN(4) {
		t := failpoint.Trigger{Point: points[d.IntN(len(points))], Passage: 1 + d.IntN(1+d.IntN(8)), Action: failpoint.Kill}
		if d.IntN(3) == 0 {
			t.Action = failpoint.Stop
		}
		s.Arms = append(s.Arms, t)
	}
	return s
}

// action draws what is done to a slot or to the broker.
func (d drawer) action(at time.Duration, p *Plan) Action {
	a := Action{At: at, Slot: p.Slots[d.IntN(len(p.Slots))].Name}
	switch n := d.IntN(10); {
	case n < 3:
		a.Kind = ActKill
	case n < 6:
		a.Kind, a.For = ActFreeze, d.between(d.session*4/3, d.session*2)
	case n < 8:
		a.Kind = ActLeave
	default:
		a.Kind, a.Slot, a.For = ActBroker, "", d.between(100*time.Millisecond, d.session)
	}
	return a
}
