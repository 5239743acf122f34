package pipeline

import (
	"context"
	"fmt"

	"go.uber.org/zap"
)

// fetcher fetches the records of one partition, where there are more, one fetch ahead of their handling. One goroutine.
type fetcher struct {
	log       Log
	logger    *zap.Logger
	topic     string
	partition int

	under *fetch // nil = none
}

// fetch is one that is under way.
type fetch struct {
	offset int64
	done   chan struct{} // closed with the answer there
	cancel context.CancelFunc

	fetched Fetched
	err     error
}

// fetch returns what is at the offset. It retries while the broker is away.
func (f *fetcher) fetch(ctx context.Context, offset int64) (Fetched, error) {
	if f.under != nil && f.under.offset == offset {
		<-f.under.done
		ahead := f.under
		f.drop()
		return ahead.fetched, ahead.err
	}
	f.drop()
	return f.ask(ctx, offset)
}

func (f *fetcher) ask(ctx context.Context, offset int64) (Fetched, error) {
	return Retry(ctx, f.logger, fmt.Sprintf("read %s/%d", f.topic, f.partition), func() (Fetched, error) {
		return f.log.Fetch(ctx, f.topic, f.partition, offset)
	})
}

// ahead starts to fetch what follows an answer, if the log has more.
func (f *fetcher) ahead(ctx context.Context, after Fetched) {
	if after.NextOffset >= after.HighWatermark {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	next := &fetch{offset: after.NextOffset, done: make(chan struct{}), cancel: cancel}
	f.under = next
	go func() {
		defer close(next.done)
		next.fetched, next.err = f.ask(ctx, next.offset)
	}()
}

// drop ends the fetch under way and waits for its end.
func (f *fetcher) drop() {
	if f.under == nil {
		return
	}
	f.under.cancel()
	<-f.under.done
	f.under = nil
}
