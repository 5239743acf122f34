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
		if !foreign(now) {
			at, err := f.Until(ctx, foreign, run)
			if at == nil || err != nil {
				return pipeline.EndOf(ctx, err)
			}
			now = *at
		}
		leave(now.Running())
		if now, err = f.Wait(ctx, able); err != nil {
			return pipeline.EndOf(ctx, err)
		}
		leave(nil)
	}
}

// Until calls run until it returns, or with a context that ends at the first snapshot that over accepts, which is then
// returned; nil if run returned before.
func (f *Follower) Until(ctx context.Context, over func(Snapshot) bool, run func(context.Context) error) (at *Snapshot, err error) {
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
