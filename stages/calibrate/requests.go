package calibrate

import (
	"fmt"
	"strings"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/state"
)

// answer handles the open requests, which the next spec will answer. cancelledAt is the offset of a request to cancel,
// -1 if there is none.
func answer(now state.Snapshot) (start *trigger, cancelledAt int64) {
	cancelledAt = -1
	running := now.Running()
	for _, r := range now.Requests {
		switch {
		case r.Action == wire.ActionStart && r.Class != "":
			if start == nil && running == nil { // let the running one finish first
				start = &trigger{reason: r.Describe(), asked: true, classesOnly: true}
			}
		case r.Action == wire.ActionStart:
			start = &trigger{reason: r.Describe(), from: r.From, asked: true}
		case r.Action == wire.ActionExclude && start == nil && harms(running, r):
			start = &trigger{reason: fmt.Sprintf("planned again without partition %d: %s", r.Partition, r.Reason), from: running.From, asked: true, replan: true}
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
			p.Env.Logger.Warn("request refused", zap.String("request", r.ID), zap.String("action", string(r.Action)),
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
