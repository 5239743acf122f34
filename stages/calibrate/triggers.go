package calibrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/state"
)

// growth is the factor by which the labelled rows of the log must grow before a set made from fewer than N0 is replaced.
const growth = 4

// errNotGrown says that the log looked as if it had grown by the factor and has not.
var errNotGrown = errors.New("the labelled rows have not grown fourfold yet")

// trigger says why an exploration starts.
type trigger struct {
	reason  string
	from    wire.From // empty = as configured
	asked   bool      // by a request
	atLeast int64     // labelled rows without which there is no point; 0 = any number
	forThem bool      // by requests that name classes alone
}

// answer handles the requests not answered yet: the spec published next answers them. cancelledAt is
// the offset of a request to cancel, -1 if there is none.
func answer(now state.Snapshot) (start *trigger, cancelledAt int64) {
	cancelledAt = -1
	running := now.Running()
	for _, r := range now.Requests {
		switch {
		case r.Action == wire.ActionStart && r.Class != "":
			if start == nil && running == nil { // the one that runs is let finish first
				start = &trigger{reason: r.Describe(), asked: true, forThem: true}
			}
		case r.Action == wire.ActionStart:
			start = &trigger{reason: r.Describe(), from: r.From, asked: true}
		case r.Action == wire.ActionCancel && concerns(running, r):
			start, cancelledAt = nil, r.Offset
		}
	}
	return start, cancelledAt
}

// classesOf lists the classes that the open requests name.
func classesOf(now state.Snapshot) (classes []string) {
	for _, r := range now.Requests {
		if r.Class != "" {
			classes = append(classes, r.Class)
		}
	}
	return classes
}

// describeAll names the requests of one action.
func describeAll(requests []state.Request, action wire.Action) string {
	var all []string
	for _, r := range requests {
		if r.Action == action {
			all = append(all, r.Describe())
		}
	}
	return strings.Join(all, "; ")
}

func requestsOf(now state.Snapshot, action wire.Action) (requests []state.Request) {
	for _, r := range now.Requests {
		if r.Action == action {
			requests = append(requests, r)
		}
	}
	return requests
}

// concerns reports whether a request that names the exploration, or none, is about the running one.
func concerns(running *wire.Spec, r state.Request) bool {
	return running != nil && (r.Exploration == "" || r.Exploration == running.Exploration)
}

// void returns the requests that cannot be carried out. They are answered by their tombstones.
func (p *Planner) void(now state.Snapshot) []state.Request {
	var void []state.Request
	for _, r := range now.Requests {
		why := ""
		switch {
		case r.Fault != nil:
			why = r.Fault.Error()
		case r.Action == wire.ActionCancel && !concerns(now.Running(), r):
			why = "the exploration that it is about does not run"
		case r.Class != "" && now.Spec != nil && !now.Spec.Earlier() && now.Spec.KnowsClass(r.Class):
			why = "the newest exploration was planned with the class, or did not find it"
		}
		if why != "" {
			p.Log.Logger.Warn("request refused", zap.String("request", r.ID), zap.String("action", string(r.Action)),
				zap.String("exploration", r.Exploration), zap.String("why", why))
			void = append(void, r)
		}
	}
	return void
}

// handledOffset is behind the requests that the state has.
func handledOffset(now state.Snapshot) int64 {
	var next int64
	if now.Spec != nil {
		next = now.Spec.HandledOffset
	}
	for _, r := range now.Requests {
		next = max(next, r.Offset+1)
	}
	return next
}

// scheduled checks everything that starts an exploration, except requests.
func (p *Planner) scheduled(ctx context.Context, now state.Snapshot) *trigger {
	switch spec := now.Spec; {
	case now.Current == nil && (spec == nil || spec.Earlier()):
		return &trigger{reason: "the pipeline has no feature set"}
	case now.Status() == state.StatusReplaced:
		return &trigger{reason: "the running exploration was planned by an earlier version"}
	case p.Settings.changed(now):
		return &trigger{reason: "the configured spec has changed"}
	case spec == nil:
		return nil
	case spec.Status == wire.StatusAbandoned && p.Clock().Sub(now.SpecTime) >= planRetry:
		return &trigger{reason: "the last exploration was abandoned: " + spec.Reason}
	case now.Running() != nil:
		return p.forsaken(ctx, now)
	}
	return p.due(ctx, now)
}

