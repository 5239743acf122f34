package pipeline

import (
	"context"
	"errors"
	"fmt"
)

var (
	// ErrUnknownTopic marks a topic or partition that the broker does not have.
	ErrUnknownTopic = errors.New("unknown topic or partition")
	// ErrDenied marks refused credentials or missing rights. It is permanent.
	ErrDenied = errors.New("credentials or rights refused")
	// ErrMessageTooLarge marks a produce request over the broker's limit.
	ErrMessageTooLarge = errors.New("message larger than the broker accepts")
	// ErrCorruptBatch marks a batch whose contents contradict each other or its checksum.
	ErrCorruptBatch = errors.New("corrupt record batch")
	// ErrOldFormat marks a message set in a format from before Kafka 0.11.
	ErrOldFormat = errors.New("message formats older than 2 are not supported")
	// ErrOverBudget marks a batch that needs more memory than batch_budget_bytes.
	ErrOverBudget = errors.New("over batch_budget_bytes")
	// ErrFenced marks refused writes of an outdated owner: another one has taken the partition
	// over, or the log has lost acknowledged records. The refused records are not in the log. It is
	// permanent for the writer; see [Retake].
	ErrFenced = errors.New("the writer is fenced")
)

// OffsetOutOfRangeError is a fetch at an offset that the partition does not hold.
type OffsetOutOfRangeError struct {
	Topic       string
	Partition   int
	Offset      int64 // asked for
	First, Next int64 // the partition holds [First, Next)
}

func (e *OffsetOutOfRangeError) Error() string {
	return fmt.Sprintf("offset %d of %s/%d is outside [%d, %d)", e.Offset, e.Topic, e.Partition, e.First, e.Next)
}

// LogChangedError means that a partition no longer holds the records that were read from it: the
// topic was recreated or the log truncated.
type LogChangedError struct {
	Topic     string
	Partition int
	Was, Is   LogID
	At        int64 // offset of the missing batch, if the identity is the same
}

func (e *LogChangedError) Error() string {
	if e.Was != e.Is {
		return fmt.Sprintf("log %s of %s/%d has replaced log %s", e.Is, e.Topic, e.Partition, e.Was)
	}
	return fmt.Sprintf("%s/%d no longer holds the batch that was read at offset %d", e.Topic, e.Partition, e.At)
}

// UnreadableBatchError is a batch that is damaged, has an old format, or exceeds the memory budget.
// Reading continues at NextOffset.
type UnreadableBatchError struct {
	Topic      string
	Partition  int
	Offset     int64
	NextOffset int64
	Err        error
}

func (e *UnreadableBatchError) Error() string {
	return fmt.Sprintf("batch at offset %d of %s/%d cannot be read: %v", e.Offset, e.Topic, e.Partition, e.Err)
}

func (e *UnreadableBatchError) Unwrap() error { return e.Err }

// permanentError is an error that a retry does not fix.
type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// Permanent marks an error that a retry does not fix; nil stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// IsPermanent reports whether err, or an error that it wraps, is marked by [Permanent], is the end
// of a context, or is a response that the log would repeat.
func IsPermanent(err error) bool {
	var marked *permanentError
	var outOfRange *OffsetOutOfRangeError
	var unreadable *UnreadableBatchError
	return errors.As(err, &marked) || errors.As(err, &outOfRange) || errors.As(err, &unreadable) ||
		errors.Is(err, ErrMessageTooLarge) || endsContext(err)
}

// endsContext reports whether err is the end of a context.
func endsContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
