package pipeline

import (
	"context"
	"errors"
	"fmt"
)

var (
	// ErrUnknownTopic marks a topic or partition that the broker does not have.
	ErrUnknownTopic = errors.New("unknown topic or partition")
	// ErrDenied marks credentials or rights that the broker refuses. It is permanent.
	ErrDenied = errors.New("credentials or rights refused")
	// ErrMessageTooLarge marks a produce request over the broker's limit.
	ErrMessageTooLarge = errors.New("message larger than the broker accepts")
)

// OffsetOutOfRangeError says that a fetch asked for an offset that the partition does not hold.
type OffsetOutOfRangeError struct {
	Topic       string
	Partition   int
	Offset      int64 // asked for
	First, Next int64 // what the partition holds: [First, Next)
}

func (e *OffsetOutOfRangeError) Error() string {
	return fmt.Sprintf("offset %d of %s/%d is outside [%d, %d)", e.Offset, e.Topic, e.Partition, e.First, e.Next)
}

// UnreadableBatchError says that the batch at Offset cannot be read: it is damaged, of an old format, or over the memory
// budget. Reading goes on at NextOffset.
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

// permanentError marks an error that retrying does not fix.
type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// Permanent marks err as one that retrying does not fix; nil stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// IsPermanent reports whether err, or one it wraps, is marked by [Permanent], ends a context, or is a response
// of the log that stays the same.
func IsPermanent(err error) bool {
	var marked *permanentError
	var outOfRange *OffsetOutOfRangeError
	var unreadable *UnreadableBatchError
	return errors.As(err, &marked) || errors.As(err, &outOfRange) || errors.As(err, &unreadable) ||
		errors.Is(err, ErrMessageTooLarge) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
