package stages

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/meter"
)

// runner is a stage of a process.
type runner interface {
	// Run runs the stage until ctx ends or it fails permanently.
	Run(ctx context.Context) error
}

// entry describes a stage. It holds all differences between stages outside their own packages.
type entry struct {
	name meter.Stage
	// open returns the stage; others are all stages of the process.
	open func(p *Process, e env.Env, others []meter.Stage) runner
	// needs returns the maximum memory of the stage.
	needs       func(Settings, MemoryLoad) []MemoryNeed
	readsEvents bool // all readable events
	// explores is set if the stage takes part in explorations, whose results depend on the numeric
	// kernel.
	explores bool
	// borrows is set if the stage runs in a pipeline that uses the feature sets of another one.
	borrows bool
}

// list holds all stages in the order in which rows pass through them.
var list = []entry{
	{
		name:        meter.StageCalibrate,
		open:        func(p *Process, e env.Env, _ []meter.Stage) runner { return p.planner(e) },
		needs:       Settings.calibrateNeeds,
		readsEvents: true,
		explores:    true,
	},
	{
		name:        meter.StageSubsample,
		open:        func(p *Process, e env.Env, _ []meter.Stage) runner { return p.subsample(e) },
		needs:       Settings.subsampleNeeds,
		readsEvents: true,
		explores:    true,
	},
	{
		name:     meter.StageSelection,
		open:     func(p *Process, e env.Env, others []meter.Stage) runner { return p.selection(e, others) },
		needs:    Settings.selectionNeeds,
		explores: true,
	},
	{
		name:        meter.StageFeaturize,
		open:        func(p *Process, e env.Env, _ []meter.Stage) runner { return p.featurize(e) },
		needs:       Settings.featurizeNeeds,
		readsEvents: true,
		borrows:     true,
	},
	{
		name:  meter.StageTrain,
		open:  func(p *Process, e env.Env, _ []meter.Stage) runner { return p.trainer(e) },
		needs: Settings.trainNeeds,
	},
}

// namesOf lists the stages that have a property.
func namesOf(has func(entry) bool) (names []meter.Stage) {
	for _, one := range list {
		if has(one) {
			names = append(names, one.name)
		}
	}
	return names
}

// Names lists all stages, in the order in which rows pass through them.
func Names() []meter.Stage { return namesOf(func(entry) bool { return true }) }

// ReadEvents reports whether any of the stages reads events.
func ReadEvents(names []meter.Stage) bool {
	return intersects(names, namesOf(func(e entry) bool { return e.readsEvents }))
}

// Explore reports whether the result of an exploration depends on any of the stages.
func Explore(names []meter.Stage) bool {
	return intersects(names, namesOf(func(e entry) bool { return e.explores }))
}

func intersects(a, b []meter.Stage) bool {
	return slices.ContainsFunc(a, func(name meter.Stage) bool { return slices.Contains(b, name) })
}

// Texts returns stage names as strings, in the form of the flags.
func Texts(names []meter.Stage) []string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return texts
}

// Parse returns the stages with these names.
func Parse(texts []string) ([]meter.Stage, error) {
	all := strings.Join(Texts(Names()), ", ")
	if len(texts) == 0 {
		return nil, fmt.Errorf("no stage is named; the stages are %s", all)
	}
	names := make([]meter.Stage, len(texts))
	for i, text := range texts {
		names[i] = meter.Stage(text)
		if !slices.Contains(Names(), names[i]) {
			return nil, fmt.Errorf("unknown stage %q; the stages are %s", text, all)
		}
	}
	return names, nil
}
