package pipeline

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.uber.org/zap"
)

// RetryMessage is logged before each retry, with the operation under OperationKey.
const (
	RetryMessage = "retrying"
	OperationKey = "operation"
)

// Retry calls op until it succeeds, fails permanently ([IsPermanent]) or ctx ends, with exponential
// backoff and jitter between 100 ms and 15 s. The number of attempts is not limited, because a
// service outlives its broker; a one-shot command sets a deadline on ctx. At the end of ctx, Retry
// returns the last error that op had before: an interrupted attempt reveals less about the cause.
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
		if last == nil || !endsContext(err) {
			last = err
		}
		if IsPermanent(err) {
			return value, backoff.Permanent(err)
		}
		return value, err
	}, backoff.WithBackOff(policy), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, wait time.Duration) {
		log.Warn(RetryMessage, zap.String(OperationKey, what), zap.Error(err), zap.Duration("wait", wait))
	}))
	if err != nil && last != nil {
		return value, last
	}
	return value, err
}

// Try is [Retry] for an operation without a result.
func Try(ctx context.Context, log *zap.Logger, what string, op func() error) error {
	_, err := Retry(ctx, log, what, func() (struct{}, error) { return struct{}{}, op() })
	return err
}

// EndOf returns nil instead of the error of work that ended with its context.
func EndOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
