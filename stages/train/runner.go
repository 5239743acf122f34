package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/supervise"
	"github.com/eerf-stream/eerf/training"
)

// Runner is the stage: it keeps sums of the features of the current set, trains models, and
// promotes models that beat their predecessor.
type Runner struct {
	Env    env.Env // Fit, called on its own, ignores its Quarantine and ends with the first error
	Config Config
	// MaxOutputs is the number of outputs for which the process has memory; 0 = any.
	MaxOutputs int

	stage    supervise.Stage    // has a zero policy unless Run runs
	leaders  *supervise.Leaders // nil unless Run runs
	trainer  *Trainer           // nil before the first read
	features []*features        // by partition
	solved   int64              // rows that the last judged model was fitted on
	models   state.Models       // as of the start of the last model, or of its publication
	inUse    *wire.Model        // the current model as last loaded

	opening sync.Mutex        // guards writer, which the partitions share
	writer  pipeline.Producer // of dead letters; nil before the first dead letter
}

// Run trains a model at every interval in which rows arrived, until ctx ends. One instance trains
// at a time: the owner of the single partition of explorations in the group of this stage.
func (r *Runner) Run(ctx context.Context) error {
	r.reportRowMemory()
	r.stage = supervise.Stage{Name: meter.StageTrain, Meter: r.Env.Meter, Logger: r.Env.Logger, Policy: r.Env.Quarantine}
	return r.Env.Broker.Own(ctx, r.Env.Group, r.Env.Topics.Explorations, r.whileOwned)
}

// whileOwned trains models while this process owns the stage.
func (r *Runner) whileOwned(ctx context.Context, _ pipeline.Ownership) error {
	group, ctx := errgroup.WithContext(ctx)
	watching, stop := context.WithCancel(ctx)
	r.leaders = supervise.NewLeaders(r.Env.Broker, r.Env.Logger, r.Env.Quarantine.Patience, r.Env.Topics.Features)
	group.Go(func() error {
		r.leaders.Watch(watching)
		return nil
	})
	group.Go(func() error {
		defer stop()
		return pipeline.EndOf(ctx, r.own(ctx))
	})
	return group.Wait()
}

func (r *Runner) own(ctx context.Context) error {
	r.solved, r.inUse = 0, nil // another process may have trained in the meantime
	if err := r.refresh(ctx); err != nil {
		return pipeline.EndOf(ctx, err)
	}
	defer r.Env.Meter.SetModel(nil)
	defer r.leave()
	for {
		model, err := r.Fit(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrTooFewRows), errors.Is(err, ErrNoNewRows):
			r.Env.Logger.Debug("no model yet", zap.Error(err))
		case err != nil && pipeline.IsPermanent(err):
			return err
		case err != nil:
			r.Env.Logger.Error("training failed; will retry at the next interval", zap.Error(err))
		default:
			r.logFitted(model)
		}
		r.pause(ctx)
	}
}

// While the current model is worse than promised, the next one is trained after retrainEvery, and
// later after a retrainShare-th of the time since then. A relation that twenty models could not
// follow is rarely learned by the next, and training should not keep a core busy.
const (
	retrainEvery = 10 * time.Second
	retrainShare = 10
)

// Pause returns the time between a model and the next one, given the live errors.
func (c Config) Pause(r live.Report) time.Duration {
	if r.State != live.Wrong {
		return c.Interval
	}
	return min(max(retrainEvery, r.Short.To.Sub(r.WrongSince)/retrainShare), c.Interval)
}

// pause waits until the next model is due: after the interval, or sooner while the current feature
// set has no model or live errors exceed the promise. It returns when ctx ends.
func (r *Runner) pause(ctx context.Context) {
	for began := time.Now(); ; {
		sets, reports := r.Env.State.Changed(), r.Env.Live.Changed()
		report := r.Env.Live.Report()
		pause := r.Config.Pause(report)
		if r.lacksModel() {
			pause = min(pause, retrainEvery)
		}
		left := pause - time.Since(began)
		if left <= 0 {
			if report.State == live.Wrong {
				r.Env.Logger.Info("retraining early: live error exceeds the held-out error", zap.Any("live", report.Short))
			}
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(left):
		case <-sets:
		case <-reports:
		}
	}
}

// lacksModel reports whether the current feature set has no model yet.
func (r *Runner) lacksModel() bool {
	now := r.Env.State.Snapshot()
	return now.Current != nil && !slices.ContainsFunc(now.Models.Entries(), func(e state.ModelEntry) bool {
		return e.Model != nil && e.Model.FeatureSetID == now.Current.ID
	})
}

