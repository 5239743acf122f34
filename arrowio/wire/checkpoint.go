package wire

import (
	"errors"
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

// CloseReason says why a partition takes no further rows.
type CloseReason string

// A partition closes when its quota is filled, at its end offset, or at the exploration's deadline.
const (
	CloseQuota    CloseReason = "quota"
	CloseEnd      CloseReason = "end"
	CloseDeadline CloseReason = "deadline"
)

// Checkpoint is the state of one partition in one pass of an exploration: the sums over the rows before
// (NextOffset, NextOrdinal), and the offset at which to read on. It is all that a restart needs. A pass sums either
// scores (Sums) or a Gram (Products); Products cannot be continued and are there for closed partitions only.
type Checkpoint struct {
	FormatVersion int    // written as [FormatVersion]; zero means that
	Exploration   string // id
	Sequence      int64  // of the exploration
	SpecHash      string // [Spec.Hash]
	Pass          int    // [Spec.Pass]
	Partition     int32
	NextOffset    int64 // first offset of events not yet read
	NextOrdinal   int64 // ordinal that the next row gets; for a closed partition its closing ordinal
	Closed        bool
	CloseReason   CloseReason // empty unless closed
	Counts        Counts
	Sums          *scoring.Sums
	Products      *training.Products
	Kernel        string // numeric kernel of the sums
	WrittenAt     time.Time
}

// Validate reports every inconsistency between the parts of a checkpoint.
func (c *Checkpoint) Validate() error {
	if (c.Sums == nil) == (c.Products == nil) {
		return errors.New("want either scores or a Gram")
	}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if err := checkName("exploration", c.Exploration); err != nil {
		faults = append(faults, err)
	}
	if c.Pass < 0 || c.Products != nil && (c.Pass == 0 || !c.Closed) {
		fault("a Gram in pass %d, closed: %v", c.Pass, c.Closed)
	}
	if c.Sequence < 0 || c.Partition < 0 || c.NextOffset < 0 || c.NextOrdinal < 0 {
		fault("negative sequence %d, partition %d, next offset %d or next ordinal %d",
			c.Sequence, c.Partition, c.NextOffset, c.NextOrdinal)
	}
	faults = append(faults, c.validateClosing(), c.Counts.Validate())
	rows, err := c.summed()
	if err != nil {
		fault("sums: %w", err)
	}
	if rows != c.Counts.Scored {
		fault("sums of %d rows, but %d scored", rows, c.Counts.Scored)
	}
	return errors.Join(faults...)
}

// summed returns the number of rows in the sums and what is wrong with them.
func (c *Checkpoint) summed() (rows int64, err error) {
	if c.Products != nil {
		return c.Products.Rows, c.Products.Validate()
	}
	return c.Sums.Rows, c.Sums.Validate()
}

// validateClosing checks that a partition has a close reason exactly when it is closed.
func (c *Checkpoint) validateClosing() error {
	switch c.CloseReason {
	case CloseQuota, CloseEnd, CloseDeadline:
		if !c.Closed {
			return fmt.Errorf("close reason %q on an open partition", c.CloseReason)
		}
	case "":
		if c.Closed {
			return errors.New("closed without a reason")
		}
	default:
		return fmt.Errorf("close reason %q is not one of quota, end, deadline", c.CloseReason)
	}
	return nil
}

// CheckAgainst reports whether an accumulator running spec on the given numeric kernel (normally
// [scoring.Kernel]) may continue c. [ErrSpecMismatch] means that the checkpoint must not be used;
// [ErrKernelMismatch] that the partition is to be recomputed from its start offset.
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
	if c.Kernel != kernel {
		return fmt.Errorf("checkpoint of exploration %q, partition %d: %w: %q, not %q",
			c.Exploration, c.Partition, ErrKernelMismatch, c.Kernel, kernel)
	}
	return nil
}

// CheckShape reports sums of another kind or size than the pass of spec makes.
func (c *Checkpoint) CheckShape(spec *Spec) error {
	plan := spec.ResidualPlan()
	gram := plan != nil && plan.Pool != nil
	switch {
	case c.Pass != spec.Pass || gram != (c.Products != nil):
		return fmt.Errorf("it is of pass %d, the running one is %d, or its sums are of another kind", c.Pass, spec.Pass)
	case gram && c.Products.Columns() != plan.Columns():
		return fmt.Errorf("a Gram of %d columns instead of %d", c.Products.Columns(), plan.Columns())
	case !gram && c.Sums.Candidates() != spec.Candidates.Count:
		return fmt.Errorf("sums of %d candidates instead of %d", c.Sums.Candidates(), spec.Candidates.Count)
	}
	return nil
}
