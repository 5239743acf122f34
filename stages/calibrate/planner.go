package calibrate

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/failpoint"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/state"
)

const (
	// planTick is how often time and offsets are looked at for a scheduled exploration.
	planTick = time.Second
	// planRetry is how long a plan that failed on the data it met (one class, no label) waits for other data.
	planRetry = 30 * time.Second
	// offsetsEvery is how often the offsets of all partitions are looked up, to see how far the log has grown.
	offsetsEvery = 5 * time.Second
)

// Planner is the stage: it decides when an exploration starts, plans it, and publishes the spec. One instance at a time
// plans: the owner of the single partition of explorations.
type Planner struct {
	Log      *Log
	State    *state.Follower
	Meter    *meter.Meter
	Settings Settings
	Group    string // consumer group
	Clock    func() time.Time
	// FailFast ends Run with the error of a plan that the data do not allow, instead of waiting for other data: for
	// one-shot commands.
	FailFast bool

	attempts
}

// attempts remembers plans that could not be made. Times are of this process's clock, not of [Planner.Clock].
type attempts struct {
	retryAt time.Time // no plan before
	missing int64     // rows that were last reported to be missing
	// refused is the plan that was last refused for its rows: the log has to grow before it is made again.
	refused   *refusal
	offsetsAt time.Time // when offsets were last looked up
	offsets   int64     // that the log had then
	foreign   foreign   // the running exploration, where this process could not compute it
	notGrown  int64     // offsets that it had when its labelled rows turned out not to have grown by the factor; 0 = never
}

// refusal is what was refused, and at which sum of the end offsets of events: rows that have not grown enough for one trigger
// may do for another.
type refusal struct {
	from    wire.From
	asked   bool
	atLeast int64
	end     int64
}

func (t trigger) refusedAt(end int64) refusal { return refusal{t.from, t.asked, t.atLeast, end} }

// Run plans until ctx ends.
func (p *Planner) Run(ctx context.Context) error {
	return p.Log.Broker.Own(ctx, p.Group, p.Log.Topics.Explorations, func(ctx context.Context, _ pipeline.Ownership) error {
		return pipeline.EndOf(ctx, p.run(ctx))
	})
}

