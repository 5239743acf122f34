package stages

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/calibrate"
	"github.com/eerf-stream/eerf/stages/deadletter"
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

// Process is the stages that run in this process, with what they share.
type Process struct {
	Broker   pipeline.Broker
	Settings Settings
	State    *state.Follower
	// Live follows how good live predictions are; nil = that is not known.
	Live   *live.Follower
	Meter  *meter.Meter
	Logger *zap.Logger
	// Schema is the text of the schema that events.schema names. Registry has those that messages name; nil = there is
	// none.
	Schema   string
	Registry *events.Schemas
	// Slots are the memory in which messages are worked on. Partitions is how many of events the process holds at most.
	// Both bound its memory.
	Slots      *events.Slots
	Partitions int
	// DrainTimeout bounds the work that is finished after a shutdown has begun.
	DrainTimeout time.Duration
	// Tracer starts the spans of messages; nil = none, and traces pass from events to features as any header does.
	Tracer trace.Tracer
	// Now is the clock of published times; nil = the system's.
	Now func() time.Time
	// OneShot makes it an error when the data do not allow a plan or a selection, instead of waiting. The process also
	// ends when a partition fails, where a service would quarantine it.
	OneShot bool
	// Quarantine says when a partition whose work fails for good is tried again.
	Quarantine supervise.Policy
}

// NewProcess returns a process with a new follower of the control topics and a meter at zero.
func NewProcess(broker pipeline.Broker, settings Settings, logger *zap.Logger) *Process {
	p := &Process{
		Broker: broker, Settings: settings, Logger: logger, Meter: meter.New(),
		State: state.New(broker, logger, settings.State()), Slots: events.NewSlots(DefaultMessages()), Partitions: settings.Topics.Partitions,
		Quarantine: supervise.DefaultPolicy(),
	}
	p.Live = live.NewFollower(broker, logger, p.Clock, settings.Topics.Live, settings.Pipeline.Name)
	return p
}

// DefaultMessages is how many messages a process works on at a time by default: enough for all processors, and a few
// that wait for a broker.
func DefaultMessages() int { return runtime.GOMAXPROCS(0) + 2 }

// Clock returns the time to publish.
func (p *Process) Clock() time.Time {
	if p.Now != nil {
		return p.Now()
	}
	return failpoint.Now()
}

