package selection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/supervise"
	"github.com/eerf-stream/eerf/stages/topics"
)

// maxAttempts is the number of times a partition is read before the exploration is abandoned
// because its samples are unusable.
const maxAttempts = 3

// Runner is the stage: it follows the checkpoints of the running exploration and publishes its
// feature set when every partition is closed.
type Runner struct {
	Env env.Env
	// SampleMemory bounds the memory of the sample and of the selection from it, in bytes.
	SampleMemory int64
	// MaxOutputs is the number of outputs for which the process has memory; 0 = any.
	MaxOutputs int
	Workers    int // goroutines of a selection; 0 = one for each core

	// finished holds the latest selected set, which is perhaps not yet published, under its spec
	// hash. A rebalance thus does not repeat the selection.
	finished struct {
		specHash string
		set      *wire.FeatureSet
	}
}

// Run selects until ctx ends. It leaves the selection to other processes while an exploration runs
// that this process cannot compute.
func (r *Runner) Run(ctx context.Context) error {
	r.Env.Meter.SetBudget(meter.Budget{Setting: meter.BudgetSample, Limit: r.SampleMemory})
	r.Env.Meter.RightKernel(meter.StageSelection)
	leaves := func(from *wire.Spec) {
		r.Env.Meter.WrongKernel(r.Env.Logger, meter.StageSelection, scoring.Arithmetic(), from)
	}
	return r.Env.State.WhileKernelMatches(ctx, scoring.Arithmetic(), leaves, r.own)
}

// supervised returns the stage that supervises the work on single partitions of scores or samples.
func (r *Runner) supervised() *supervise.Stage {
	return &supervise.Stage{
		Name: meter.StageSelection, Meter: r.Env.Meter, Logger: r.Env.Logger, Policy: r.Env.Quarantine,
		Overdue: supervise.Exclude(r.Env.State, r.Env.Logger, r.Env.Clock),
	}
}

// own selects while this process owns the selection.
func (r *Runner) own(ctx context.Context) error {
	return r.Env.Broker.Own(
		ctx,
		r.Env.Group,
		r.Env.Topics.Explorations,
		func(ctx context.Context, _ pipeline.Ownership) error {
			for {
				err := r.followScores(ctx)
				var more *morePartitionsError
				switch {
				case ctx.Err() != nil:
					return nil
				case !errors.As(err, &more):
					return err
				}
				if err := topics.WaitCoPartitioned(
					ctx, r.Env.Broker, r.Env.Logger, more.partition, r.Env.Topics.Scores,
				); err != nil {
					return err
				}
				r.Env.Logger.Info("scores topic has more partitions; following all of them")
			}
		},
	)
}

// morePartitionsError reports that an exploration reads a partition that is not followed yet.
type morePartitionsError struct{ partition int }

func (e *morePartitionsError) Error() string {
	return fmt.Sprintf("partition %d of scores is not followed", e.partition)
}

// followScores follows every partition of scores and selects, until ctx ends or scores has more
// partitions.
func (r *Runner) followScores(ctx context.Context) error {
	partitions, err := pipeline.Retry(ctx, r.Env.Logger, "look up topic "+r.Env.Topics.Scores, func() (int, error) {
		return r.Env.Broker.Partitions(ctx, r.Env.Topics.Scores)
	})
	if err != nil {
		return err
	}
	defer r.Env.Meter.SetMissingRows(-1)
	return r.Env.State.FollowScores(
		ctx,
		partitions,
		r.supervised().Run,
		func(ctx context.Context, board *state.Scoreboard) error {
			return r.publishAll(ctx, board, partitions)
		},
	)
}

// publishAll selects from one exploration after another while the partitions of scores are
// followed.
func (r *Runner) publishAll(ctx context.Context, board *state.Scoreboard, partitions int) error {
	for {
		stateChanged, boardChanged := r.Env.State.Changed(), board.Changed()
		now, err := r.Env.State.Wait(ctx, func(state.Snapshot) bool { return true })
		if err != nil {
			return err
		}
		acted, err := r.act(ctx, now, board, partitions)
		if err != nil {
			return err
		}
		if acted {
			continue
		}
		select {
		case <-ctx.Done():
		case <-stateChanged:
		case <-boardChanged:
		}
	}
}

