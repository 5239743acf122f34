package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// TimeoutFlag defines --timeout on a one-shot command.
func TimeoutFlag(c *cobra.Command, value *time.Duration, standard time.Duration, help string) {
	c.Flags().DurationVar(value, "timeout", standard, help+"; 0 = never")
}

// WithTimeout runs an operation that is given up after so long; 0 means never. Where the end of ctx, a signal, cut it off, the
// error says so, whatever the operation was waiting for.
func WithTimeout(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	bounded := ctx
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
	case errors.Is(bounded.Err(), context.DeadlineExceeded):
		return fmt.Errorf("gave up after %v (--timeout): %w", limit, err)
	}
	return err
}
