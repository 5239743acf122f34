package calibrate

import (
	"cmp"
	"context"
	"errors"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/env"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
	"github.com/eerf-stream/eerf/stages/supervise"
)

const (
	// planTick is the time between two checks whether an exploration is due.
	planTick = time.Second
	// planRetry is the wait for new data after planning failed because of the data (one class, no
	// label).
	planRetry = 30 * time.Second
	// offsetsEvery is the time between two lookups of the offsets of all partitions.
	offsetsEvery = 5 * time.Second
)

// Planner is the stage: it decides when an exploration starts, plans it, and publishes the spec.
// One instance at a time plans: the owner of the single partition of explorations.
type Planner struct {
	Env      env.Env
	Settings Settings

	leaders *supervise.Leaders
	broken  broken
	attempts
}

// attempts remembers failed plans. Times are on this process's clock, not on the clock of the
// environment.
type attempts struct {
	retryAt time.Time // no plan before this
	missing int64     // missing rows as last reported
	have    int64     // labelled rows at that time
	// refused is the last plan refused for its rows. It is retried only after the log has grown.
	refused    *refusal
	refusedFor error    // cause of the refusal, for the reasons
	takeover   string   // last logged error of a refused takeover
	reasons    []reason // with their memory of earlier checks
	// unreadable holds the offsets of unreadable messages that were reported before the first
	// exploration; nil = not looked up yet.
	unreadable map[int32]interval
	unusable   string // as last reported
}

// refusal identifies a refused trigger and holds the sum of the end offsets of events at that time.
// Rows that are too few for one trigger may be enough for another.
type refusal struct {
	from    wire.From
	asked   bool
	atLeast int64
	without int // number of excluded partitions
	end     int64
}

func (t trigger) refusedAt(end int64, without []wire.Exclusion) refusal {
	return refusal{t.from, t.asked, t.atLeast, len(without), end}
}

// Run plans until ctx ends.
func (p *Planner) Run(ctx context.Context) error {
	return p.Env.Broker.Own(
		ctx,
		p.Env.Group,
		p.Env.Topics.Explorations,
		func(ctx context.Context, _ pipeline.Ownership) error {
			group, ctx := errgroup.WithContext(ctx)
			watching, stop := context.WithCancel(ctx)
			p.leaders = supervise.NewLeaders(
				p.Env.Broker,
				p.Env.Logger,
				p.Env.Quarantine.Patience,
				p.Env.Topics.Events,
				p.Env.Topics.Scores,
				p.Env.Topics.Samples,
			)
			group.Go(func() error {
				p.leaders.Watch(watching)
				return nil
			})
			group.Go(func() error {
				defer stop()
				return pipeline.EndOf(ctx, p.run(ctx))
			})
			return group.Wait()
		},
	)
}

func (p *Planner) log() *log { return &log{p.Env} }

func (p *Planner) run(ctx context.Context) error {
	p.attempts, p.broken = attempts{}, broken{}
	defer p.Env.Meter.SetPlanning(meter.Planning{}) // from then on another process plans
	// Records of the previous planner may not have arrived yet.
	if _, err := p.Env.State.CatchUp(ctx, state.TopicExplorations, state.TopicFeatureSets); err != nil {
		return err
	}
	for {
		changed := p.Env.State.Changed()
		now, err := p.Env.State.Wait(ctx, func(state.Snapshot) bool { return true })
		if err != nil {
			return err
		}
		acted, err := p.act(ctx, now)
		if err != nil {
			if p.Env.FailFast || errors.Is(err, pipeline.ErrDenied) || ctx.Err() != nil {
				return err
			}
			p.broken.note(ctx, err)
			wait := min(planRetry, p.patience())
			p.Env.Logger.Error("no exploration could be planned", zap.Error(err), zap.Duration("wait", wait))
			now := time.Now()
			p.retryAt = now.Add(wait)
			p.Env.Meter.SetPlanning(meter.Planning{Fault: err.Error(), At: now, RetryAt: p.retryAt})
		}
		if acted && err == nil {
			continue
		}
		tick := time.NewTimer(planTick)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-tick.C:
		}
		tick.Stop()
	}
}