// act takes the next step, if any is due, and reports whether it did.
func (r *Runner) act(ctx context.Context, now state.Snapshot, board *state.Scoreboard, partitions int) (bool, error) {
	if acted, err := r.Env.State.Repair(ctx, state.OwnerSelection, r.Env.Clock()); acted || err != nil {
		return acted, err
	}
	spec := now.Running()
	if spec == nil {
		r.Env.Meter.SetMissingRows(0)
		return false, nil
	}
	if last := int(spec.Partitions[len(spec.Partitions)-1].Partition); last >= partitions {
		return false, &morePartitionsError{last}
	}
	if spec.Arithmetic != scoring.Arithmetic() { // this process is about to give up the ownership
		return false, nil
	}
	checkpoints, ok := r.closed(board, spec)
	if err := spec.Encoder.CheckOutputs(r.MaxOutputs); err != nil {
		return true, r.giveUp(ctx, spec, checkpoints, err)
	}
	if !ok {
		return false, nil
	}
	return true, r.finish(ctx, board, spec, checkpoints)
}

// closed returns the newest checkpoints of an exploration once every partition that has rows to
// read is closed.
func (r *Runner) closed(board *state.Scoreboard, spec *wire.Spec) (map[int32]*wire.Checkpoint, bool) {
	checkpoints, missing, open := map[int32]*wire.Checkpoint{}, int64(0), 0
	for _, c := range board.Of(spec) {
		checkpoints[c.Partition] = c
	}
	for _, part := range spec.Partitions {
		if part.Empty() {
			continue
		}
		c, wanted := checkpoints[part.Partition], int64(spec.ScoredShare()*float64(part.LabelledRows))
		switch {
		case c == nil:
			missing += wanted
			open++
		case c.CloseReason == wire.CloseLost, c.CloseReason == wire.CloseRegistry:
			return checkpoints, true
		case !c.Closed:
			missing += max(0, wanted-c.Counts.Scored)
			open++
		}
	}
	r.Env.Meter.SetMissingRows(missing)
	return checkpoints, open == 0
}

// errNoRows reports that an exploration ended before any row was scored.
var errNoRows = errors.New("no row was scored: the rows are unlabelled or unusable")

// finish selects and publishes the set, or abandons the exploration.
func (r *Runner) finish(
	ctx context.Context,
	board *state.Scoreboard,
	spec *wire.Spec,
	checkpoints map[int32]*wire.Checkpoint,
) error {
	began := time.Now()
	set, err := r.selectWhileRunning(ctx, spec, checkpoints)
	r.Env.Meter.Worked(meter.StageSelection, began) // counted before publishing the set
	var disagrees *disagreement
	switch {
	case errors.As(err, &disagrees) && disagrees.attempt+1 < maxAttempts:
		return r.refuse(ctx, board, spec, disagrees)
	case err != nil && ctx.Err() != nil, errors.Is(err, pipeline.ErrDenied):
		return err
	case errors.Is(err, errOver):
		r.Env.Logger.Info("exploration ended during its selection; publishing no feature set",
			zap.String("exploration", spec.Exploration))
		return nil
	case err != nil:
		return r.giveUp(ctx, spec, checkpoints, err)
	}
	return r.publish(ctx, spec, checkpoints, set)
}

// errOver reports that an exploration ended, or was replaced, during its selection.
var errOver = errors.New("the exploration is no longer running")

// selectWhileRunning runs selectSet and stops when the exploration ends. An exploration ends early
// if a partition of samples is unreadable: it is then replanned.
func (r *Runner) selectWhileRunning(
	ctx context.Context,
	spec *wire.Spec,
	checkpoints map[int32]*wire.Checkpoint,
) (*wire.FeatureSet, error) {
	over := func(s state.Snapshot) bool {
		now := s.Running()
		return now == nil || now.Exploration != spec.Exploration
	}
	var set *wire.FeatureSet
	at, err := r.Env.State.Until(ctx, over, func(ctx context.Context) (err error) {
		set, err = r.selectSet(ctx, spec, checkpoints)
		return err
	})
	if err != nil && at != nil {
		return nil, errOver
	}
	return set, err
}

