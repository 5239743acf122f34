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

// growth is the factor by which the labelled rows of the log must grow before a set made from fewer than N0 rows is
// replaced.
const growth = 4

// leftOutFor is how long the rows of a partition that the last exploration left out are no reason for another
// exploration, which would try that partition again.
const leftOutFor = 10 * time.Minute

// errNotGrown says that the log seemed to have grown by the factor but has not.
var errNotGrown = errors.New("the labelled rows have not grown fourfold yet")

// trigger says why an exploration starts.
type trigger struct {
	reason  string
	from    wire.From // empty = as configured
	asked   bool      // by a request
	atLeast int64     // labelled rows needed to be worthwhile; 0 = any number
	forThem bool      // only by requests that name classes
	again   bool      // the running one, with one more partition left out
	anew    bool      // even if it reads the same rows as the last one
}

// answer handles the open requests, which the next spec will answer. cancelledAt is the offset of a request to cancel,
// -1 if there is none.
func answer(now state.Snapshot) (start *trigger, cancelledAt int64) {
	cancelledAt = -1
	running := now.Running()
	for _, r := range now.Requests {
		switch {
		case r.Action == wire.ActionStart && r.Class != "":
			if start == nil && running == nil { // let the running one finish first
				start = &trigger{reason: r.Describe(), asked: true, forThem: true}
			}
		case r.Action == wire.ActionStart:
			start = &trigger{reason: r.Describe(), from: r.From, asked: true}
		case r.Action == wire.ActionExclude && start == nil && harms(running, r):
			start = &trigger{reason: fmt.Sprintf("planned again without partition %d: %s", r.Partition, r.Reason), from: running.From, asked: true, again: true}
		case r.Action == wire.ActionCancel && concerns(running, r):
			start, cancelledAt = nil, r.Offset
		}
	}
	return start, cancelledAt
}

// harms reports whether a request asks to plan the running exploration again without a partition that it reads.
func harms(running *wire.Spec, r state.Request) bool {
	return r.Action == wire.ActionExclude && running != nil && running.Exploration == r.Exploration && running.Reads(r.Partition)
}

// excludedFor lists the partitions to leave out of the next exploration: those that workers have set aside and, if it
// replaces a running one because of such a partition, those that the running one left out.
func excludedFor(now state.Snapshot, why trigger) (list []wire.Exclusion) {
	if running := now.Running(); running != nil && why.again {
		list = running.Excluded
	}
	for _, r := range now.Requests {
		if harms(now.Running(), r) {
			list = wire.Exclude(list, wire.Exclusion{Partition: r.Partition, Reason: r.Reason})
		}
	}
	return list
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

// describeAll describes the requests for one action.
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

// concerns reports whether a request names the running exploration, or none.
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
		case r.Action == wire.ActionExclude && !harms(now.Running(), r):
			why = "the exploration that it is about does not run, or does not read the partition"
		case r.Class != "" && now.Spec != nil && now.Spec.KnowsClass(r.Class):
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

// handledOffset is the offset after the requests in the state.
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
	case now.Current == nil && spec == nil && !now.SpecLost:
		return &trigger{reason: "the pipeline has no feature set"}
	case now.SpecLost:
		return &trigger{reason: "the spec of the last exploration cannot be read"}
	case now.Current != nil && now.CurrentSet() == nil && (spec == nil || now.Status() == state.StatusPublished):
		return &trigger{reason: fmt.Sprintf("feature set %s, which is in use, cannot be read", now.Current.ID), anew: true}
	case p.Settings.changed(now):
		return &trigger{reason: "the configured spec has changed"}
	case spec == nil:
		return nil
	case spec.Status == wire.StatusAbandoned && p.Clock().Sub(now.SpecTime) >= planRetry:
		return &trigger{reason: "the last exploration was abandoned: " + spec.Reason}
	case now.Running() != nil:
		if again := p.missed(now.Running(), now.Progress); again != nil {
			return again
		}
		return p.stalled(ctx, now)
	}
	return p.due(ctx, now)
}