// due checks whether, with no exploration running, time has passed or the log has grown since the last one.
func (p *Planner) due(ctx context.Context, now state.Snapshot) *trigger {
	e := p.Settings.Exploration
	if e.Every > 0 && p.Clock().Sub(now.Spec.PlannedAt) >= e.Every { // the record's time moves when it is cancelled
		return &trigger{reason: fmt.Sprintf("%v since the last plan", e.Every)}
	}
	if time.Since(p.offsetsAt) < offsetsEvery {
		return nil
	}
	p.offsetsAt = time.Now()
	partitions, err := p.Log.extents(ctx)
	if err != nil {
		p.Log.Logger.Warn("offsets of events not known", zap.Error(err))
		return nil
	}
	p.offsets = 0
	for _, part := range partitions {
		p.offsets += part.end - part.first
	}
	start := grown(e, now, partitions)
	if start != nil && start.atLeast > 0 && p.offsets < 2*p.notGrown { // the estimate was wrong the last time
		return nil
	}
	return start
}

// changed reports whether the configuration asks for something else than the newest exploration did. Where an earlier
// version wrote that, or there is none, the set in use decides.
func (s Settings) changed(now state.Snapshot) bool {
	if now.Spec != nil && !now.Spec.Earlier() {
		return now.Spec.ConfigHash != s.hash()
	}
	of := now.CurrentSet()
	if of == nil {
		return false
	}
	e, set := s.Exploration, of.Set
	drawn, label := set.Candidates, set.Encoder.Label
	return drawn.Map != e.Map || drawn.Distribution != e.Distribution || drawn.Sampler != e.Sampler || drawn.Seed != e.Seed ||
		drawn.Count != e.CandidateCount() || len(set.Set.Index) != e.Features ||
		set.Lineage.Criterion != e.Criterion || set.Lineage.Rounds != e.ActiveRounds() ||
		set.Lineage.RefineSteps != e.ActiveRefineSteps() || set.Lineage.EventsTopic != s.EventsTopic ||
		!slices.Equal(set.Encoder.Passthrough, s.Events.Passthrough) || label == nil || !slices.Equal(label.Columns, s.Events.Label)
}

// grown starts an exploration where the log has grown far enough since the last one.
func grown(e Config, now state.Snapshot, partitions []extent) *trigger {
	set := now.CurrentSet()
	var advanced int64
	for i, p := range partitions {
		before, ok := readUpTo(now.Spec, set, int32(i))
		if !ok {
			before = p.first
		}
		advanced += max(0, p.end-before) // what retention has removed meanwhile counts
	}
	if e.EveryOffsets > 0 && advanced >= e.EveryOffsets {
		return &trigger{reason: fmt.Sprintf("events advanced by %d offsets", advanced)}
	}
	if e.SampleRate != RateAuto || set == nil || set.Set.Lineage.Rows >= e.SampleRows || set.Set.Lineage.SampleRate < 1 || now.Spec.Earlier() {
		return nil
	}
	labelled := now.Spec.LabelledRows()
	if estimateLabelled(now.Spec, partitions) < growth*labelled {
		return nil
	}
	return &trigger{
		reason:  fmt.Sprintf("the feature set rests on %d rows, and the labelled rows have grown fourfold", set.Set.Lineage.Rows),
		atLeast: growth * labelled,
	}
}

// readUpTo is the offset at which the last exploration stopped reading a partition; ok is false where it did not read it.
// For one of an earlier version its set says so.
func readUpTo(last *wire.Spec, set *state.Set, partition int32) (offset int64, ok bool) {
	if !last.Earlier() {
		part, ok := last.Partition(partition)
		return part.EndOffset, ok
	}
	if set != nil {
		for _, part := range set.Set.Lineage.Partitions {
			if part.Partition == partition {
				return part.NextOffset, true
			}
		}
	}
	return 0, false
}

// estimateLabelled estimates the labelled rows of the log by those that the last plan counted.
func estimateLabelled(last *wire.Spec, partitions []extent) int64 {
	var labelled, offsets, all float64
	for _, part := range last.Partitions {
		labelled += float64(part.LabelledRows)
		offsets += float64(part.EndOffset - part.StartOffset)
	}
	for _, p := range partitions {
		all += float64(p.end - p.first)
	}
	return int64(all * labelled / max(1, offsets))
}
