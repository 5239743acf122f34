package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// ErrDone is returned by a [Processor] that needs no more records; [RunPartition] then closes it
// and returns nil.
var ErrDone = errors.New("done")

// Processor handles the records of one partition, in offset order, from one goroutine. All its
// methods get the same context, which outlives a shutdown by the drain time so that work in
// progress is finished. Background work that a method starts may use it until Close returns.
type Processor interface {
	// Start returns the place before NextOffset and the batch budget, see [ReadOptions]. It is
	// called once, before reading begins.
	Start() (at Place, batchBudget int64)
	// NextOffset is the next offset to read.
	NextOffset() int64
	// Process handles the records of one fetch and advances NextOffset to its NextOffset, or
	// returns ErrDone. It is called without records when nothing has arrived for a while.
	Process(ctx context.Context, f Fetched) error
	// Gap handles records that cannot be read: it moves NextOffset, usually to the gap's To, or
	// returns an error.
	Gap(ctx context.Context, g Gap) error
	// Close saves unsaved work. It is called once, after the last call of the other methods.
	Close(ctx context.Context) error
}

// RunPartition feeds a partition to a processor until ctx ends or the processor is done or fails,
// then closes the processor. Fetches are retried while the broker is unavailable. The next records
// are fetched while the processor handles the previous ones, so a partition holds at most two
// fetches.
func RunPartition(ctx context.Context, log Log, logger *zap.Logger, topic string, partition int,
	drain time.Duration, p Processor) error {
	work, cancel := Drain(ctx, drain)
	defer cancel()
	err := feed(ctx, work, log, logger, topic, partition, p)
	if errors.Is(err, ErrDone) {
		err = nil
	}
	if closed := p.Close(work); closed != nil {
		err = errors.Join(err, fmt.Errorf("close %s/%d: %w", topic, partition, closed))
	}
	return err
}

func feed(ctx, work context.Context, log Log, logger *zap.Logger, topic string, partition int, p Processor) error {
	var r *Reader
	var gapErr error
	at, batchBudget := p.Start()
	r = NewReader(log, logger, topic, partition, ReadOptions{
		From:        p.NextOffset(),
		Until:       Forever,
		Ahead:       true,
		Watch:       WatchBatches,
		Place:       at,
		BatchBudget: batchBudget,
		OnGap: func(g Gap) error {
			gapErr = p.Gap(work, g)
			r.MoveTo(p.NextOffset())
			return gapErr
		},
	})
	defer r.Close()
	for ctx.Err() == nil {
		r.MoveTo(p.NextOffset())
		fetched, err := r.Next(ctx)
		switch {
		case err == nil:
			err = p.Process(work, fetched)
		case gapErr == nil && ctx.Err() != nil:
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Drain returns a context that ends the given time after ctx, so that work accepted before a
// shutdown can be finished.
func Drain(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(limit, cancel)
		context.AfterFunc(work, func() { timer.Stop() })
	})
	return work, func() {
		stop()
		cancel()
	}
}
