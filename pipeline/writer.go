package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// Seat is what one process at a time should write for: a partition of a topic, owned within a consumer group. Whoever
// takes the seat writes; earlier occupants are refused.
type Seat struct {
	Group     string
	Topic     string
	Partition int
}

func (s Seat) String() string { return fmt.Sprintf("%s/%s/%d", s.Group, s.Topic, s.Partition) }

// Target is a partition to write to.
type Target struct {
	Topic     string
	Partition int
}

// WriterOpener is a broker that can recognise repeats and earlier owners. It is separate from [Broker] because a broker
// without it will do too: [OpenWriter] copes with both.
type WriterOpener interface {
	// OpenWriter returns the producer for whoever takes the seat now. Once it has returned, nothing from earlier
	// occupants gets into the targets: their writes are [ErrFenced]. With a nil seat nobody is refused.
	//
	// If an error leaves it in doubt whether records were written, giving the producer the same slice again writes them
	// once. It sends one request at a time.
	//
	// Where the broker or the rights forbid it, the protection is weaker, down to a plain producer, and the log says
	// so.
	OpenWriter(ctx context.Context, seat *Seat, targets ...Target) (Producer, error)
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

// WriterReporter reports how many writers were opened, by the index of their protection in [Protections].
type WriterReporter interface {
	WritersOpened() []uint64
}

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

// OpenWriter opens a writer, or returns the log itself if its broker has none. While the broker is away it retries
// until ctx ends.
func OpenWriter(ctx context.Context, log Log, logger *zap.Logger, seat *Seat, targets ...Target) (Producer, error) {
	opener, ok := log.(WriterOpener)
	if !ok {
		return log, nil
	}
	return Retry(ctx, logger, "open a writer", func() (Producer, error) { return opener.OpenWriter(ctx, seat, targets...) })
}

// retakePause is how long a refused owner waits before it takes its partition over again. If it was paused, it learns
// at the next heartbeat, within seconds, that it is no longer the owner.
const retakePause = 5 * time.Second

// Retake runs the work of an owner, and again from the start after [ErrFenced], unless ctx ends meanwhile: then the
// partition belonged to somebody else. If the other one was merely late in taking the seat, this one is the right owner
// and goes on.
func Retake(ctx context.Context, logger *zap.Logger, run func() error) error {
	for {
		err := run()
		if !errors.Is(err, ErrFenced) {
			return err
		}
		logger.Warn("writes refused, the partition is given up", zap.Error(err), zap.Duration("taken_over_again_after", retakePause))
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(retakePause):
		}
	}
}
