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

// Role is what a process of a schedule runs.
type Role string

// The roles.
const (
	RoleAll     Role = "all"     // every stage but train
	RolePlan    Role = "plan"    // calibrate, select
	RoleRows    Role = "rows"    // subsample, featurize
	RoleFeature Role = "feature" // featurize
	RoleTrain   Role = "train"   // train
)

// stages lists what a role runs, for --stages.
func (r Role) stages() string {
	return map[Role]string{
		RoleAll: "calibrate,subsample,selection,featurize", RolePlan: "calibrate,selection",
		RoleRows: "subsample,featurize", RoleFeature: "featurize", RoleTrain: "train",
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
		return "selection"
	case "train", "model":
		return "train"
	}
	return "featurize"
}

// Slot is a place for a process. If it ends early, another one takes its place.
type Slot struct {
	Name    string
	Role    Role
	Start   time.Duration       // of the first one
	Arms    []failpoint.Trigger // of the first process, the second, …; none for those after
	Respawn time.Duration       // between the end of one and the start of the next
	Clock   time.Duration       // how far the clock of its processes is ahead
}

// Act is something done to a slot or to the broker. A kind of schedules may have its own acts.
type Act string

// The acts of every kind of schedules.
const (
	ActKill   Act = "kill"   // SIGKILL
	ActFreeze Act = "freeze" // SIGSTOP, then SIGCONT
	ActLeave  Act = "leave"  // SIGTERM: an orderly exit
	ActBroker Act = "broker" // SIGKILL of the broker, then its restart
)

// Acts lists the acts of every kind of schedules. A slot that starts late is a join.
func Acts() []Act { return []Act{ActKill, ActFreeze, ActLeave, ActBroker} }

// Action is done once, to the current process of the slot.
type Action struct {
	At   time.Duration
	Act  Act
	Slot string        // none for the broker
	For  time.Duration // how long a freeze or the absence of the broker lasts
}

// Plan is everything that a schedule does. Times count from its start; what the processes make of it depends on the
// machine.
type Plan struct {
	Seed      uint64 // 0 if it was not drawn
	Kind      Kind
	Input     uint64
	Criterion string
	From      wire.From     // which part of the log explorations read
	Produce   time.Duration // over which the input is sent
	Ahead     time.Duration // how far the clock that dates every other event is ahead
	Freeze    time.Duration // of a process that stopped itself at a point
	Slots     []Slot
	Actions   []Action
}

// overlaps reports whether the plan may lead to two owners at a time: a paused process, taken for dead, that shares a
// partition with its successor, or a broker that is down.
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
	fmt.Fprintf(&text, "seed %d of %s: input %d, %s from %s, sent in %v, stopped processes go on after %v\n",
		p.Seed, p.Kind, p.Input, p.Criterion, p.From, p.Produce, p.Freeze)
	for _, s := range p.Slots {
		fmt.Fprintf(&text, "  %-5v slot %s (%s), %v, clock %+v\n", s.Start, s.Name, s.Role, s.Arms, s.Clock)
	}
	for _, a := range p.Actions {
		fmt.Fprintf(&text, "  %-5v %s %s %v\n", a.At, a.Act, a.Slot, a.For)
	}
	return text.String()
}

// Draw makes the plan of a seed and a kind, always the same. Times fit a session timeout. Plans of one seed have the same
// crashes whatever their kind.
func Draw(kind Kind, seed uint64, session time.Duration) *Plan {
	d := drawer{rand.New(rand.NewPCG(seed, 0xc4a54)), session}
	p := &Plan{Seed: seed, Kind: kind, Input: d.Uint64(), Criterion: "correlation", From: wire.FromEarliest, Produce: d.between(2*session, 4*session)}
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
		a.Act = ActKill
	case n < 6:
		a.Act, a.For = ActFreeze, d.between(d.session*4/3, d.session*2)
	case n < 8:
		a.Act = ActLeave
	default:
		a.Act, a.Slot, a.For = ActBroker, "", d.between(100*time.Millisecond, d.session)
	}
	return a
}
