package pipeline

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.uber.org/zap"
)

// TryingAgain is what is logged before another try, with the operation under OperationKey.
const (
	TryingAgain  = "trying again"
	OperationKey = "operation"
)

// Retry calls op until it succeeds, fails permanently ([IsPermanent]) or ctx ends, with exponential backoff and jitter
// between 100 ms and 15 s. The number of tries is not limited, because a service outlives its broker; a one-shot
// command sets a deadline on ctx. If the end of ctx stopped the tries, Retry returns the last error of op that came before it: a
// try that is cut short says less about what is wrong.
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
		log.Warn(TryingAgain, zap.String(OperationKey, what), zap.Error(err), zap.Duration("wait", wait))
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

// EndOf filters the result of work bounded by ctx: an error that only says that ctx has ended becomes nil.
func EndOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
