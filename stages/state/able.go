package state

import (
	"context"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// WhileAble calls run, which takes part in explorations as a member of a consumer group, whenever this process can compute
// them. Once an exploration of another numeric kernel than the given one runs, the context of run ends, so that the partitions go
// to members that can, and aside is called with that exploration. The process stays out, after the exploration has ended too, until one
// runs that it can compute, as coming back in between would only make all members stop and start again; then aside is called with
// nil. It returns when ctx has ended or run returns by itself.
func (f *Follower) WhileAble(ctx context.Context, kernel string, aside func(from *wire.Spec), run func(context.Context) error) error {
	foreign := func(s Snapshot) bool { return s.Running() != nil && s.Running().Arithmetic != kernel }
	able := func(s Snapshot) bool { return s.Running() != nil && s.Running().Arithmetic == kernel }
	now, err := f.Wait(ctx, func(Snapshot) bool { return true }) // not to join a group only to leave it again
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
		aside(from)
		if now, err = f.Wait(ctx, able); err != nil {
			return pipeline.EndOf(ctx, err)
		}
		aside(nil)
	}
}

// runUntil calls run until it returns, or with a context that ends when a snapshot is found: then it returns what that one has
// running.
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
