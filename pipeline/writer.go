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
	// Produce appends the records in one request, acknowledged by all in-sync replicas, and returns
	// the offset of the first. Topic, Partition and Offset of the records are ignored. A request
	// over the broker's limit is [ErrMessageTooLarge]. After success the memory of the records may
	// be overwritten. After any error but ErrMessageTooLarge an abandoned attempt may still read
	// it, and the records may have been written: calling Produce again may write them twice, unless
	// the producer comes from [OpenWriter].
	Produce(ctx context.Context, topic string, partition int, records []Record) (firstOffset int64, err error)
}

// Sink writes records.
type Sink interface {
	Producer
	// OpenWriter returns the only valid producer for an id. Once it has returned, the targets
	// refuse writes of producers opened earlier with the id: [ErrFenced]. A nil id fences no
	// producer.
	//
	// If it is unknown after an error whether records were written, passing the same slice again
	// writes them once. The producer sends one request at a time.
	//
	// Where the broker or the rights do not allow that, the protection is weaker, down to a plain
	// producer, which is logged.
	OpenWriter(ctx context.Context, id *WriterID, targets ...Target) (Producer, error)
}

// WriterID identifies the partition, owned within a consumer group, for which one process at a time
// should write.
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

// Protection is the protection that brokers give to the writes of a producer.
type Protection string

// The protections. Each includes the weaker ones after it.
const (
	ProtectionFenced   Protection = "fenced"   // writes of earlier owners are refused
	ProtectionNumbered Protection = "numbered" // a repeated request is written once
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

// OpenWriter opens a writer, see [Sink]. While the broker is unavailable it retries until ctx ends.
func OpenWriter(ctx context.Context, sink Sink, logger *zap.Logger, id *WriterID, targets ...Target) (Producer, error) {
	return Retry(ctx, logger, "open a writer", func() (Producer, error) { return sink.OpenWriter(ctx, id, targets...) })
}

// retakePause is how long a fenced owner waits before it retakes its partition. If it was paused,
// it learns from the next heartbeat, within seconds, that it is no longer the owner.
const retakePause = 5 * time.Second

// Retake runs the work of an owner, and restarts it after [ErrFenced] unless ctx ends meanwhile,
// because the partition was reassigned. If the other process was merely late in opening its writer,
// this one is still the owner and retakes the partition.
func Retake(ctx context.Context, logger *zap.Logger, run func() error) error {
	for {
		err := run()
		if !errors.Is(err, ErrFenced) {
			return err
		}
		logger.Warn("writes refused; pausing the partition", zap.Error(err), zap.Duration("retake_after", retakePause))
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retakePause):
		}
	}
}
