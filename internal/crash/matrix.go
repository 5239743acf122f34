package crash

import (
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
)

// Cell is a named plan of the matrix.
type Cell struct {
	Name string
	Plan *Plan
	Hits []failpoint.Trigger // triggers that must fire
}

// killed lists the points at which successive processes are killed, one list per plan.
var killed = [][]failpoint.Point{
	{failpoint.PlanBefore, failpoint.PlanAfter, failpoint.SetBefore},
	{failpoint.SetBetween, failpoint.SetAfter, failpoint.RetireBefore},
	{failpoint.SamplesBefore, failpoint.SamplesAfter},
	{failpoint.SampleRead, failpoint.RoundBefore},
	{failpoint.CheckpointBefore, failpoint.CheckpointAfter, failpoint.RestoreBefore, failpoint.RestoreAfter},
	{failpoint.FeaturesBefore, failpoint.FeaturesAfter, failpoint.ResumeBefore, failpoint.ResumeAfter},
	{failpoint.DeadLettersAfter, failpoint.FetchBefore, failpoint.CommitAfter},
	{failpoint.BlocksBefore, failpoint.BlocksAfter},
	{failpoint.SubsampleDrain, failpoint.FeaturizeDrain},
	{failpoint.TrainRead, failpoint.ModelBefore, failpoint.ModelBetween, failpoint.ModelAfter},
}

// Matrix combines every point with every action of a failpoint, and adds every other action.
func Matrix(session time.Duration) []Cell {
	var cells []Cell
	for i, points := range killed {
		cells = append(cells, killCell(fmt.Sprintf("kill/%d", i), points, session))
	}
	for _, point := range failpoint.All() {
		cells = append(cells, stopCell(point, session))
	}
	for _, act := range Acts() {
		p := basePlan(session)
		p.Actions = []Action{
			{At: session, Act: act, Slot: "first", For: session * 3 / 2},
			{At: session * 3, Act: act, Slot: "first", For: session * 3 / 2},
		}
		if act == ActBroker {
			p.Actions = []Action{{At: session, Act: act, For: session / 2}}
		}
		cells = append(cells, Cell{Name: "any/" + string(act), Plan: p})
	}
	join := basePlan(session)
	join.Slots = append(join.Slots, Slot{Name: "third", Role: RoleAll, Start: session * 3 / 2})
	return append(cells, Cell{Name: "any/join", Plan: join})
}

// basePlan has two processes that share the work, the second with a later start, and a trainer.
func basePlan(session time.Duration) *Plan {
	return &Plan{
		Kind:      KindCrashes,
		Criterion: "adaptive",
		From:      wire.FromEarliest,
		Produce:   2 * session,
		Freeze:    session * 3 / 2,
		Slots: []Slot{
			{Name: "first", Role: RoleAll, Respawn: session / 4},
			{Name: "second", Role: RoleAll, Start: session, Respawn: session / 4},
			{Name: "train", Role: RoleTrain, Respawn: session / 4},
		},
	}
}

// pointPlan returns a plan whose processes act at some points, and the slot of these processes.
func pointPlan(points []failpoint.Point, session time.Duration) (*Plan, *Slot) {
	p := basePlan(session)
	if stageOf(points[0]) == "train" {
		return p, &p.Slots[2]
	}
	return p, &p.Slots[0]
}

// later is a passage of a point at which a crash loses work.
func later(point failpoint.Point) int {
	switch point {
	case failpoint.CheckpointBefore, failpoint.CheckpointAfter, failpoint.FeaturesBefore, failpoint.FeaturesAfter,
		failpoint.FetchBefore, failpoint.CommitAfter, failpoint.DeadLettersAfter:
		return 4
	}
	return 1
}

// killCell kills successive processes at the points; each runs alone for a while. A process passes
// the points of a shutdown after SIGTERM.
func killCell(name string, points []failpoint.Point, session time.Duration) Cell {
	p, slot := pointPlan(points, session)
	p.Slots[1].Start = time.Duration(2*len(points)) * session
	for i, point := range points {
		slot.Arms = append(slot.Arms, failpoint.Trigger{Point: point, Passage: later(point), Action: failpoint.Kill})
		if point == failpoint.FeaturizeDrain { // subsample drains at the end of its range
			p.Actions = append(p.Actions, Action{At: session * time.Duration(2+3*i), Act: ActLeave, Slot: slot.Name})
		}
	}
	return Cell{Name: name, Plan: p, Hits: slot.Arms}
}

// stopCell stops the first process at a point while the second one takes over. At points of a
// restart it stops the second process of a slot, which has state to restore.
func stopCell(point failpoint.Point, session time.Duration) Cell {
	p, slot := pointPlan([]failpoint.Point{point}, session)
	if !needsSample(point) {
		p.Criterion = "correlation" // sums alone, unlike the rest of the matrix
	}
	t := failpoint.Trigger{Point: point, Passage: later(point), Action: failpoint.Stop}
	slot.Arms = []failpoint.Trigger{t}
	switch point {
	case failpoint.RestoreBefore, failpoint.RestoreAfter, failpoint.ResumeBefore, failpoint.ResumeAfter:
		slot.Arms = []failpoint.Trigger{{}, t}
		p.Slots[1].Start = 2 * session
		p.Actions = []Action{{At: session, Act: ActKill, Slot: slot.Name}}
	case failpoint.SubsampleDrain, failpoint.FeaturizeDrain:
		p.Slots[1].Start = 2 * session
		p.Actions = []Action{{At: session, Act: ActLeave, Slot: slot.Name}}
	}
	return Cell{Name: string(failpoint.Stop) + "/" + string(point), Plan: p, Hits: []failpoint.Trigger{t}}
}

// missed lists the triggers of a cell that did not fire.
func (c *Cell) missed(r *Result) (missed []string) {
	for _, t := range c.Hits {
		if r.Hits[t.String()] == 0 {
			missed = append(missed, "not reached: "+t.String())
		}
	}
	return missed
}
