package stages

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/pipeline"
)

// CheckStages reports names that are not stages.
func CheckStages(names []string) error {
	for _, name := range names {
		if !slices.Contains(Stages(), name) {
			return fmt.Errorf("stage %q is not one of %s", name, strings.Join(Stages(), ", "))
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("no stage named, there are %s", strings.Join(Stages(), ", "))
	}
	return nil
}

// NewRuntime returns the runtime of a process with a fresh watch and counters.
func NewRuntime(broker pipeline.Broker, settings Settings, logger *zap.Logger) *Runtime {
	return &Runtime{
		Broker: broker, Settings: settings, Logger: logger, Counters: NewCounters(),
		Watch: NewWatch(broker, logger, settings.Pipeline.Name, settings.Topics),
	}
}

// Run runs the named stages until ctx ends or one of them fails for good. It waits for topics that are not there yet or
// not grown yet, and refuses to start on a compacted events topic. oneShot makes a plan or a selection that the data do
// not allow an error instead of something to wait for. When ctx has ended, an [ErrUnfinished] says what could not be finished.
func Run(ctx context.Context, r *Runtime, names []string, oneShot bool) error {
	if err := CheckStages(names); err != nil {
		return err
	}
	err := pipeline.Try(ctx, r.Logger, "check topics", func() error {
		return CheckTopics(ctx, r.Broker, r.Settings.Topics)
	})
	if err != nil {
		return endOf(ctx, err)
	}
	r.unfinished.ending = ctx.Done()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.Watch.Run(ctx) })
	group.Go(func() error {
		r.followEnds(ctx)
		return nil
	})
	for _, name := range names {
		group.Go(func() error {
			r.Logger.Info("stage starts", zap.String("stage", name))
			defer r.Logger.Info("stage ended", zap.String("stage", name))
			if err := r.stage(name, oneShot)(ctx); err != nil {
				return fmt.Errorf("stage %s: %w", name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return r.unfinished.err()
}

// stage returns the run function of a stage.
func (r *Runtime) stage(name string, oneShot bool) func(context.Context) error {
	switch name {
	case StageCalibrate:
		planner := NewPlanner(r)
		planner.FailFast = oneShot
		return planner.Run
	case StageSubsample:
		return NewSubsampleRunner(r).Run
	case StageSelect:
		selector := NewSelector(r)
		selector.FailFast = oneShot
		return selector.Run
	case StageFeaturize:
		return NewFeaturizeRunner(r).Run
	case StageTrain:
		return NewTrainRunner(r).Run
	}
	panic(fmt.Sprintf("stages: no stage %q", name))
}
