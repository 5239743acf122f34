package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// TimeoutFlag defines --timeout on a command that ends by itself.
func TimeoutFlag(c *cobra.Command, value *time.Duration, standard time.Duration, help string) {
	c.Flags().DurationVar(value, "timeout", standard, help+"; 0 = never")
}

// WithTimeout runs an operation that is given up after so long; 0 means never.
func WithTimeout(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	if limit <= 0 {
		return do(ctx)
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(bounded)
	if err != nil && ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("gave up after %v (--timeout): %w", limit, err)
	}
	return err
}
