package state

import (
	"context"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// WhileKernelMatches calls run, a member of a consumer group, while this process can compute the
// running exploration. When an exploration with another numeric kernel starts, the context of run
// ends, which releases its partitions to members with that kernel, and leave is called with the
// exploration. The process rejoins only when an exploration with its own kernel runs: rejoining
// earlier would rebalance the group twice for nothing. Then leave is called with nil.
// WhileKernelMatches returns when ctx has ended or run returns on its own.
func (f *Follower) WhileKernelMatches(
	ctx context.Context,
	kernel string,
	leave func(exploration *wire.Spec),
	run func(context.Context) error,
) error {
	foreign := func(s Snapshot) bool { return s.Running() != nil && s.Running().Arithmetic != kernel }
	matching := func(s Snapshot) bool { return s.Running() != nil && s.Running().Arithmetic == kernel }
	now, err := f.Wait(ctx, func(Snapshot) bool { return true }) // do not join a group only to leave it again
	if err != nil {
		return pipeline.EndOf(ctx, err)
	}
	for {
		if !foreign(now) {
			at, err := f.Until(ctx, foreign, run)
			if at == nil || err != nil {
				return pipeline.EndOf(ctx, err)
			}
			now = *at
		}
		leave(now.Running())
		if now, err = f.Wait(ctx, matching); err != nil {
			return pipeline.EndOf(ctx, err)
		}
		leave(nil)
	}
}

// Until calls run and ends its context at the first snapshot that over accepts. It returns that
// snapshot, or nil if run returned earlier.
func (f *Follower) Until(
	ctx context.Context,
	over func(Snapshot) bool,
	run func(context.Context) error,
) (at *Snapshot, err error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan *Snapshot, 1)
	go func() {
		defer close(ended)
		if now, err := f.Wait(running, over); err == nil {
			ended <- &now
			stop()
		}
	}()
	err = run(running)
	stop()
	return <-ended, err
}