// selectSet makes the set of an exploration whose partitions are closed.
func (r *Runner) selectSet(
	ctx context.Context,
	spec *wire.Spec,
	checkpoints map[int32]*wire.Checkpoint,
) (*wire.FeatureSet, error) {
	if r.finished.specHash == spec.Hash() {
		return r.finished.set, nil
	}
	for _, c := range checkpoints {
		switch c.CloseReason {
		case wire.CloseLost:
			return nil, fmt.Errorf("the log of partition %d lost offsets of the exploration or was replaced", c.Partition)
		case wire.CloseRegistry:
			return nil, fmt.Errorf("partition %d: %w", c.Partition, events.ErrRegistryChanged)
		case wire.CloseEnd, wire.CloseQuota, "":
		}
	}
	if err := r.confirm(ctx, spec, checkpoints); err != nil {
		return nil, err
	}
	sums, lineage := Merge(spec, checkpoints)
	if lineage.Rows == 0 {
		return nil, errNoRows
	}
	var sample *scoring.Sample
	if spec.Criterion.NeedsRows() {
		reader := sampleReader{
			log:    r.Env.Broker,
			logger: r.Env.Logger,
			topic:  r.Env.Topics.Samples,
			limits: r.Env.State.Limits(),
			keep:   r.supervised().Run,
		}
		var err error
		if sample, err = reader.read(ctx, spec, checkpoints); err != nil {
			return nil, err
		}
		r.Env.Meter.SetBudget(
			meter.Budget{
				Setting: meter.BudgetSample,
				Limit:   r.SampleMemory,
				Used:    4 * int64(len(sample.X)+len(sample.Targets.Values)+len(sample.Targets.Class)),
			},
		)
		defer r.Env.Meter.SetBudget(meter.Budget{Setting: meter.BudgetSample, Limit: r.SampleMemory})
		failpoint.Hit(failpoint.SampleRead)
	}
	defer r.Env.Meter.SetChoosing(meter.Choosing{})
	reporter := progressReporter{runner: r, spec: spec, rows: lineage.Rows}
	set, err := Select(spec, sums, lineage, sample, r.Env.Clock(), Options{Workers: r.Workers, Progress: func(p Progress) {
		failpoint.Hit(failpoint.RoundBefore)
		reporter.report(ctx, p)
	}})
	if err == nil {
		r.finished.specHash, r.finished.set = spec.Hash(), set
	}
	return set, err
}

// refuse asks the owner of a partition to reread it.
func (r *Runner) refuse(ctx context.Context, board *state.Scoreboard, spec *wire.Spec, d *disagreement) error {
	r.Env.Logger.Error("samples do not match the checkpoint; requesting a re-read of the partition",
		zap.String("exploration", spec.Exploration),
		zap.Int32("partition", d.partition), zap.Int("attempt", d.attempt), zap.String("reason", d.reason))
	refusal := &wire.Refusal{
		Exploration: spec.Exploration,
		SpecHash:    spec.Hash(),
		Partition:   d.partition,
		Attempt:     d.attempt,
		Reason:      d.reason,
		Time:        r.Env.Clock(),
	}
	if err := r.Env.State.RefuseSamples(ctx, refusal); err != nil {
		return err
	}
	board.Refuse(refusal) // ignores the checkpoint until the refusal is read back
	return nil
}

// publish writes the set, then the pointer to it, and retires sets that are no longer kept.
func (r *Runner) publish(
	ctx context.Context,
	spec *wire.Spec,
	checkpoints map[int32]*wire.Checkpoint,
	set *wire.FeatureSet,
) error {
	failpoint.Hit(failpoint.SetBefore)
	id, err := r.Env.State.PublishSet(ctx, set, r.Env.Clock())
	switch {
	case err == nil:
	case errors.Is(err, pipeline.ErrDenied), ctx.Err() != nil, !pipeline.IsPermanent(err):
		return err
	default: // too large or invalid: a retry would not help
		return r.giveUp(ctx, spec, checkpoints, err)
	}
	failpoint.Hit(failpoint.SetBetween)
	current := &wire.Current{ID: id, Sequence: spec.Sequence, Exploration: spec.Exploration, Time: r.Env.Clock()}
	if err := r.Env.State.PointSet(ctx, current, r.Env.Clock()); err != nil {
		return err
	}
	failpoint.Hit(failpoint.SetAfter)
	r.finished.specHash, r.finished.set = "", nil
	r.Env.Logger.Info("feature set published", zap.String("feature_set", id), zap.String("exploration", spec.Exploration),
		zap.Int64("rows", set.Lineage.Rows), zap.Float64("best", set.Lineage.Best), zap.Float64("cutoff", set.Lineage.Cutoff))
	return r.Env.State.RetireSets(ctx, r.Env.Clock())
}

// giveUp abandons an exploration that cannot yield a set. The spec notes the offsets whose dead
// letters were sent, so that the next exploration does not repeat them.
func (r *Runner) giveUp(
	ctx context.Context,
	spec *wire.Spec,
	checkpoints map[int32]*wire.Checkpoint,
	cause error,
) error {
	if r.Env.FailFast {
		return pipeline.Permanent(cause)
	}
	r.Env.Logger.Error("exploration abandoned; it yields no feature set",
		zap.String("exploration", spec.Exploration), zap.Error(cause))
	abandoned := *spec
	abandoned.Status, abandoned.Reason = wire.StatusAbandoned, cause.Error()
	abandoned.Notes = slices.Clone(spec.Notes)
	for _, c := range checkpoints {
		if part, ok := spec.Partition(c.Partition); ok && c.CloseReason != wire.CloseLost {
			abandoned.EditNote(c.Partition).AddReported(part.StartOffset, c.NextOffset)
		}
	}
	return r.Env.State.PublishSpec(ctx, &abandoned, r.Env.Clock())
}