// act takes the next step that the state requires, if any, and reports whether it did.
func (p *Planner) act(ctx context.Context, now state.Snapshot) (bool, error) {
	if acted, err := p.Env.State.Repair(ctx, state.OwnerPlanner, p.Env.Clock()); acted || err != nil {
		return acted, err
	}
	if void := p.void(now); len(void) > 0 {
		return true, p.Env.State.AnswerRequests(ctx, void, p.Env.Clock())
	}
	start, cancelledAt := answer(now)
	if start == nil && cancelledAt < 0 {
		start = p.scheduled(ctx, now)
	}
	switch {
	case cancelledAt >= 0: // before any start
		cancelled := *now.Spec
		cancelled.Status, cancelled.HandledOffset = wire.StatusCancelled, cancelledAt+1
		cancelled.Reason = describeAll(now.Requests, wire.ActionCancel)
		p.Env.Logger.Info(
			"exploration cancelled",
			zap.String("exploration", cancelled.Exploration),
			zap.String("reason", cancelled.Reason),
		)
		return true, p.publish(ctx, &cancelled, now.Requests...)
	case start != nil && !time.Now().Before(p.retryAt):
		if err := p.Settings.CheckTakeover(now.Spec); err != nil {
			return false, p.refuseTakeover(err)
		}
		p.takeover = ""
		return p.start(ctx, now, *start)
	}
	return false, nil
}

// start plans and publishes an exploration, and reports whether anything was published.
func (p *Planner) start(ctx context.Context, now state.Snapshot, why trigger) (bool, error) {
	without := wire.Exclude(wire.Exclude(excludedFor(now, why), p.leaders.Gone()...), p.broken.gone(p.patience())...)
	planning, stop := p.leaders.During(
		ctx,
		func() bool { return len(wire.Exclude(without, p.leaders.Gone()...)) > len(without) },
	)
	defer stop()
	acted, err := p.startWithout(planning, now, why, without)
	if errors.Is(context.Cause(planning), supervise.ErrNoLeader) && ctx.Err() == nil && !acted {
		p.Env.Logger.Warn("partitions lost their leader during planning; planning again without them",
			zap.Any("without", p.leaders.Gone()))
		return false, nil
	}
	return acted, err
}

func (p *Planner) patience() time.Duration {
	return cmp.Or(p.Env.Quarantine.Patience, supervise.DefaultPolicy().Patience)
}

// startWithout is start with some partitions excluded.
func (p *Planner) startWithout(
	ctx context.Context,
	now state.Snapshot,
	why trigger,
	without []wire.Exclusion,
) (bool, error) {
	end, err := p.end(ctx, without) // looked up before planning, so that rows that arrive meanwhile count as growth
	if err != nil || p.refused != nil && *p.refused == why.refusedAt(end, without) {
		return false, err
	}
	began := time.Now()
	defer p.Env.Meter.Worked(meter.StageCalibrate, began)
	request := Next(now, p.Env.Clock())
	request.From, request.Reason, request.Classes, request.ClassesOnly = why.from, why.reason, classesOf(
		now,
	), why.classesOnly
	request.Excluded, request.Force = without, why.force
	if now.Spec == nil && !p.Env.FailFast {
		if request.Reported, err = p.reportedUnreadable(ctx); err != nil {
			return false, err
		}
	}
	request.Unfinished = request.Unfinished || why.extends
	planned, err := Plan(ctx, p.Env, p.Settings, request)
	var few *TooFewRowsError
	switch {
	case why.classesOnly && inVain(err):
		return p.decline(ctx, now, err)
	case errors.Is(err, ErrSameRows) || errors.As(err, &few) || errors.Is(err, errNotGrown):
		return p.refuse(ctx, now, why, why.refusedAt(end, without), err, time.Since(began))
	case err != nil:
		return false, err
	case why.atLeast > planned.Spec.LabelledRows():
		return p.refuse(ctx, now, why, why.refusedAt(end, without), errNotGrown, time.Since(began))
	}
	p.missing, p.have, p.refused, p.reasons, p.broken = 0, 0, nil, nil, broken{}
	p.unusable = ""
	p.Env.Meter.SetPlanning(meter.Planning{})
	p.Env.Meter.AddCalibrate(planned.Counts)
	p.Env.Meter.AddTraffic(meter.StageCalibrate, planned.Read)
	if err := p.Settings.checkTask(now.Spec, planned.Spec); err != nil {
		refused := why.refusedAt(end, without) // the same rows would give the same task
		p.refused = &refused
		return false, p.refuseTakeover(err)
	}
	spec := planned.Spec
	spec.HandledOffset = handledOffset(now)
	p.Env.Logger.Info(
		"exploration planned",
		zap.String("exploration", spec.Exploration),
		zap.String("reason", why.reason),
		zap.Int64("labelled_rows", spec.LabelledRows()),
		zap.Float64("sample_rate", spec.SampleRate),
		zap.Int(
			"dim",
			spec.Candidates.Dim,
		),
		zap.Float64("sigma", spec.Candidates.Sigma),
		zap.Int("candidates", spec.Candidates.Count),
		zap.Int64("calibration_rows", spec.CalibrationRows),
		zap.Any("left_out", planned.Report.LeftOut),
		zap.Any("without", spec.Excluded),
		zap.Strings("warnings", planned.Report.Warnings),
		zap.String("bandwidth_warning", planned.Warning),
	)
	for _, tell := range planned.Report.Telltales {
		p.Env.Logger.Warn("columns predict the label nearly alone; if they are not known when a prediction is needed, "+
			"models will be worse than their errors",
			zap.Strings("columns", tell.Columns), zap.String("finding", tell.Reason))
	}
	return true, p.publish(ctx, spec, now.Requests...)
}

