package cli

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/stages/meter"
)

// shutdownSlack is the time for an orderly end in addition to finishing work and leaving groups.
const shutdownSlack = 2 * time.Second

// shutdownBound is the maximum time that a service takes to end after a signal.
func shutdownBound(loaded *config.Config) time.Duration {
	leave := cmp.Or(loaded.Kafka.LeaveTimeout, kafka.DefaultConfig().LeaveTimeout)
	return loaded.Shutdown.DrainTimeout + leave + shutdownSlack
}

// runUntilStopped runs a service until ctx ends, and then for at most bound. Work that still runs
// after that, such as a long computation, ends with the process. That loses nothing, because the
// process may die at any moment.
func runUntilStopped(ctx context.Context, bound time.Duration, run func(context.Context) error) error {
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	timer := time.NewTimer(bound)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return fmt.Errorf("%w: still running %v after the signal", meter.ErrUnfinished, bound)
	}
}

// whenStopped calls do after ctx has ended. The returned function cancels the call, or waits for it
// if it has started, so that do never outlives the command.
func whenStopped(ctx context.Context, do func()) (end func()) {
	done := make(chan struct{})
	unlink := context.AfterFunc(ctx, func() {
		defer close(done)
		do()
	})
	return func() {
		if !unlink() {
			<-done
		}
	}
}

// within calls do and waits for it, at most for limit.
func within(limit time.Duration, do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}
