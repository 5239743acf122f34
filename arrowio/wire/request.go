package wire

import (
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
)

// Action is what a request asks of the planner.
type Action string

// The planner starts an exploration now, cancels the running one, or cancels and starts again.
const (
	ActionStart   Action = "start"
	ActionCancel  Action = "cancel"
	ActionRestart Action = "restart"
)

// Request asks the planner to start or cancel an exploration. It is a record of the explorations topic
// under its own key; the spec's handled offset says which requests are answered.
type Request struct {
	Action      Action    `json:"action"`
	ID          string    `json:"id"`
	Exploration string    `json:"exploration,omitempty"` // the one to cancel; empty = whichever runs
	Reason      string    `json:"reason,omitempty"`
	Time        time.Time `json:"time,omitzero"`
	Until       string    `json:"until,omitempty"` // end of the sample asked for: quota or end; empty = as configured
}

// Ends of a sample that a request can ask for.
const (
	UntilQuota = "quota"
	UntilEnd   = "end"
)

// Validate reports an unknown action or end, or an unusable id.
func (r *Request) Validate() error {
	switch r.Action {
	case ActionStart, ActionCancel, ActionRestart:
	default:
		return fmt.Errorf("action %q is not one of start, cancel, restart", r.Action)
	}
	switch r.Until {
	case "", UntilQuota, UntilEnd:
	default:
		return fmt.Errorf("until %q is not one of quota, end", r.Until)
	}
	return checkName("request id", r.ID)
}

type requestDocument struct {
	FormatVersion int `json:"format_version"`
	*Request
}

// EncodeRequest returns the message for r.
func EncodeRequest(r *Request) ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	c := *r
	c.Time = canonicalTime(c.Time)
	return encodeNote(KeyRequest, requestDocument{FormatVersion, &c}, c.ID)
}

// DecodeRequest reads a message that [EncodeRequest] wrote.
func DecodeRequest(dec *arrowio.Decoder, value []byte) (*Request, error) {
	var r Request
	doc := requestDocument{Request: &r}
	id, err := decodeNote(dec, value, KeyRequest, &doc)
	if err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	if id != r.ID {
		return nil, fmt.Errorf("decode request: %w: id column says %q, metadata %q", ErrMalformed, id, r.ID)
	}
	if err := readTimes(&r.Time); err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("decode request: %w: %w", ErrMalformed, err)
	}
	return &r, nil
}
