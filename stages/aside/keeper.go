package aside

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
)

// Policy says when a partition that was set aside is tried again. The zero value never sets one aside.
type Policy struct {
	First, Max time.Duration // waits before the first try and between later ones; each is twice the one before
	Sound      time.Duration // a try that lasts this long, and as long as the last wait, counts as recovery
	Patience   time.Duration // explorations wait this long for a partition that is aside
}

// DefaultPolicy tries again after 5 s, then at growing intervals of up to five minutes. Explorations wait for two
// minutes.
func DefaultPolicy() Policy {
	return Policy{First: 5 * time.Second, Max: 5 * time.Minute, Sound: 30 * time.Second, Patience: 2 * time.Minute}
}

// Keeper runs the work of the partitions of one stage. It is safe for concurrent use.
type Keeper struct {
	Stage  string
	Meter  *meter.Meter
	Logger *zap.Logger
	Policy Policy
	// Overdue, if set, is called in a goroutine once a partition has been aside for Policy.Patience. Its context ends
	// when the partition is no longer aside, or when its work is taken away.
	Overdue func(ctx context.Context, partition int, cause error)
}

// EndsProcess reports whether an error concerns more than one partition.
func (k *Keeper) EndsProcess(err error) bool {
	return k.Policy == (Policy{}) || errors.Is(err, pipeline.ErrDenied)
}

// Run runs the work of a partition, and again whenever it fails. It returns nil once ctx has ended or run returns nil,
// and otherwise an error that ends the process.
func (k *Keeper) Run(ctx context.Context, partition int, run func(context.Context) error) error {
	s := k.Setback(partition)
	defer s.End()
	for {
		sound := time.AfterFunc(s.soundAfter(), s.End)
		err := run(ctx)
		sound.Stop()
		switch {
		case err == nil || ctx.Err() != nil:
			return nil
		case k.EndsProcess(err):
			return err
		}
		retry := time.NewTimer(s.Failed(ctx, err))
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
