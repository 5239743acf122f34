package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// Producer appends records to topic partitions.
type Producer interface {
	// Produce appends the records in one request, acknowledged by all in-sync replicas, and returns the offset of the
	// first. Topic, Partition and Offset of the records are ignored. A request over the broker's limit is
	// [ErrMessageTooLarge]. Once Produce has returned without an error, what the records point to may be overwritten.
	// After any error but ErrMessageTooLarge an abandoned attempt may still read it, and the records may have been
	// written: calling Produce again may write them twice. The producer of [OpenWriter] does not.
	Produce(ctx context.Context, topic string, partition int, records []Record) (firstOffset int64, err error)
}

// Sink is where records are written.
type Sink interface {
	Producer
	// OpenWriter returns the producer of whoever opens one with the id last. Once it has returned, nothing from those who
	// opened one earlier gets into the targets: their writes are [ErrFenced]. With a nil id nobody is refused.
	//
	// If after an error it is not known whether records were written, giving the producer the same slice again writes
	// them once. It sends one request at a time.
	//
	// Where the broker or the rights forbid it, the protection is weaker, down to a plain producer, and the log says
	// so.
	OpenWriter(ctx context.Context, id *WriterID, targets ...Target) (Producer, error)
}

// WriterID names what one process at a time should write for: a partition of a topic, owned within a consumer group.
type WriterID struct {
	Group     string
	Topic     string
	Partition int
}

func (id WriterID) String() string { return fmt.Sprintf("%s/%s/%d", id.Group, id.Topic, id.Partition) }

// Target is a partition to write to.
type Target struct {
	Topic     string
	Partition int
}

// Protection is what the brokers do for a producer.
type Protection string

// The protections. Each includes those after it.
const (
	ProtectionFenced   Protection = "fenced"   // writes of earlier owners are refused
	ProtectionNumbered Protection = "numbered" // a request sent again is written once
	ProtectionNone     Protection = "none"
)

// Protections lists all of them.
var Protections = [...]Protection{ProtectionFenced, ProtectionNumbered, ProtectionNone}

// Protected is a producer that reports its protection.
type Protected interface {
	Protection() Protection
}

// ProtectionOf returns the protection of a producer.
func ProtectionOf(p Producer) Protection {
	if protected, ok := p.(Protected); ok {
		return protected.Protection()
	}
	return ProtectionNone
}

// OpenWriter opens a writer, see [Sink]. While the broker is away it retries until ctx ends.
func OpenWriter(ctx context.Context, sink Sink, logger *zap.Logger, id *WriterID, targets ...Target) (Producer, error) {
	return Retry(ctx, logger, "open a writer", func() (Producer, error) { return sink.OpenWriter(ctx, id, targets...) })
}

// retakePause is how long a refused owner waits before it takes its partition over again. If it was paused, it learns
// at the next heartbeat, within seconds, that it is no longer the owner.
const retakePause = 5 * time.Second

// Retake runs the work of an owner, and again from the start after [ErrFenced], unless ctx ends meanwhile: then the
// partition belonged to somebody else. If the other one was merely late in opening its writer, this one is the right owner
// and goes on.
func Retake(ctx context.Context, logger *zap.Logger, run func() error) error {
	for {
		err := run()
		if !errors.Is(err, ErrFenced) {
			return err
		}
		logger.Warn("writes refused, giving the partition up", zap.Error(err), zap.Duration("retake_after", retakePause))
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retakePause):
		}
	}
}
