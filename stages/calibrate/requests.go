package calibrate

import (
	"fmt"
	"strings"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/state"
)

// answer evaluates the open requests, which the next spec will answer. cancelledAt is the offset of
// the last request to cancel, or -1.
func answer(now state.Snapshot) (start *trigger, cancelledAt int64) {
	cancelledAt = -1
	running := now.Running()
	for _, r := range now.Requests {
		switch {
		case r.Action == wire.ActionStart && r.Class != "":
			if start == nil && running == nil { // the running exploration finishes first
				start = &trigger{reason: r.Describe(), asked: true, classesOnly: true}
			}
		case r.Action == wire.ActionStart:
			start = &trigger{reason: r.Describe(), from: r.From, asked: true}
		case r.Action == wire.ActionExclude && start == nil && harms(running, r):
			start = &trigger{
				reason: fmt.Sprintf("planned again without partition %d: %s", r.Partition, r.Reason),
				from:   running.From,
				asked:  true,
				replan: true,
			}
		case r.Action == wire.ActionCancel && concerns(running, r):
			start, cancelledAt = nil, r.Offset
		}
	}
	return start, cancelledAt
}

// harms reports whether a request asks to replan the running exploration without one of its
// partitions.
func harms(running *wire.Spec, r state.Request) bool {
	return r.Action == wire.ActionExclude && running != nil && running.Exploration == r.Exploration &&
		running.Reads(r.Partition)
}

// excludedFor returns the partitions to exclude from the next exploration: the partitions that
// workers have quarantined and, if it replaces the running exploration because of a bad partition,
// the partitions that the running one excludes.
func excludedFor(now state.Snapshot, why trigger) (list []wire.Exclusion) {
	if running := now.Running(); running != nil && why.replan {
		list = running.Excluded
	}
	for _, r := range now.Requests {
		if harms(now.Running(), r) {
			list = wire.Exclude(list, wire.Exclusion{Partition: r.Partition, Reason: r.Reason})
		}
	}
	return list
}

// classesOf returns the classes named by the open requests.
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

// concerns reports whether a request names the running exploration or no particular one.
func concerns(running *wire.Spec, r state.Request) bool {
	return running != nil && (r.Exploration == "" || r.Exploration == running.Exploration)
}

// void returns the requests that cannot be carried out. Their tombstones answer them.
func (p *Planner) void(now state.Snapshot) []state.Request {
	var void []state.Request
	for _, r := range now.Requests {
		why := ""
		switch {
		case r.Fault != nil:
			why = r.Fault.Error()
		case r.Action == wire.ActionCancel && !concerns(now.Running(), r):
			why = "its exploration is not running"
		case r.Action == wire.ActionExclude && !harms(now.Running(), r):
			why = "its exploration is not running or does not read the partition"
		case r.Class != "" && now.Spec != nil && now.Spec.KnowsClass(r.Class):
			why = "the newest exploration was planned with the class, or did not find it"
		}
		if why != "" {
			p.Env.Logger.Warn("request refused", zap.String("request", r.ID), zap.String("action", string(r.Action)),
				zap.String("exploration", r.Exploration), zap.String("why", why))
			void = append(void, r)
		}
	}
	return void
}

// handledOffset returns the offset after the requests in the state.
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