// CheckNames reports names that are not stages.
func CheckNames(names []string) error {
	for _, name := range names {
		if !slices.Contains(meter.Stages(), name) {
			return fmt.Errorf("stage %q is not one of %s", name, strings.Join(meter.Stages(), ", "))
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("no stage named, there are %s", strings.Join(meter.Stages(), ", "))
	}
	return nil
}

// Run runs the named stages until ctx ends or one of them fails for good. It waits for topics that do not exist yet or
// have too few partitions, and refuses a compacted events topic. When ctx has ended, a [meter.ErrUnfinished] says what
// could not be finished.
func (p *Process) Run(ctx context.Context, names ...string) error {
	if err := p.Settings.CheckStages(names); err != nil {
		return err
	}
	err := pipeline.Try(ctx, p.Logger, "check topics", func() error {
		return topics.Check(ctx, p.Broker, p.Settings.Topics)
	})
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	if p.Registry != nil {
		p.Registry.Planned = func() []wire.SeenSchema {
			if spec := p.State.Snapshot().Spec; spec != nil {
				return spec.Schemas
			}
			return nil
		}
	}
	p.Meter.EndsWith(ctx.Done())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return p.State.Run(ctx) })
	group.Go(func() error {
		p.Live.Run(ctx)
		return nil
	})
	group.Go(func() error {
		p.Meter.FollowEnds(ctx, p.Broker, p.Logger, p.Clock)
		return nil
	})
	for _, name := range names {
		group.Go(func() error {
			p.Logger.Info("stage starts", zap.String("stage", name))
			defer p.Logger.Info("stage ended", zap.String("stage", name))
			if err := p.run(ctx, name, names); err != nil {
				return fmt.Errorf("stage %s: %w", name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return p.Meter.Unfinished()
}

// run runs one stage; names are all that the process runs.
func (p *Process) run(ctx context.Context, name string, names []string) error {
	switch name {
	case meter.StageCalibrate:
		return p.Planner().Run(ctx)
	case meter.StageSubsample:
		return p.subsample().Run(ctx)
	case meter.StageSelect:
		return p.selection(names).Run(ctx)
	case meter.StageFeaturize:
		return p.featurize().Run(ctx)
	case meter.StageTrain:
		return p.Trainer().Run(ctx)
	}
	panic(fmt.Sprintf("stages: no stage %q", name))
}

func (p *Process) logger(stage string) *zap.Logger { return p.Logger.With(zap.String("stage", stage)) }

// Log returns events as plans read them.
func (p *Process) Log() *calibrate.Log {
	return &calibrate.Log{Broker: p.Broker, Logger: p.logger(meter.StageCalibrate), Topics: p.Settings.Topics, Registry: p.Registry, Slots: p.Slots}
}

// Source says how events are read.
func (p *Process) Source() events.Source {
	return events.Source{Limits: p.Settings.Limits.Decoder(), Format: p.Settings.Events.Format, Schema: p.Schema, Registry: p.Registry, Slots: p.Slots}
}

// Plan returns the settings that determine the plan of an exploration.
func (p *Process) Plan() calibrate.Settings {
	settings := p.Settings.Plan()
	settings.Schema = p.Schema
	return settings
}

// Planner returns the stage calibrate.
func (p *Process) Planner() *calibrate.Planner {
	return &calibrate.Planner{
		Log: p.Log(), State: p.State, Meter: p.Meter, Settings: p.Plan(),
		Group: p.Settings.Group(meter.StageCalibrate), Clock: p.Clock, FailFast: p.OneShot, Patience: p.quarantine().Patience,
	}
}

// quarantine returns the policy of the stages.
func (p *Process) quarantine() supervise.Policy {
	if p.OneShot {
		return supervise.Policy{}
	}
	return p.Quarantine
}

func (p *Process) subsample() *subsample.Runner {
	return &subsample.Runner{
		Broker: p.Broker, State: p.State, Meter: p.Meter, Logger: p.logger(meter.StageSubsample), Clock: p.Clock, Tracer: p.Tracer,
		Pipeline: p.Settings.Pipeline.Name, Group: p.Settings.Group(meter.StageSubsample), Topics: p.Settings.Topics, Registry: p.Registry,
		Slots: p.Slots, Partitions: p.Partitions, Config: p.Settings.Subsample, CandidateMemory: p.Settings.Exploration.CandidateMemory, DrainTimeout: p.DrainTimeout,
		Quarantine: p.quarantine(),
	}
}

func (p *Process) selection(names []string) *selection.Runner {
	workers := runtime.GOMAXPROCS(0)
	if slices.Contains(names, meter.StageFeaturize) { // featurize keeps one core
		workers = max(1, workers-1)
	}
	return &selection.Runner{
		Broker: p.Broker, State: p.State, Meter: p.Meter, Logger: p.logger(meter.StageSelect), Clock: p.Clock,
		Group: p.Settings.Group(meter.StageSelect), Topics: p.Settings.Topics,
		SampleMemory: p.Settings.Exploration.SampleMemory, Workers: workers, FailFast: p.OneShot, Quarantine: p.quarantine(),
	}
}

func (p *Process) featurize() *featurize.Runner {
	return &featurize.Runner{
		Broker: p.Broker, State: p.State, Meter: p.Meter, Logger: p.logger(meter.StageFeaturize), Clock: p.Clock, Tracer: p.Tracer,
		Pipeline: p.Settings.Pipeline.Name, Group: p.Settings.Group(meter.StageFeaturize), Topics: p.Settings.Topics, Config: p.Settings.Featurize,
		Source: p.Source(), Amplification: p.Settings.Limits.Amplification, CompressedAmplification: p.Settings.Limits.CompressedAmplification,
		ClassMinRows:     p.classMinRows(),
		PredictionColumn: p.Settings.Live.PredictionColumn, Partitions: p.Partitions, DrainTimeout: p.DrainTimeout, Quarantine: p.quarantine(),
	}
}

// classMinRows is how many rows of an unknown class have an exploration asked for; 0 = never, as where the sets are another
// pipeline's, whose explorations are its own.
func (p *Process) classMinRows() int64 {
	if p.Settings.Featurize.SetsFrom != "" {
		return 0
	}
	return p.Settings.Events.UnknownClassRows()
}

// Trainer returns the stage train.
func (p *Process) Trainer() *train.Runner {
	return &train.Runner{
		Broker: p.Broker, State: p.State, Meter: p.Meter, Logger: p.logger(meter.StageTrain), Clock: p.Clock, Tracer: p.Tracer,
		Pipeline: p.Settings.Pipeline.Name, Group: p.Settings.Group(meter.StageTrain), Topics: p.Settings.Topics,
		Config: p.Settings.Train, Live: p.Live, Readers: p.Slots.Count(), Quarantine: p.quarantine(),
	}
}

// Replayer returns what replays dead letters.
func (p *Process) Replayer() deadletter.Replayer {
	return deadletter.Replayer{Broker: p.Broker, Topics: p.Settings.Topics, Limits: p.Source().Limits, Clock: p.Clock, Logger: p.Logger}
}

// Committed returns the next offset of a partition of events that the group of subsample or featurize has committed, or
// -1. The owner committed it a moment ago: it is meant for monitoring and is not where the stage would resume.
func (p *Process) Committed(ctx context.Context, stage string, partition int) (nextOffset int64, err error) {
	found, err := p.Broker.Committed(ctx, p.Settings.Group(stage), p.Settings.Topics.Events, partition)
	return found.Next, err
}

// Snapshot is what a process did and where it stands at one moment. Its parts are taken one after another.
type Snapshot struct {
	meter.Snapshot
	Groups map[string]pipeline.GroupStatus // by stage
	State  state.Snapshot
	Live   live.Report
}

// Snapshot returns what the process did and where it stands now.
func (p *Process) Snapshot() Snapshot {
	return Snapshot{Snapshot: p.Meter.Snapshot(p.Clock()), Groups: p.Groups(), State: p.State.Snapshot(), Live: p.Live.Report()}
}