// refuseTakeover logs once why nothing is planned. For one-shot commands it returns the error.
func (p *Planner) refuseTakeover(err error) error {
	if p.Env.FailFast {
		return err
	}
	p.retryAt = time.Now().Add(planRetry)
	p.Env.Meter.SetPlanning(meter.Planning{Takeover: err.Error()})
	if p.takeover != err.Error() {
		p.takeover = err.Error()
		p.Env.Logger.Error("label, task or events topic differs from the pipeline's newest exploration; planning nothing",
			zap.Error(err))
	}
	return nil
}

// inVain reports whether another exploration for a class would fail in the same way.
func inVain(err error) bool {
	var label *encoder.LabelError
	var plan *planError
	return errors.Is(err, ErrSameRows) || errors.Is(err, errNoSuchClass) || errors.As(err, &label) || errors.As(err, &plan)
}

// decline answers requests for classes without an exploration. The newest spec remembers the
// classes, so that they are not requested again before the next exploration.
func (p *Planner) decline(ctx context.Context, now state.Snapshot, why error) (bool, error) {
	classes := classesOf(now)
	p.Env.Logger.Warn("classes requested by featurizers declined; no exploration planned",
		zap.Strings("classes", classes), zap.Error(why))
	if now.Spec == nil {
		return true, p.Env.State.AnswerRequests(ctx, now.Requests, p.Env.Clock())
	}
	spec := *now.Spec
	spec.Decline(classes)
	spec.HandledOffset = handledOffset(now)
	return true, p.publish(ctx, &spec, now.Requests...)
}

// refuse reports why the log is not explored. It answers a request if waiting would not help;
// missing rows may still arrive.
func (p *Planner) refuse(
	ctx context.Context,
	now state.Snapshot,
	why trigger,
	what refusal,
	cause error,
	took time.Duration,
) (bool, error) {
	var few *TooFewRowsError
	if p.Env.FailFast && errors.As(cause, &few) {
		return false, cause
	}
	if !errors.As(cause, &few) {
		p.missing, p.have, p.unusable = 0, 0, ""
	} else if few.Want-few.Have != p.missing || few.Unusable != p.unusable {
		p.missing, p.have, p.unusable = few.Want-few.Have, few.Have, few.Unusable
		p.Env.Logger.Info(
			"too few labelled rows to explore", zap.Int64(
				"rows", few.Have,
			), zap.Int64("min_rows", few.Want), zap.Int64("missing", p.missing), zap.String("unusable", few.Unusable),
		)
	}
	if few != nil && now.Spec == nil {
		p.reportUnreadable(ctx, few)
	}
	p.Env.Meter.SetPlanning(meter.Planning{MissingRows: p.missing, Rows: p.have, Unusable: p.unusable})
	if errors.Is(cause, ErrSameRows) && why.asked {
		p.Env.Logger.Warn("request answered without an exploration", zap.String("reason", why.reason), zap.Error(cause))
		return true, p.Env.State.AnswerRequests(ctx, requestsOf(now, wire.ActionStart), p.Env.Clock())
	}
	p.refusedFor = cause
	// A window full of unlabelled rows must not be reread continuously.
	p.refused, p.retryAt = &what, time.Now().Add(max(planTick, 4*took))
	return false, nil
}

// end adds up the end offsets of the partitions of events that are not excluded.
func (p *Planner) end(ctx context.Context, without []wire.Exclusion) (sum int64, err error) {
	partitions, err := pipeline.Retry(
		ctx,
		p.Env.Logger,
		"look up offsets",
		func() ([]extent, error) { return p.log().extents(ctx, without) },
	)
	for _, part := range partitions {
		sum += part.end
	}
	return sum, err
}

// publish writes the spec, with tombstones for the answered requests, and waits until the follower
// has read it.
func (p *Planner) publish(ctx context.Context, spec *wire.Spec, answered ...state.Request) error {
	failpoint.Hit(failpoint.PlanBefore)
	if err := p.Env.State.PublishSpec(ctx, spec, p.Env.Clock(), answered...); err != nil {
		return err
	}
	failpoint.Hit(failpoint.PlanAfter)
	return nil
}