// logFitted logs the outcome of a model.
func (r *Runner) logFitted(f *Fitted) {
	fields := []zap.Field{
		zap.String("model", f.ID),
		zap.String("feature_set", f.FeatureSetID),
		zap.Int64("rows", f.TrainRows),
		zap.Float64("lambda", f.Model.Model.Lambda),
	}
	if j := f.Judgement; j != nil {
		fields = append(fields, zap.Any("judgement", j))
	}
	if seen := f.Metrics.Seen; seen != nil {
		fields = append(fields, zap.Any("held_out_rows_seen_by_exploration", seen))
	}
	if share := f.Metrics.RowShare; share > 0 { // the rest exceeded train.row_memory or train.learning_time
		fields = append(fields, zap.Float64("row_share", share))
	}
	if unseen := f.UnseenClasses; len(unseen) > 0 { // every prediction for them is wrong
		fields = append(fields, zap.Any("unseen_classes", unseen))
		if respelt := respelt(unseen, r.trainer.set.Encoder.Label.Classes); len(respelt) > 0 {
			fields = append(fields, zap.Any("respelt_classes", respelt))
		}
	}
	if cut := f.Metrics.Economies; len(cut) > 0 { // to stay within train.learning_time
		fields = append(fields, zap.Strings("economies", cut))
	}
	if f.Metrics.NoBetterThanConstant() {
		fields = append(fields, zap.String("note", training.NothingBeatsConstant))
	}
	switch {
	case f.Unchanged:
		r.Env.Logger.Info("model unchanged", fields...)
	case f.Current && f.Judgement.Verdict == wire.VerdictNewSet && f.Judgement.Compared() &&
		*f.Judgement.ChallengerError > *f.Judgement.IncumbentError:
		r.Env.Logger.Warn("model published, although the model of the previous feature set was better", fields...)
	case f.Current:
		r.Env.Logger.Info("model published", fields...)
	case f.Judgement.Verdict.Promoted():
		r.Env.Logger.Warn("model not made current; another one became current in the meantime", fields...)
	default:
		r.Env.Logger.Info("model not made current; the previous one stays", fields...)
	}
}

// ErrNoNewRows reports that no rows arrived since the last model.
var ErrNoNewRows = errors.New("no training rows since the last model")

// Fit reads the features topic to its present end for the current feature set, trains a model,
// compares it with the current one, and replaces that if the new one wins. If there is no feature
// set yet, it waits for one.
func (r *Runner) Fit(ctx context.Context) (*Fitted, error) {
	now, err := r.awaitSet(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.catchUp(ctx, now.CurrentSet()); err != nil {
		return nil, err
	}
	if err := r.refresh(ctx); err != nil {
		return nil, err
	}
	rows := r.trainer.Rows()
	if r.models.Current == nil { // the topic may have been recreated
		r.solved = 0
	}
	if rows > 0 && rows == r.solved && !r.models.Unreadable() {
		return nil, ErrNoNewRows
	}
	defer r.Env.Meter.Worked(meter.StageTrain, time.Now())
	model, err := r.trainer.Solve(ctx, r.Env.Pipeline, r.Env.Clock())
	if err != nil {
		return nil, err
	}
	if d := model.Metrics.Descent; d != nil && !d.Converged {
		r.Env.Logger.Warn("training ended before the model converged", zap.String("model", model.ID),
			zap.Int("iterations", d.Iterations),
			zap.Float64("relative_gradient", d.RelativeGradient))
	}
	model.Sequence = now.Current.Sequence // a later exploration may have found the same set
	fitted, err := r.publish(ctx, model)
	if err != nil {
		return nil, err
	}
	fitted.UnseenClasses = r.trainer.UnseenClasses()
	if fitted.Current || !fitted.Judgement.Verdict.Promoted() { // otherwise it is judged next time
		r.solved = rows
	}
	return fitted, nil
}

// awaitSet returns the first snapshot with a feature set.
func (r *Runner) awaitSet(ctx context.Context) (state.Snapshot, error) {
	now, err := r.Env.State.Wait(ctx, func(state.Snapshot) bool { return true })
	if err != nil {
		return now, fmt.Errorf("read the feature sets: %w", err)
	}
	if now.CurrentSet() == nil {
		r.Env.Logger.Info("waiting for a feature set", zap.String("pipeline", r.Env.Pipeline))
	}
	now, err = r.Env.State.Wait(ctx, func(s state.Snapshot) bool { return s.CurrentSet() != nil })
	switch {
	case err == nil:
		return now, nil
	case now.Current == nil && ctx.Err() != nil:
		return now, fmt.Errorf("pipeline %s has no feature set yet: %w", r.Env.Pipeline, err)
	}
	return now, fmt.Errorf("wait for a feature set: %w", err)
}

// refresh reads the models of other processes and reports the current one, so that its age and
// error are known from the start.
func (r *Runner) refresh(ctx context.Context) error {
	if _, err := r.Env.State.CatchUp(ctx, state.TopicModels); err != nil {
		return err
	}
	if _, err := r.Env.State.Repair(ctx, state.OwnerTrainer, r.Env.Clock()); err != nil {
		return err
	}
	r.report(ctx)
	return nil
}

// report updates the known models and reports the current one.
func (r *Runner) report(ctx context.Context) {
	r.models = r.Env.State.Snapshot().Models
	entry, _ := r.models.CurrentEntry()
	model := entry.Model
	if model != nil {
		if err := r.loadInUse(ctx, entry); err == nil { // otherwise figures by class are not reported
			model = r.inUse
		}
	}
	r.Env.Meter.SetModel(model)
	var pin wire.Pin
	if current := r.models.Current; current != nil {
		pin = current.Pin
	}
	r.Env.Meter.SetPin(pin, r.models.TrainedAt())
}

// respelt returns the unseen classes that differ from a known class only in blanks, case or a final
// period, with the known class.
func respelt(unseen []encoder.ClassRows, known []string) map[string]string {
	found := map[string]string{}
	for _, c := range unseen {
		if name, ok := encoder.Respelt(c.Class, known); ok {
			found[c.Class] = name
		}
	}
	return found
}
