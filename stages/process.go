package stages

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/selection"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/subsample"
	"github.com/eerf-stream/eerf/stages/supervise"
	"github.com/eerf-stream/eerf/stages/topics"
	"github.com/eerf-stream/eerf/stages/train"
)

// Process runs stages.
type Process struct {
	// Env holds the resources that the stages share. Each stage receives it from [env.Env.For].
	Env      env.Env
	Settings Settings
	// Schema is the text of the schema file named by events.schema.
	Schema string
}

// NewProcess returns a process with new followers of the control topics and of live errors, and a
// meter at zero.
func NewProcess(broker pipeline.Broker, settings Settings, logger *zap.Logger) *Process {
	p := &Process{
		Env: env.Env{
			Broker:     broker,
			Topics:     settings.Topics,
			Pipeline:   settings.Pipeline.Name,
			State:      state.New(broker, logger, settings.State()),
			Meter:      meter.New(),
			Logger:     logger,
			Clock:      failpoint.Now,
			MaxAhead:   settings.Events.MaxAhead,
			Slots:      events.NewSlots(DefaultMessages()),
			Partitions: settings.Topics.Partitions,
			Quarantine: supervise.DefaultPolicy(),
		},
		Settings: settings,
	}
	clock := func() time.Time { return p.Env.Clock() } // read late: the clock may be replaced before the process runs
	p.Env.Live = live.NewFollower(broker, logger, clock, settings.Topics.Live, settings.Pipeline.Name)
	p.Env.Live.Events = settings.Topics.Events
	p.Env.Live.OnIgnored = func() { p.Env.Meter.AddUndecodable(settings.Topics.Live) }
	return p
}

// DefaultMessages is the default number of messages that a process works on at a time: enough for
// all processors, plus a few that wait for a broker.
func DefaultMessages() int { return runtime.GOMAXPROCS(0) + 2 }

// Run runs the named stages until ctx ends or one of them fails permanently. It waits for topics
// that do not exist yet or have too few partitions, and refuses a compacted events topic. After ctx
// has ended, a [meter.ErrUnfinished] names the unfinished work.
func (p *Process) Run(ctx context.Context, names ...meter.Stage) error {
	if err := p.Settings.CheckStages(names); err != nil {
		return err
	}
	err := pipeline.Try(ctx, p.Env.Logger, "check topics", func() error {
		return topics.Check(ctx, p.Env.Broker, p.Settings.Topics)
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if p.Env.Registry != nil {
		p.Env.Registry.Planned = func() []wire.SeenSchema {
			if spec := p.Env.State.Snapshot().Spec; spec != nil {
				return spec.Schemas
			}
			return nil
		}
	}
	p.Env.Meter.EndsWith(ctx.Done())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.Env.State.Run(ctx) })
	group.Go(func() error {
		p.Env.Live.Run(ctx)
		return nil
	})
	group.Go(func() error {
		p.Env.Meter.FollowEnds(ctx, p.Env.Broker, p.Env.Logger, p.Env.Clock)
		return nil
	})
	for _, one := range list {
		if !slices.Contains(names, one.name) {
			continue
		}
		group.Go(func() error {
			environment := p.Env.For(one.name)
			environment.Logger.Info("stage started")
			defer environment.Logger.Info("stage ended")
			if err := one.open(p, environment, names).Run(ctx); err != nil {
				return fmt.Errorf("stage %s: %w", one.name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return p.Env.Meter.Unfinished()
}

// Source returns how events are read.
func (p *Process) Source() events.Source {
	return events.Source{
		Limits:   p.Settings.Limits.Decoder(),
		Format:   p.Settings.Events.Format,
		Schema:   p.Schema,
		Registry: p.Env.Registry,
		Slots:    p.Env.Slots,
	}
}

// PlanSettings returns the settings that determine the plan of an exploration.
func (p *Process) PlanSettings() calibrate.Settings {
	settings := p.Settings.Plan()
	settings.Schema = p.Schema
	return settings
}

// Plan plans an exploration without publishing it.
func (p *Process) Plan(ctx context.Context, request calibrate.Request) (*calibrate.Planned, error) {
	return calibrate.Plan(ctx, p.Env.For(meter.StageCalibrate), p.PlanSettings(), request)
}

func (p *Process) planner(e env.Env) *calibrate.Planner {
	return &calibrate.Planner{Env: e, Settings: p.PlanSettings()}
}

func (p *Process) subsample(e env.Env) *subsample.Runner {
	return &subsample.Runner{
		Env:             e,
		Config:          p.Settings.Subsample,
		CandidateMemory: p.Settings.Exploration.CandidateMemory,
		MaxOutputs:      p.Settings.MostOutputs(),
	}
}

func (p *Process) selection(e env.Env, others []meter.Stage) *selection.Runner {
	workers := runtime.GOMAXPROCS(0)
	if slices.Contains(others, meter.StageFeaturize) { // featurize keeps one core
		workers = max(1, workers-1)
	}
	return &selection.Runner{
		Env:          e,
		SampleMemory: p.Settings.Exploration.SampleMemory,
		MaxOutputs:   p.Settings.MostOutputs(),
		Workers:      workers,
	}
}

func (p *Process) featurize(e env.Env) *featurize.Runner {
	return &featurize.Runner{
		Env:                     e,
		Config:                  p.Settings.Featurize,
		Source:                  p.Source(),
		Amplification:           p.Settings.Limits.Amplification,
		CompressedAmplification: p.Settings.Limits.CompressedAmplification,
		ClassMinRows:            p.classMinRows(),
		Threshold:               p.Settings.Predict.Threshold,
		PredictionColumn:        p.Settings.Live.PredictionColumn,
	}
}

// classMinRows is the number of rows of an unknown class after which featurize requests an
// exploration; 0 = never. A pipeline that uses the sets of another one never requests: the other
// pipeline's own processes do.
func (p *Process) classMinRows() int64 {
	if p.Settings.Featurize.SetsFrom != "" {
		return 0
	}
	return p.Settings.Events.UnknownClassRows()
}

func (p *Process) trainer(e env.Env) *train.Runner {
	return &train.Runner{Env: e, Config: p.Settings.Train, MaxOutputs: p.Settings.MostOutputs()}
}

// Trainer returns the stage train, for commands that fit one model.
func (p *Process) Trainer() *train.Runner { return p.trainer(p.Env.For(meter.StageTrain)) }

// Replayer returns the replayer of dead letters.
func (p *Process) Replayer() deadletter.Replayer {
	return deadletter.Replayer{Env: p.Env, Limits: p.Source().Limits}
}

// Committed returns the next offset of a partition of events that the group of subsample or
// featurize has committed, or -1. It is meant for monitoring: the owner may have progressed since,
// and does not necessarily resume there.
func (p *Process) Committed(ctx context.Context, stage meter.Stage, partition int) (nextOffset int64, err error) {
	found, err := p.Env.Broker.Committed(ctx, p.Settings.Group(stage), p.Settings.Topics.Events, partition)
	return found.Next, err
}

// Snapshot holds the counts and positions of a process at one moment. Its parts are taken one after
// another.
type Snapshot struct {
	meter.Snapshot
	Groups map[meter.Stage]pipeline.GroupStatus
	State  state.Snapshot
	Live   live.Report
}

// Snapshot returns the current counts and positions of the process.
func (p *Process) Snapshot() Snapshot {
	return Snapshot{
		Snapshot: p.Env.Meter.Snapshot(p.Env.Clock()),
		Groups:   p.Groups(),
		State:    p.Env.State.Snapshot(),
		Live:     p.Env.Live.Report(),
	}
}
