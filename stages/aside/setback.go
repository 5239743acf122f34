package aside

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/stages/meter"
)

// Setback says whether a partition is aside, and since when. [Keeper.Run] has one. It is used alone where one loop does
// the work of several partitions.
type Setback struct {
	keeper    *Keeper
	partition int

	mu      sync.Mutex
	now     meter.Quarantine // zero tries = the partition is not aside
	wait    time.Duration
	overdue func() // cancels Overdue and waits for it
}

// Setback returns the setback of a partition that is not aside.
func (k *Keeper) Setback(partition int) *Setback { return &Setback{keeper: k, partition: partition} }

// Failed sets the partition aside, or records another failure, and returns how long to wait before the next try. ctx
// bounds the call of Overdue.
func (s *Setback) Failed(ctx context.Context, cause error) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, policy := s.keeper, s.keeper.Policy
	if s.now.Tries == 0 {
		s.now = meter.Quarantine{Stage: k.Stage, Partition: s.partition, Since: time.Now()}
		s.wait = policy.First
		if k.Overdue != nil {
			s.overdue = later(ctx, policy.Patience, func(ctx context.Context) { k.Overdue(ctx, s.partition, cause) })
		}
	} else {
		s.wait = min(2*s.wait, policy.Max)
	}
	s.now.Tries++
	s.now.Cause, s.now.RetryAt = cause.Error(), time.Now().Add(s.wait)
	k.Meter.SetQuarantine(s.now)
	k.Logger.Error("partition set aside, others go on; it is tried again", zap.Int("partition", s.partition), zap.Error(cause),
		zap.Int("tries", s.now.Tries), zap.Duration("wait", s.wait))
	return s.wait
}

// RetryAt returns when to try the partition again, or zero if it is not aside.
func (s *Setback) RetryAt() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.RetryAt
}

// End takes the partition back if it is aside.
func (s *Setback) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.Tries == 0 {
		return
	}
	if s.overdue != nil {
		s.overdue()
	}
	s.keeper.Meter.EndQuarantine(s.now.Stage, s.partition)
	s.keeper.Logger.Info("partition is no longer set aside", zap.Int("partition", s.partition), zap.Duration("after", time.Since(s.now.Since)))
	s.now, s.wait, s.overdue = meter.Quarantine{}, 0, nil
}

// soundAfter is how long a try has to last to end the setback.
func (s *Setback) soundAfter() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.wait, s.keeper.Policy.Sound)
}

// later calls do in a goroutine after a delay, unless end is called first. end waits for the goroutine.
func later(ctx context.Context, after time.Duration, do func(context.Context)) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		timer := time.NewTimer(after)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-timer.C:
			do(ctx)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
