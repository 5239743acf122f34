package wire

import (
	"errors"
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/scoring"
)

// CloseReason is why a partition takes no further rows.
type CloseReason string

// A partition closes when its quota is filled, at the end of its range, when offsets of its range
// are no longer in the log, or when an answer of the schema registry differs from its answer at
// planning: then the exploration cannot produce a feature set.
const (
	CloseQuota    CloseReason = "quota"
	CloseEnd      CloseReason = "end"
	CloseLost     CloseReason = "lost"
	CloseRegistry CloseReason = "registry"
)

// Checkpoint is the state of one partition in an exploration: the sums over the rows before
// (NextOffset, NextOrdinal), and the offset at which to read on. A restart needs nothing else.
type Checkpoint struct {
	Exploration string `json:"exploration"`              // id
	Sequence    int64  `json:"sequence" bound:"0..1e12"` // of the exploration
	SpecHash    string `json:"spec_hash"`                // [Spec.Hash]
	Partition   int32  `json:"partition"`
	// Attempt counts how often the partition was read again from its start because its samples were
	// refused ([Refusal]).
	Attempt    int   `json:"attempt,omitempty"`
	NextOffset int64 `json:"next_offset"` // first offset of events not yet read
	// ordinal that the next row gets; for a closed partition its closing ordinal
	NextOrdinal int64       `json:"next_ordinal"`
	Closed      bool        `json:"closed"`
	CloseReason CloseReason `json:"close_reason,omitempty"` // empty unless closed
	Arithmetic  string      `json:"kernel"`                 // numeric kernel of the sums
	WrittenAt   time.Time   `json:"written_at,omitzero"`
	Counts      Counts      `json:"counts"`
	// of the scored rows; zero under a criterion that needs only sums
	Samples   SampleMark `json:"samples,omitzero"`
	EventsLog string     `json:"events_log,omitempty"` // identity of the log of NextOffset; empty if unknown
	LastBatch BatchMark  `json:"last_batch,omitzero"`  // of events, the last one read

	Sums *scoring.Sums `json:"-"` // columns on the wire
}

// BatchMark distinguishes a Kafka batch from others that may later be in its place; zero = none.
type BatchMark struct {
	Offset   int64  `json:"offset"` // base offset
	Checksum uint32 `json:"crc"`    // CRC-32C, as in its header
}

// Validate returns every inconsistency between the parts of a checkpoint.
func (c *Checkpoint) Validate() error {
	if c.Sums == nil {
		return errors.New("no sums")
	}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if err := checkName("exploration", c.Exploration); err != nil {
		faults = append(faults, err)
	}
	if c.Sequence < 0 || c.Partition < 0 || c.Attempt < 0 || c.NextOffset < 0 || c.NextOrdinal < 0 {
		fault("negative sequence %d, partition %d, attempt %d, next offset %d or next ordinal %d",
			c.Sequence, c.Partition, c.Attempt, c.NextOffset, c.NextOrdinal)
	}
	faults = append(faults, c.validateClosing(), c.Counts.Validate())
	if err := c.Sums.Validate(); err != nil {
		fault("sums: %w", err)
	}
	if c.Sums.Rows != c.Counts.Scored-c.Counts.HeldOut {
		fault("sums of %d rows, but %d scored and %d of them held out", c.Sums.Rows, c.Counts.Scored, c.Counts.HeldOut)
	}
	if c.Samples.FirstOffset < 0 || c.Samples.Rows != 0 && c.Samples.Rows != c.Counts.Scored {
		fault("%d samples from offset %d, but %d rows scored", c.Samples.Rows, c.Samples.FirstOffset, c.Counts.Scored)
	}
	return errors.Join(faults...)
}

// validateClosing checks that a partition has a close reason exactly when it is closed.
func (c *Checkpoint) validateClosing() error {
	switch c.CloseReason {
	case CloseQuota, CloseEnd, CloseLost, CloseRegistry:
		if !c.Closed {
			return fmt.Errorf("close reason %q on an open partition", c.CloseReason)
		}
	case "":
		if c.Closed {
			return errors.New("closed without a reason")
		}
	default:
		return fmt.Errorf("close reason %q is not one of quota, end, lost, registry", c.CloseReason)
	}
	return nil
}

// CheckAgainst returns an error unless an accumulator running spec on the given numeric kernel
// (normally [scoring.Arithmetic]) may continue c. [ErrSpecMismatch] means that the checkpoint must
// not be used, [ErrArithmeticMismatch] that the partition has to be computed again from its start
// offset.
func (c *Checkpoint) CheckAgainst(spec *Spec, kernel string) error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("checkpoint of exploration %q, partition %d: %w: %w",
			c.Exploration, c.Partition, ErrSpecMismatch, fmt.Errorf(format, args...))
	}
	if c.Exploration != spec.Exploration {
		return refuse("the running exploration is %q", spec.Exploration)
	}
	if hash := spec.Hash(); c.SpecHash != hash {
		return refuse("it was made under spec hash %q, the running one is %q", c.SpecHash, hash)
	}
	p, ok := spec.Partition(c.Partition)
	if !ok {
		return refuse("the spec does not read this partition")
	}
	if c.NextOffset < p.StartOffset {
		return refuse("next offset %d is before the start offset %d", c.NextOffset, p.StartOffset)
	}
	if err := c.CheckShape(spec); err != nil {
		return refuse("%w", err)
	}
	if c.Counts.HeldOut > 0 && !spec.Criterion.HoldsOut() {
		return refuse("%d rows are held out, criterion %v holds none out", c.Counts.HeldOut, spec.Criterion)
	}
	if c.Arithmetic != kernel {
		return fmt.Errorf("checkpoint of exploration %q, partition %d: %w: %q, not %q",
			c.Exploration, c.Partition, ErrArithmeticMismatch, c.Arithmetic, kernel)
	}
	return nil
}

// CheckShape returns an error if the sums are not of the size that spec asks for.
func (c *Checkpoint) CheckShape(spec *Spec) error {
	if have, want := c.Sums.Candidates(), spec.Candidates.Count; have != want {
		return fmt.Errorf("sums of %d candidates instead of %d", have, want)
	}
	if have, want := c.Sums.Outputs(), spec.Encoder.Outputs(); have != want {
		return fmt.Errorf("sums of %d outputs instead of %d", have, want)
	}
	return nil
}
