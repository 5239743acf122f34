package wire

import (
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
)

// Current points at the feature set or model in use. Readers keep the one with the greatest sequence
// number that they have seen, of equal ones the later.
type Current struct {
	ID string `json:"id"`
	// Sequence is that of the exploration behind the feature set. A pointer to a model never has a lower one than the pointer
	// before it: one back to a model of an earlier set keeps that.
	Sequence    int64     `json:"sequence"`
	Exploration string    `json:"exploration,omitempty"`
	Time        time.Time `json:"time,omitzero"`
	// Of models alone: what keeps challengers from taking the place, the model that the pointer was taken from, and why.
	Pin      Pin    `json:"pin,omitempty"`
	Replaced string `json:"replaced,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// Pin says what a challenger needs to take the place of a model that was made current by hand.
type Pin string

// The pins; none is empty.
const (
	PinHold   Pin = "hold"         // nothing helps until the pin is taken off
	PinBeaten Pin = "until_beaten" // it has to be better on the same rows, whatever else is configured
)

// Validate reports an unusable id, a negative sequence number or an unknown pin.
func (c *Current) Validate() error {
	if c.Sequence < 0 {
		return fmt.Errorf("sequence %d is negative", c.Sequence)
	}
	if c.Pin != "" && c.Pin != PinHold && c.Pin != PinBeaten {
		return fmt.Errorf("unknown pin %q", cutText(string(c.Pin), 40))
	}
	return checkName("id", c.ID)
}

type currentDocument struct {
	FormatVersion int `json:"format_version"`
	*Current
}

// EncodeCurrent returns the message for c.
func EncodeCurrent(c *Current) ([]byte, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("encode current pointer: %w", err)
	}
	p := *c
	p.Time = canonicalTime(p.Time)
	return encodeNote(KeyCurrent, currentDocument{FormatVersion, &p}, p.ID)
}

// DecodeCurrent reads a message that [EncodeCurrent] wrote.
func DecodeCurrent(dec *arrowio.Decoder, value []byte) (*Current, error) {
	var c Current
	doc := currentDocument{Current: &c}
	id, err := decodeNote(dec, value, KeyCurrent, &doc)
	if err != nil {
		return nil, fmt.Errorf("decode current pointer: %w", err)
	}
	if id != c.ID {
		return nil, fmt.Errorf("decode current pointer: %w: id column says %q, metadata %q", ErrMalformed, id, c.ID)
	}
	if err := readTimes(&c.Time); err != nil {
		return nil, fmt.Errorf("decode current pointer: %w", err)
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("decode current pointer: %w: %w", ErrMalformed, err)
	}
	return &c, nil
}
