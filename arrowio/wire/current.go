package wire

import (
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
)

// Current points at the feature set or model in use. Readers keep the one with the greatest sequence
// number that they have seen.
type Current struct {
	ID          string    `json:"id"`
	Sequence    int64     `json:"sequence"`
	Exploration string    `json:"exploration,omitempty"`
	Time        time.Time `json:"time,omitzero"`
}

// Validate reports an unusable id or a negative sequence number.
func (c *Current) Validate() error {
	if c.Sequence < 0 {
		return fmt.Errorf("sequence %d is negative", c.Sequence)
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
