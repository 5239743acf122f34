package state

import (
	"context"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// WhileAble calls run, which takes part in explorations as a member of a consumer group, while this process can compute
// them. When an exploration with another numeric kernel starts, the context of run ends, so that the partitions go to
// members that can compute it, and leave is called with that exploration. The process then stays out, even after that
// exploration, until one runs that it can compute, because coming back earlier would only make all members stop and
// start again. Then leave is called with nil. WhileAble returns when ctx has ended or run returns on its own.
func (f *Follower) WhileAble(ctx context.Context, kernel string, leave func(from *wire.Spec), run func(context.Context) error) error {
	foreign := func(s Snapshot) bool { return s.Running() != nil && s.Running().Arithmetic != kernel }
	able := func(s Snapshot) bool { return s.Running() != nil && s.Running().Arithmetic == kernel }
	now, err := f.Wait(ctx, func(Snapshot) bool { return true }) // do not join a group only to leave it again
	if err != nil {
		return pipeline.EndOf(ctx, err)
	}
	for {
		from := now.Running()
		if !foreign(now) {
			if from, err = f.runUntil(ctx, foreign, run); from == nil || err != nil {
				return pipeline.EndOf(ctx, err)
			}
		}
		leave(from)
		if now, err = f.Wait(ctx, able); err != nil {
			return pipeline.EndOf(ctx, err)
		}
		leave(nil)
	}
}

// runUntil calls run until it returns, or with a context that ends when found returns an exploration, which it then
// returns.
func (f *Follower) runUntil(ctx context.Context, found func(Snapshot) bool, run func(context.Context) error) (*wire.Spec, error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan *wire.Spec, 1)
	go func() {
		defer close(ended)
		if now, err := f.Wait(running, found); err == nil {
			ended <- now.Running()
			stop()
		}
	}()
	err := run(running)
	stop()
	return <-ended, err
}
