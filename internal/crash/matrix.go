package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
)

// Cell is one plan of the matrix, with its name.
type Cell struct {
	Name string
	Plan *Plan
	Hits []failpoint.Trigger // have to act
	Says string              // what a process has to say; empty = nothing
}

// killed lists points that one process after another is killed at, one list for each plan.
var killed = [][]failpoint.Point{
	{failpoint.PlanBefore, failpoint.PlanAfter, failpoint.SetBefore},
	{failpoint.SetBetween, failpoint.SetAfter, failpoint.RetireBefore},
	{failpoint.SamplesBefore, failpoint.SamplesAfter},
	{failpoint.SampleRead, failpoint.RoundBefore},
	{failpoint.CheckpointBefore, failpoint.CheckpointAfter, failpoint.RestoreBefore, failpoint.RestoreAfter},
	{failpoint.FeaturesBefore, failpoint.FeaturesAfter, failpoint.ResumeBefore, failpoint.ResumeAfter},
	{failpoint.DeadLettersAfter, failpoint.FetchBefore, failpoint.CommitAfter},
	{failpoint.SubsampleDrain, failpoint.FeaturizeDrain},
	{failpoint.TrainRead, failpoint.ModelBefore, failpoint.ModelBetween, failpoint.ModelAfter},
}

// Matrix is every point with every action of a failpoint, and every other action.
func Matrix(session time.Duration) []Cell {
	var cells []Cell
	for i, points := range killed {
		cells = append(cells, killCell(fmt.Sprintf("kill/%d", i), points, session))
	}
	for _, point := range failpoint.All() {
		cells = append(cells, stopCell(point, session))
	}
	for _, kind := range Kinds() {
		p := basePlan(session)
		p.Actions = []Action{
			{At: session, Kind: kind, Slot: "first", For: session * 3 / 2},
			{At: session * 3, Kind: kind, Slot: "first", For: session * 3 / 2},
		}
		if kind == ActBroker {
			p.Actions = []Action{{At: session, Kind: kind, For: session / 2}}
		}
		cells = append(cells, Cell{Name: "any/" + string(kind), Plan: p})
	}
	cells = append(cells, spoilCell(SpoilLose, failpoint.SamplesAfter, session), spoilCell(SpoilDamage, failpoint.SamplesBefore, session))
	join := basePlan(session)
	join.Slots = append(join.Slots, Slot{Name: "third", Role: RoleAll, Start: session * 3 / 2})
	return append(cells, Cell{Name: "any/join", Plan: join})
}

// basePlan has two processes that share the work, the second a little later, and a trainer.
func basePlan(session time.Duration) *Plan {
	return &Plan{
		Criterion: "adaptive", From: wire.FromEarliest, Produce: 2 * session, Freeze: session * 3 / 2,
		Slots: []Slot{
			{Name: "first", Role: RoleAll, Respawn: session / 4},
			{Name: "second", Role: RoleAll, Start: session, Respawn: session / 4},
			{Name: "train", Role: RoleTrain, Respawn: session / 4},
		},
	}
}

// pointPlan is a plan whose processes act at some points, and the slot of these processes.
func pointPlan(points []failpoint.Point, session time.Duration) (*Plan, *Slot) {
	p := basePlan(session)
	if stageOf(points[0]) == "train" {
		return p, &p.Slots[2]
	}
	return p, &p.Slots[0]
}

// later is the passage of a point at which there is something to lose.
func later(point failpoint.Point) int {
	switch point {
	case failpoint.CheckpointBefore, failpoint.CheckpointAfter, failpoint.FeaturesBefore, failpoint.FeaturesAfter,
		failpoint.FetchBefore, failpoint.CommitAfter, failpoint.DeadLettersAfter:
		return 4
	}
	return 1
}

// killCell has one process after another, for long alone, killed at points. Those of a shutdown are passed when it is
// told to end.
func killCell(name string, points []failpoint.Point, session time.Duration) Cell {
	p, slot := pointPlan(points, session)
	p.Slots[1].Start = time.Duration(2*len(points)) * session
	for i, point := range points {
		slot.Arms = append(slot.Arms, failpoint.Trigger{Point: point, Passage: later(point), Action: failpoint.Kill})
		if point == failpoint.SubsampleDrain || point == failpoint.FeaturizeDrain {
			p.Actions = append(p.Actions, Action{At: session * time.Duration(2+3*i), Kind: ActLeave, Slot: slot.Name})
		}
	}
	return Cell{Name: name, Plan: p, Hits: slot.Arms}
}

// stopCell has the first process stop at a point, while the second one takes over. Points of a restart are passed by the
// second process of a slot, with something to restore.
func stopCell(point failpoint.Point, session time.Duration) Cell {
	p, slot := pointPlan([]failpoint.Point{point}, session)
	if !needsSample(point) {
		p.Criterion = "correlation" // sums alone, as nothing else in the matrix
	}
	t := failpoint.Trigger{Point: point, Passage: later(point), Action: failpoint.Stop}
	slot.Arms = []failpoint.Trigger{t}
	switch point {
	case failpoint.RestoreBefore, failpoint.RestoreAfter, failpoint.ResumeBefore, failpoint.ResumeAfter:
		slot.Arms = []failpoint.Trigger{{}, t}
		p.Slots[1].Start = 2 * session
		p.Actions = []Action{{At: session, Kind: ActKill, Slot: slot.Name}}
	case failpoint.SubsampleDrain, failpoint.FeaturizeDrain:
		p.Slots[1].Start = 2 * session
		p.Actions = []Action{{At: session, Kind: ActLeave, Slot: slot.Name}}
	}
	return Cell{Name: string(failpoint.Stop) + "/" + string(point), Plan: p, Hits: []failpoint.Trigger{t}}
}

// spoilCell has something happen to the samples while the process that sends them stands still, for so short a time that it
// keeps its partitions. The selection has to notice.
func spoilCell(what Spoil, at failpoint.Point, session time.Duration) Cell {
	p, slot := pointPlan([]failpoint.Point{at}, session)
	p.Spoil, p.From, p.Freeze = what, wire.FromNext, session/10
	t := failpoint.Trigger{Point: at, Passage: 2, Action: failpoint.Stop}
	slot.Arms = []failpoint.Trigger{t}
	return Cell{Name: "samples/" + string(what), Plan: p, Hits: []failpoint.Trigger{t}, Says: "samples refused, the partition is read again"}
}

// Missed lists what had to happen in a cell and did not. Logs of the processes are in dir.
func (c *Cell) Missed(r *Result, dir string) (missed []string) {
	if c.Says != "" && !said(dir, c.Says) {
		missed = append(missed, "nobody said: "+c.Says)
	}
	for _, t := range c.Hits {
		if r.Hits[t.String()] == 0 {
			missed = append(missed, "not reached: "+t.String())
		}
	}
	return missed
}

// said is whether a process that has its log in dir said something.
func said(dir, text string) bool {
	logs, _ := filepath.Glob(filepath.Join(dir, "*.log")) // the pattern is well formed
	return slices.ContainsFunc(logs, func(path string) bool {
		log, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(log), text)
	})
}
