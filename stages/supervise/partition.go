package supervise

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/stages/meter"
)

// Partition tracks whether the work of a partition is quarantined, and since when. [Stage.Run] has
// one. Loops that do the work of several partitions use it directly.
type Partition struct {
	stage  *Stage
	number int

	mu         sync.Mutex
	quarantine meter.Quarantine // zero tries = none
	wait       time.Duration
	overdue    func() // cancels Overdue and waits for it
}

// Partition returns a partition that is not quarantined.
func (s *Stage) Partition(number int) *Partition { return &Partition{stage: s, number: number} }

// Failed quarantines the partition, or records another failure, and returns how long to wait before
// the next try. ctx bounds the call of Overdue.
func (p *Partition) Failed(ctx context.Context, cause error) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	stage, policy := p.stage, p.stage.Policy
	if p.quarantine.Tries == 0 {
		p.quarantine = meter.Quarantine{Stage: stage.Name, Partition: p.number, Since: time.Now()}
		p.wait = policy.First
		if stage.Overdue != nil {
			p.overdue = later(ctx, policy.Patience, func(ctx context.Context) { stage.Overdue(ctx, p.number, cause) })
		}
	} else {
		p.wait = min(2*p.wait, policy.Max)
	}
	p.quarantine.Tries++
	p.quarantine.Cause, p.quarantine.RetryAt = cause.Error(), time.Now().Add(p.wait)
	stage.Meter.SetQuarantine(p.quarantine)
	stage.Logger.Error(
		"partition quarantined; will retry, other partitions unaffected",
		zap.Int("partition", p.number),
		zap.Error(cause),
		zap.Int("tries", p.quarantine.Tries),
		zap.Duration("wait", p.wait),
	)
	return p.wait
}

// RetryAt returns when to retry the partition, or zero if it is not quarantined.
func (p *Partition) RetryAt() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.quarantine.RetryAt
}

// Recovered ends the quarantine, if any.
func (p *Partition) Recovered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.quarantine.Tries == 0 {
		return
	}
	if p.overdue != nil {
		p.overdue()
	}
	p.stage.Meter.EndQuarantine(p.quarantine.Stage, p.number)
	p.stage.Logger.Info(
		"partition is no longer quarantined",
		zap.Int("partition", p.number),
		zap.Duration("after", time.Since(p.quarantine.Since)),
	)
	p.quarantine, p.wait, p.overdue = meter.Quarantine{}, 0, nil
}

// healthyAfter is the duration after which a try ends the quarantine.
func (p *Partition) healthyAfter() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.wait, p.stage.Policy.Healthy)
}

// later calls do in a goroutine after a delay, unless end is called first. end waits for the
// goroutine.
func later(ctx context.Context, after time.Duration, do func(context.Context)) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	timer := time.AfterFunc(after, func() {
		defer close(done)
		do(ctx)
	})
	return func() {
		cancel()
		if !timer.Stop() {
			<-done
		}
	}
}