func (p *Planner) run(ctx context.Context) error {
	p.attempts = attempts{}
	defer p.Meter.SetPlanning(meter.Planning{}) // another process plans
	for {
		changed := p.State.Changed()
		now, err := p.State.Wait(ctx, func(state.Snapshot) bool { return true })
		if err != nil {
			return err
		}
		acted, err := p.act(ctx, now)
		if err != nil {
			if p.FailFast || errors.Is(err, pipeline.ErrDenied) || ctx.Err() != nil {
				return err
			}
			p.Log.Logger.Error("no exploration could be planned", zap.Error(err), zap.Duration("wait", planRetry))
			p.Meter.SetPlanning(meter.Planning{Fault: err.Error()})
			p.retryAt = time.Now().Add(planRetry)
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

// act does the one thing that the state calls for, and reports whether there was one.
func (p *Planner) act(ctx context.Context, now state.Snapshot) (bool, error) {
	if now.Shadowed && !now.Spec.Earlier() {
		p.Log.Logger.Warn("an older spec was written behind the newest, which is written again",
			zap.String("exploration", now.Spec.Exploration))
		return true, p.publish(ctx, now.Spec)
	}
	if void := p.void(now); len(void) > 0 {
		return true, p.State.AnswerRequests(ctx, void, p.Clock())
	}
	start, cancelledAt := answer(now)
	if start == nil && cancelledAt < 0 {
		start = p.scheduled(ctx, now)
	}
	switch {
	case cancelledAt >= 0: // what is to start is behind it
		cancelled := *now.Spec
		cancelled.Status, cancelled.HandledOffset = wire.StatusCancelled, cancelledAt+1
		cancelled.Reason = describeAll(now.Requests, wire.ActionCancel)
		p.Log.Logger.Info("exploration cancelled", zap.String("exploration", cancelled.Exploration), zap.String("reason", cancelled.Reason))
		return true, p.publish(ctx, &cancelled, now.Requests...)
	case start != nil && !time.Now().Before(p.retryAt):
		return p.start(ctx, now, *start)
	}
	return false, nil
}

// start plans and publishes an exploration, and reports whether anything was published.
func (p *Planner) start(ctx context.Context, now state.Snapshot, why trigger) (bool, error) {
	end, err := p.end(ctx) // before the plan: what comes while it is made is new to the next one
	if err != nil || p.refused != nil && *p.refused == why.refusedAt(end) {
		return false, err
	}
	began := time.Now()
	defer p.Meter.Worked(meter.StageCalibrate, began)
	request := Next(now, p.Clock())
	request.From, request.Reason, request.Classes, request.ForThem = why.from, why.reason, classesOf(now), why.forThem
	planned, err := Plan(ctx, p.Log, p.Settings, request)
	var few *TooFewRowsError
	switch {
	case why.forThem && inVain(err):
		return p.decline(ctx, now, err)
	case errors.Is(err, ErrSameRows) || errors.As(err, &few) || errors.Is(err, errNotGrown):
		return p.refuse(ctx, now, why, end, err, time.Since(began))
	case err != nil:
		return false, err
	case why.atLeast > planned.Spec.LabelledRows():
		return p.refuse(ctx, now, why, end, errNotGrown, time.Since(began))
	}
	p.missing, p.refused, p.notGrown = 0, nil, 0
	p.Meter.SetPlanning(meter.Planning{})
	p.Meter.AddCalibrate(planned.Counts)
	p.Meter.AddTraffic(meter.StageCalibrate, planned.Read)
	spec := planned.Spec
	spec.HandledOffset = handledOffset(now)
	p.Log.Logger.Info("exploration planned", zap.String("exploration", spec.Exploration), zap.String("reason", why.reason),
		zap.Int64("labelled_rows", spec.LabelledRows()), zap.Float64("sample_rate", spec.SampleRate),
		zap.Int("dim", spec.Candidates.Dim), zap.Float64("sigma", spec.Candidates.Sigma), zap.Int("candidates", spec.Candidates.Count),
		zap.Int64("calibration_rows", spec.CalibrationRows), zap.Any("left_out", planned.Report.LeftOut),
		zap.Strings("warnings", planned.Report.Warnings), zap.String("bandwidth_warning", planned.Warning))
	return true, p.publish(ctx, spec, now.Requests...)
}

// inVain reports whether an exploration for a class would fail in the same way again.
func inVain(err error) bool {
	var label *encoder.LabelError
	var plan *planError
	return errors.Is(err, ErrSameRows) || errors.Is(err, errNoSuchClass) || errors.As(err, &label) || errors.As(err, &plan)
}

// decline answers requests for classes without an exploration. The newest spec remembers the classes, so that nobody asks
// for them again before the next one.
func (p *Planner) decline(ctx context.Context, now state.Snapshot, why error) (bool, error) {
	classes := classesOf(now)
	p.Log.Logger.Warn("no exploration for a class that featurizers asked for", zap.Strings("classes", classes), zap.Error(why))
	if now.Spec == nil || now.Spec.Earlier() {
		return true, p.State.AnswerRequests(ctx, now.Requests, p.Clock())
	}
	spec := *now.Spec
	spec.Decline(classes)
	spec.HandledOffset = handledOffset(now)
	return true, p.publish(ctx, &spec, now.Requests...)
}

// refuse reports why there is nothing to explore in a log that ended at end. A request is answered where waiting would
// not help: missing rows may still come.
func (p *Planner) refuse(ctx context.Context, now state.Snapshot, why trigger, end int64, cause error, took time.Duration) (bool, error) {
	var few *TooFewRowsError
	if p.FailFast && errors.As(cause, &few) {
		return false, cause
	}
	if !errors.As(cause, &few) {
		p.missing = 0
	} else if few.Want-few.Have != p.missing {
		p.missing = few.Want - few.Have
		p.Log.Logger.Info("too few labelled rows to explore", zap.Int64("rows", few.Have), zap.Int64("min_rows", few.Want), zap.Int64("missing", p.missing))
	}
	p.Meter.SetPlanning(meter.Planning{MissingRows: p.missing})
	if errors.Is(cause, ErrSameRows) && why.asked {
		p.Log.Logger.Warn("request answered without an exploration", zap.String("reason", why.reason), zap.Error(cause))
		return true, p.State.AnswerRequests(ctx, requestsOf(now, wire.ActionStart), p.Clock())
	}
	if errors.Is(cause, errNotGrown) {
		p.notGrown = p.offsets
	}
	// A window full of rows without labels is not read again and again.
	refused := why.refusedAt(end)
	p.refused, p.retryAt = &refused, time.Now().Add(max(planTick, 4*took))
	return false, nil
}

// end adds up the end offsets of events.
func (p *Planner) end(ctx context.Context) (sum int64, err error) {
	partitions, err := pipeline.Retry(ctx, p.Log.Logger, "look up offsets", func() ([]extent, error) { return p.Log.extents(ctx) })
	for _, part := range partitions {
		sum += part.end
	}
	return sum, err
}

// publish writes the spec, with tombstones for the requests that it answers, and waits until the follower has seen it.
func (p *Planner) publish(ctx context.Context, spec *wire.Spec, answered ...state.Request) error {
	failpoint.Hit(failpoint.PlanBefore)
	if err := p.State.PublishSpec(ctx, spec, p.Clock(), answered...); err != nil {
		return err
	}
	failpoint.Hit(failpoint.PlanAfter)
	return nil
}
