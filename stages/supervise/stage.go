package supervise

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
)

// Policy sets when a quarantined partition is retried. The zero value never quarantines one.
type Policy struct {
	First, Max time.Duration // waits before the first try and between later ones; each is twice the previous one
	Healthy    time.Duration // a try that lasts this long, and as long as the last wait, counts as recovery
	Patience   time.Duration // explorations wait this long for a quarantined partition
}

// DefaultPolicy retries after 5 s, then at growing intervals of up to five minutes. Explorations
// wait for two minutes.
func DefaultPolicy() Policy {
	return Policy{First: 5 * time.Second, Max: 5 * time.Minute, Healthy: 30 * time.Second, Patience: 2 * time.Minute}
}

// Stage runs the work of the partitions of one stage. It is safe for concurrent use.
type Stage struct {
	Name   meter.Stage
	Meter  *meter.Meter
	Logger *zap.Logger
	Policy Policy
	// Overdue, if set, is called in a goroutine once a partition has been quarantined for
	// Policy.Patience. Its context ends when the partition recovers or is revoked.
	Overdue func(ctx context.Context, partition int, cause error)
}

// EndsProcess reports whether an error concerns more than one partition.
func (s *Stage) EndsProcess(err error) bool {
	return s.Policy == (Policy{}) || errors.Is(err, pipeline.ErrDenied)
}

// Run runs the work of a partition, and retries whenever it fails. It returns nil once ctx has
// ended or run returns nil, and otherwise an error that ends the process.
func (s *Stage) Run(ctx context.Context, partition int, run func(context.Context) error) error {
	p := s.Partition(partition)
	defer p.Recovered()
	for {
		healthy := time.AfterFunc(p.healthyAfter(), p.Recovered)
		err := run(ctx)
		healthy.Stop()
		switch {
		case err == nil || ctx.Err() != nil:
			return nil
		case s.EndsProcess(err):
			return err
		}
		retry := time.NewTimer(p.Failed(ctx, err))
		select {
		case <-ctx.Done():
		case <-retry.C:
		}
		retry.Stop()
		if ctx.Err() != nil {
			return nil
		}
	}
}
