package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eerf-stream/eerf/stages/meter"
)

func TestServiceEndsWithinBound(t *testing.T) {
	fault := errors.New("fault")
	for name, c := range map[string]struct {
		works time.Duration // after the signal
		gives error
		want  error
		takes time.Duration
	}{
		"at once":     {0, nil, nil, 0},
		"drains":      {20 * time.Second, nil, nil, 20 * time.Second},
		"not in time": {29 * time.Second, meter.ErrUnfinished, meter.ErrUnfinished, 29 * time.Second},
		"fails":       {time.Second, fault, fault, time.Second},
		"hangs":       {time.Hour, nil, meter.ErrUnfinished, 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				time.AfterFunc(time.Minute, stop)
				began := time.Now()
				err := runUntilStopped(ctx, 30*time.Second, func(ctx context.Context) error {
					<-ctx.Done()
					time.Sleep(c.works) // of the bubble's clock
					return c.gives
				})
				if took := time.Since(began) - time.Minute; !errors.Is(err, c.want) || c.want == nil && err != nil ||
					took != c.takes {
					t.Errorf("%v after %v", err, took)
				}
				<-time.After(time.Hour) // until the operation that hangs has ended
			})
		})
	}
}

func TestUnfinishedWorkHasOwnExitCode(t *testing.T) {
	if code, text := execute(context.Background(),
		fmt.Errorf("%w: partitions featurize 2", meter.ErrUnfinished)); code != ExitUnfinished || text == "" {
		t.Errorf("exit code %d, %q", code, text)
	}
}

func TestStopCallbackIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		done := false // not waiting for it would be a data race
		end := whenStopped(ctx, func() {
			time.Sleep(time.Second) // of the bubble's clock
			done = true
		})
		stop()
		synctest.Wait()
		if end(); !done {
			t.Error("the command ended before the callback")
		}
	})
	called := false
	ctx, stop := context.WithCancel(t.Context())
	whenStopped(ctx, func() { called = true })()
	if stop(); called {
		t.Error("it ran after it was cancelled")
	}
}
