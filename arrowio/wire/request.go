package wire

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/internal/outside"
)

// Action is the request to the planner.
type Action string

// The planner starts an exploration now, replacing a running one; cancels the running one; or plans
// it again without a partition.
const (
	ActionStart   Action = "start"
	ActionCancel  Action = "cancel"
	ActionExclude Action = "without"
)

// Request asks the planner to start or cancel an exploration. It is a record of the explorations
// topic under its own key; requests below the spec's handled offset have been answered.
type Request struct {
	Action Action `json:"action"`
	ID     string `json:"id"`
	// the one to cancel, empty = the running one; or the one to plan again
	Exploration string    `json:"exploration,omitempty"`
	Reason      string    `json:"reason,omitempty"` // for people
	Time        time.Time `json:"time,omitzero"`
	From        From      `json:"from,omitempty"` // part of the log to read; empty = as configured
	// Class is the class for which a featurizer asks for an exploration; empty means that a person
	// asks.
	Class string `json:"class,omitempty" bound:"256"`
	// Partition is the partition that a worker wants left out of the plan.
	Partition int32 `json:"partition,omitempty"`
}

// Validate returns an error for an unknown action or part of the log, or an unusable ID.
func (r *Request) Validate() error {
	switch r.Action {
	case ActionStart, ActionCancel:
	case ActionExclude:
		if r.Exploration == "" || r.Partition < 0 {
			return fmt.Errorf(
				"a request to plan without partition %d of exploration %q",
				r.Partition,
				cutText(r.Exploration, 40),
			)
		}
	default:
		return fmt.Errorf("action %q is not one of start, cancel, without", cutText(string(r.Action), 40))
	}
	if r.From != "" && !slices.Contains(Froms(), r.From) {
		return fmt.Errorf("from %q is not one of %v", cutText(string(r.From), 40), Froms())
	}
	if r.Class != "" && r.Action != ActionStart {
		return fmt.Errorf("a request to %s names the class %q", r.Action, cutText(r.Class, 40))
	}
	if len(r.Class) > encoder.MaxCategoryBytes {
		return fmt.Errorf("class of %d bytes, at most %d are allowed", len(r.Class), encoder.MaxCategoryBytes)
	}
	return checkName("request id", r.ID)
}

// ClassRequestID is the ID under which every featurizer asks for an exploration of the class after
// the one with that sequence number, so that their requests are one.
func ClassRequestID(sequence int64, class string) string {
	sum := sha256.Sum256([]byte(class))
	return fmt.Sprintf("class-%d-%x", sequence, sum[:8])
}

// ExclusionRequestID is the ID under which every process asks to plan the exploration with that
// sequence number again, without the partition.
func ExclusionRequestID(sequence int64, partition int32) string {
	return fmt.Sprintf("without-%d-%d", sequence, partition)
}

func (r *Request) describe() string { return "request" }

func (r *Request) canonical() {
	r.Time = canonicalTime(r.Time)
	r.Reason = cutText(r.Reason, outside.MaxText)
}

// EncodeRequest returns the message for r.
func EncodeRequest(r *Request) ([]byte, error) { return encodeControl(requestDocument, r) }

// DecodeRequest reads a message that [EncodeRequest] wrote.
func DecodeRequest(value []byte) (*Request, error) {
	return decodeControl[Request](requestDocument, value)
}