// missed starts the running exploration again if it waits for a partition without a leader. Once features are being
// chosen, all of its rows have been read.
func (p *Planner) missed(spec *wire.Spec, progress *wire.Progress) *trigger {
	if progress != nil && progress.Exploration == spec.Exploration {
		return nil
	}
	for _, gone := range p.leaders.Gone() {
		if spec.Reads(gone.Partition) {
			return &trigger{
				reason: fmt.Sprintf("planned again without partition %d: %s", gone.Partition, gone.Reason), from: spec.From, again: true,
			}
		}
	}
	return nil
}

// due checks whether time has passed or the log has grown since the last exploration, when none is running.
func (p *Planner) due(ctx context.Context, now state.Snapshot) *trigger {
	e := p.Settings.Exploration
	if e.Every > 0 && p.Clock().Sub(now.Spec.PlannedAt) >= e.Every { // the record's own time moves when it is cancelled
		return &trigger{reason: fmt.Sprintf("%v since the last plan", e.Every)}
	}
	if time.Since(p.offsetsAt) < offsetsEvery {
		return nil
	}
	p.offsetsAt = time.Now()
	partitions, err := p.Log.extents(ctx, p.leaders.Away())
	if err != nil {
		p.Log.Logger.Warn("offsets of events not known", zap.Error(err))
		return nil
	}
	p.offsets = 0
	for _, part := range partitions {
		p.offsets += part.end - part.first
	}
	log, err := p.Log.identity(ctx)
	if err != nil {
		p.Log.Logger.Warn("identity of events not known", zap.Error(err))
		return nil
	}
	start := grown(e, now, partitions, sameLog(now.Spec, log), p.Clock())
	if start != nil && start.atLeast > 0 && p.offsets < 2*p.notGrown { // the last estimate was wrong
		return nil
	}
	return start
}

// changed reports whether the configuration asks for something else than the newest exploration did, or, without one,
// than the set in use.
func (s Settings) changed(now state.Snapshot) bool {
	if now.Spec != nil {
		return now.Spec.ConfigHash != s.hash()
	}
	of := now.CurrentSet()
	if of == nil {
		return false
	}
	e, set := s.Exploration, of.Set
	drawn, label := set.Candidates, set.Encoder.Label
	return drawn.Map != e.Map || drawn.Distribution != e.Distribution || drawn.Seed != e.Seed ||
		drawn.Count != e.CandidateCount() || len(set.Set.Index) != e.Features ||
		set.Lineage.Criterion != e.Criterion || set.Lineage.Rounds != e.ActiveRounds() ||
		set.Lineage.RefineSteps != e.ActiveRefineSteps() || set.Lineage.EventsTopic != s.EventsTopic ||
		!slices.Equal(set.Encoder.Passthrough, s.Events.Passthrough) || label == nil || !slices.Equal(label.Columns, s.Events.Label)
}

// grown starts an exploration if the log has grown far enough since the last one. If that one read another log,
// everything is new.
func grown(e Config, now state.Snapshot, partitions []extent, same bool, at time.Time) *trigger {
	set := now.CurrentSet()
	var advanced int64
	for i, p := range partitions {
		if p.out || now.Spec.Excludes(int32(i)) && at.Sub(now.Spec.PlannedAt) < leftOutFor {
			continue
		}
		before, ok := now.Spec.Partition(int32(i))
		if !ok || !same {
			before.EndOffset = p.first
		}
		advanced += max(0, p.end-before.EndOffset) // counts what retention has removed meanwhile
	}
	if e.EveryOffsets > 0 && advanced >= e.EveryOffsets {
		return &trigger{reason: fmt.Sprintf("events advanced by %d offsets", advanced)}
	}
	if e.SampleRate != RateAuto || set == nil || set.Set.Lineage.Rows >= e.SampleRows || set.Set.Lineage.SampleRate < 1 {
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

// estimateLabelled estimates the labelled rows of the log from those that the last plan counted.
func estimateLabelled(last *wire.Spec, partitions []extent) int64 {
	var labelled, offsets, all float64
	for _, part := range last.Partitions {
		labelled += float64(part.LabelledRows)
		offsets += float64(part.EndOffset - part.StartOffset)
	}
	for i, p := range partitions {
		if !last.Excludes(int32(i)) {
			all += float64(p.end - p.first)
		}
	}
	return int64(all * labelled / max(1, offsets))
}
