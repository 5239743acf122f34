package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/internal/duration"
)

// TimeoutFlag defines --timeout on a one-shot command.
func TimeoutFlag(c *cobra.Command, value *time.Duration, standard time.Duration, help string) {
	c.Flags().DurationVar(value, "timeout", standard, help+"; 0 = never")
}

// WithTimeout runs an operation and gives up after limit; 0 means never. If a signal ended ctx, the
// error is that of the signal, whatever the operation was waiting for.
func WithTimeout(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	bounded, began := ctx, time.Now()
	if limit > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	err := do(bounded)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	case limit > 0 && time.Since(began) >= limit: // a connection may notice before the context does
		return &timeoutError{limit, err}
	}
	return err
}

// timeoutError reports an operation that was given up, and the error that it was waiting on.
type timeoutError struct {
	limit time.Duration
	err   error
}

func (e *timeoutError) Error() string {
	text := fmt.Sprintf("gave up after %s (--timeout)", duration.Text(e.limit))
	waited := strings.TrimSuffix(e.err.Error(), context.DeadlineExceeded.Error()) // repeats the timeout
	waited = strings.TrimSuffix(waited, ": ")
	if waited == "" {
		return text + ": the brokers did not answer"
	}
	return text + ": " + waited
}

func (e *timeoutError) Unwrap() error { return e.err }
