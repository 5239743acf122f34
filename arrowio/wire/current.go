package wire

import (
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/internal/outside"
)

// Current points at the current feature set or model. Readers keep the pointer with the greatest
// sequence number that they have seen, and of equal ones the later.
type Current struct {
	ID string `json:"id"`
	// Sequence is the sequence number of the exploration that made the feature set. A pointer to a
	// model never has a lower sequence number than the one before it: a pointer back to a model of
	// an earlier set keeps the number.
	Sequence    int64     `json:"sequence" bound:"0..1e12"`
	Exploration string    `json:"exploration,omitempty"`
	Time        time.Time `json:"time,omitzero"`
	// Only for models: the pin that keeps challengers from replacing the model, the previous model,
	// and why it was replaced.
	Pin      Pin    `json:"pin,omitempty"`
	Replaced string `json:"replaced,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// Pin is when a challenger may replace a model that was made current by hand.
type Pin string

// The values of Pin; none is empty.
const (
	PinHold   Pin = "hold"         // never, until the pin is removed
	PinBeaten Pin = "until_beaten" // only if it is better on the same rows, regardless of the configured rule
)

// Validate returns an error for an unusable ID, an unusable sequence number or an unknown pin.
func (c *Current) Validate() error {
	if !validSequence(c.Sequence) {
		return fmt.Errorf("sequence %d is not one of 0 to %d", c.Sequence, int64(MaxSequence))
	}
	if c.Pin != "" && c.Pin != PinHold && c.Pin != PinBeaten {
		return fmt.Errorf("unknown pin %q", cutText(string(c.Pin), 40))
	}
	return checkName("id", c.ID)
}

func (c *Current) describe() string { return "current pointer" }

func (c *Current) canonical() {
	c.Time = canonicalTime(c.Time)
	c.Reason = cutText(c.Reason, outside.MaxText)
}

// EncodeCurrent returns the message for c.
func EncodeCurrent(c *Current) ([]byte, error) { return encodeControl(currentDocument, c) }

// DecodeCurrent reads a message that [EncodeCurrent] wrote.
func DecodeCurrent(value []byte) (*Current, error) {
	return decodeControl[Current](currentDocument, value)
}
