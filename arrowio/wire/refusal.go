package wire

import (
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
)

// Refusal says that the selection could not use the samples of a partition: they expired, or do not match the
// checkpoint. It is written under the key of the checkpoint. The partition's owner then reads the partition again from
// the start, as the next attempt.
type Refusal struct {
	Exploration string    `json:"exploration"`
	SpecHash    string    `json:"spec_hash"`
	Partition   int32     `json:"partition"`
	Attempt     int       `json:"attempt"` // the refused one
	Reason      string    `json:"reason"`
	Time        time.Time `json:"time,omitzero"`
}

// Validate returns an error for unusable names and negative numbers.
func (r *Refusal) Validate() error {
	if r.Partition < 0 || r.Attempt < 0 {
		return fmt.Errorf("negative partition %d or attempt %d", r.Partition, r.Attempt)
	}
	if err := checkName("spec hash", r.SpecHash); err != nil {
		return err
	}
	return checkName("exploration", r.Exploration)
}

type refusalDocument struct {
	FormatVersion int `json:"format_version"`
	*Refusal
}

// EncodeRefusal returns the message for r.
func EncodeRefusal(r *Refusal) ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("encode refusal: %w", err)
	}
	c := *r
	c.Time = canonicalTime(c.Time)
	return encodeNote(KeyRefusal, refusalDocument{FormatVersion, &c}, c.Exploration)
}

// DecodeRefusal reads a message that [EncodeRefusal] wrote.
func DecodeRefusal(dec *arrowio.Decoder, value []byte) (*Refusal, error) {
	var r Refusal
	id, err := decodeNote(dec, value, KeyRefusal, &refusalDocument{Refusal: &r})
	if err == nil {
		err = readTimes(&r.Time)
	}
	if err != nil {
		return nil, fmt.Errorf("decode refusal: %w", err)
	}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("decode refusal: %w: %w", ErrMalformed, err)
	}
	if id != r.Exploration {
		return nil, fmt.Errorf("decode refusal: %w: id column says %q, metadata %q", ErrMalformed, id, r.Exploration)
	}
	return &r, nil
}

// ScoresRecord is the content of a record of the scores topic: one of its two parts is set.
type ScoresRecord struct {
	Checkpoint *Checkpoint
	Refusal    *Refusal
}

// DecodeScores reads a record of the scores topic.
func DecodeScores(dec *arrowio.Decoder, value []byte) (ScoresRecord, error) {
	refusal, err := DecodeRefusal(dec, value)
	if err == nil {
		return ScoresRecord{Refusal: refusal}, nil
	}
	checkpoint, err := DecodeCheckpoint(dec, value)
	return ScoresRecord{Checkpoint: checkpoint}, err
}
