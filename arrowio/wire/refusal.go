package wire

import (
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/internal/outside"
)

// Refusal reports that the selection could not use the samples of a partition: they expired, or do
// not match the checkpoint. It is written under the key of the checkpoint. The partition's owner
// then reads the partition again from the start, as the next attempt.
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

func (r *Refusal) describe() string { return "refusal" }

func (r *Refusal) canonical() {
	r.Time = canonicalTime(r.Time)
	r.Reason = cutText(r.Reason, outside.MaxText)
}

// EncodeRefusal returns the message for r.
func EncodeRefusal(r *Refusal) ([]byte, error) { return encodeControl(refusalDocument, r) }

// DecodeRefusal reads a message that [EncodeRefusal] wrote.
func DecodeRefusal(value []byte) (*Refusal, error) {
	return decodeControl[Refusal](refusalDocument, value)
}

// ScoresRecord is the content of a record of the scores topic: one of its two parts is set.
type ScoresRecord struct {
	Checkpoint *Checkpoint
	Refusal    *Refusal
}

// DecodeScores reads a record of the scores topic. A refusal is JSON, a checkpoint an Arrow stream.
func DecodeScores(dec *arrowio.Decoder, value []byte) (ScoresRecord, error) {
	if IsJSON(value) {
		refusal, err := DecodeRefusal(value)
		return ScoresRecord{Refusal: refusal}, err
	}
	checkpoint, err := DecodeCheckpoint(dec, value)
	return ScoresRecord{Checkpoint: checkpoint}, err
}
