package pipeline

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"
)

// Follow reads a partition from its first offset and calls apply for each record, until ctx ends (then it
// returns nil) or apply fails. caughtUp, where set, is called once, when everything that was there at the
// start has been applied. Batches over the memory budget are passed over with a warning.
func Follow(ctx context.Context, log Log, logger *zap.Logger, topic string, partition int,
	apply func(Record) error, caughtUp func(next int64)) error {
	where := fmt.Sprintf("follow %s/%d", topic, partition)
	span, err := Retry(ctx, logger, where, func() (span [2]int64, err error) {
		span[0], span[1], err = log.Offsets(ctx, topic, partition)
		return span, err
	})
	if err != nil {
		return endOf(ctx, fmt.Errorf("%s: %w", where, err))
	}
	next, until := span[0], span[1]
	for {
		if caughtUp != nil && next >= until {
			caughtUp(next)
			caughtUp = nil
		}
		if ctx.Err() != nil {
			return nil
		}
		fetched, err := Retry(ctx, logger, where, func() (Fetched, error) {
			return log.Fetch(ctx, topic, partition, next)
		})
		if skipped, ok := skip(err, next); ok {
			logger.Warn("records passed over", zap.String("topic", topic), zap.Int("partition", partition),
				zap.Int64("offset", next), zap.Int64("next_offset", skipped), zap.Error(err))
			next = skipped
			continue
		}
		if err != nil {
			return endOf(ctx, fmt.Errorf("%s at offset %d: %w", where, next, err))
		}
		for _, r := range fetched.Records {
			if err := apply(r); err != nil {
				return fmt.Errorf("%s at offset %d: %w", where, r.Offset, err)
			}
		}
		next = fetched.NextOffset
	}
}

// ReadAll applies the records that a partition holds now and returns its next offset.
func ReadAll(ctx context.Context, log Log, logger *zap.Logger, topic string, partition int,
	apply func(Record) error) (next int64, err error) {
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	reached := int64(-1)
	err = Follow(stop, log, logger, topic, partition, apply, func(n int64) {
		reached = n
		cancel()
	})
	if err == nil && reached < 0 {
		err = ctx.Err()
	}
	return reached, err
}

// skip returns where reading a followed topic goes on after an error that is about particular offsets.
func skip(err error, next int64) (int64, bool) {
	var unreadable *UnreadableBatchError
	if errors.As(err, &unreadable) && unreadable.NextOffset > next {
		return unreadable.NextOffset, true
	}
	var outOfRange *OffsetOutOfRangeError
	if errors.As(err, &outOfRange) && outOfRange.First != next {
		return outOfRange.First, true
	}
	return next, false
}

// endOf turns an error that only says that ctx ended into nil.
func endOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
