package pipeline

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.uber.org/zap"
)

// Retry calls op until it succeeds, fails permanently ([IsPermanent]) or ctx ends, with exponential backoff
// and jitter between 100 ms and 15 s and no limit on the number of tries: a service outlives its broker. A
// one-shot command bounds it by a deadline on ctx. The last error of op is returned, also where the end of
// ctx is what stopped the tries.
func Retry[T any](ctx context.Context, log *zap.Logger, what string, op func() (T, error)) (T, error) {
	policy := backoff.NewExponentialBackOff()
	policy.InitialInterval = 100 * time.Millisecond
	policy.MaxInterval = 15 * time.Second
	var last error
	value, err := backoff.Retry(ctx, func() (T, error) {
		value, err := op()
		if err == nil {
			return value, nil
		}
		last = err
		if IsPermanent(err) {
			return value, backoff.Permanent(err)
		}
		return value, err
	}, backoff.WithBackOff(policy), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, wait time.Duration) {
		log.Warn("trying again", zap.String("operation", what), zap.Error(err), zap.Duration("wait", wait))
	}))
	if err != nil && last != nil {
		return value, last
	}
	return value, err
}

// Try is [Retry] for an operation without a value.
func Try(ctx context.Context, log *zap.Logger, what string, op func() error) error {
	_, err := Retry(ctx, log, what, func() (struct{}, error) { return struct{}{}, op() })
	return err
}

// EndOf is the result of work that ctx bounds: an error that only says that ctx has ended is none.
func EndOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
