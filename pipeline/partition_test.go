package pipeline_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// recorder is a Processor that records its calls.
type recorder struct {
	next     int64
	doneAt   int64 // returns ErrDone once next has reached it; 0 = never
	offsets  []int64
	gaps     []pipeline.Gap
	closed   int
	process  func(ctx context.Context) error // called by Process, if set
	closeErr error
	closeCtx error // error of Close's context
}

func (*recorder) Start() (at pipeline.Place, batchBudget int64) { return at, 0 }

func (r *recorder) NextOffset() int64 { return r.next }

func (r *recorder) Process(ctx context.Context, f pipeline.Fetched) error {
	for _, rec := range f.Records {
		r.offsets = append(r.offsets, rec.Offset)
	}
	r.next = f.NextOffset
	if r.process != nil {
		if err := r.process(ctx); err != nil {
			return err
		}
	}
	if r.doneAt > 0 && r.next >= r.doneAt {
		return pipeline.ErrDone
	}
	return nil
}

func (r *recorder) Gap(_ context.Context, g pipeline.Gap) error {
	r.gaps = append(r.gaps, g)
	r.next = g.To
	return nil
}

func (r *recorder) Close(ctx context.Context) error {
	r.closed++
	r.closeCtx = ctx.Err()
	return r.closeErr
}

func runPartition(ctx context.Context, log pipeline.Log, p pipeline.Processor) error {
	return pipeline.RunPartition(ctx, log, zap.NewNop(), "t", 0, time.Minute, p)
}

func TestRunPartitionReportsGapsToTheProcessor(t *testing.T) {
	log := newLog(t, 30)
	log.Expire("t", 0, 5)
	log.Oversize("t", 0, 10, 13)
	log.Oversize("t", 0, 29, 30)
	// The last batch is unreadable, so the end shows only in an empty call of Process.
	p := &recorder{doneAt: 30}
	if err := runPartition(t.Context(), log, p); err != nil {
		t.Fatal(err)
	}
	for i, want := range []pipeline.Gap{
		{Kind: pipeline.GapRetention, From: 0, To: 5, First: 5, End: 30},
		{Kind: pipeline.GapUnreadable, From: 10, To: 13},
		{Kind: pipeline.GapUnreadable, From: 29, To: 30},
	} {
		want.Topic = "t"
		if i >= len(p.gaps) {
			t.Fatalf("%d gaps: %v", i, p.gaps)
		}
		if want.Err = p.gaps[i].Err; want.Err == nil || p.gaps[i] != want {
			t.Errorf("gap %+v, want %+v", p.gaps[i], want)
		}
	}
	if want := append(upTo(5, 10), upTo(13, 29)...); !slices.Equal(p.offsets, want) {
		t.Errorf("offsets %v, want %v", p.offsets, want)
	}
}

func TestRunPartitionReturnsTheErrorThatEndedIt(t *testing.T) {
	unsaved := errors.New("not saved")
	log := newLog(t, 3)
	p := &recorder{process: func(context.Context) error { return errFault }, closeErr: unsaved}
	if err := runPartition(t.Context(), log, p); !errors.Is(err, errFault) || !errors.Is(err, unsaved) || p.closed != 1 {
		t.Errorf("error %v, closed %d times", err, p.closed)
	}
	log.FailNext(pipeline.OpFetch, pipeline.Permanent(errAway))
	p = &recorder{doneAt: 3}
	if err := runPartition(t.Context(), log, p); !errors.Is(err, errAway) || p.closed != 1 {
		t.Errorf("error %v, closed %d times", err, p.closed)
	}
}

func TestRunPartitionFinishesItsWorkOnShutdown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &recorder{}
	var during error
	p.process = func(work context.Context) error {
		cancel()
		during = work.Err()
		return nil
	}
	if err := runPartition(ctx, newLog(t, 3), p); err != nil {
		t.Fatal(err)
	}
	if during != nil || p.closeCtx != nil || p.closed != 1 {
		t.Fatalf("work context ended with the shutdown: in Process %v, in Close %v", during, p.closeCtx)
	}
	if len(p.offsets) != 3 {
		t.Fatalf("current fetch was not finished: %v", p.offsets)
	}
}

func TestRunPartitionEndsWhileFetching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newLog(t, 0)
		log.FailNext(pipeline.OpFetch, slices.Repeat([]error{errAway}, 100)...)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		p := &recorder{}
		if err := runPartition(ctx, log, p); err != nil {
			t.Fatalf("shutdown during retries returned %v", err)
		}
		if p.closed != 1 {
			t.Fatalf("closed %d times", p.closed)
		}
	})
}

func TestDrain(t *testing.T) {
	const limit = 5 * time.Second
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "kept"))
		work, stop := pipeline.Drain(ctx, limit)
		defer stop()
		if work.Value(key{}) != "kept" {
			t.Error("the context lost its values")
		}
		began := time.Now()
		<-time.After(time.Hour) // on the fake clock
		if work.Err() != nil {
			t.Fatal("work ended before the shutdown")
		}
		cancel()
		synctest.Wait()
		if work.Err() != nil {
			t.Fatal("work ended with the shutdown")
		}
		<-work.Done()
		if took := time.Since(began) - time.Hour; took != limit {
			t.Fatalf("work ended %v after the shutdown, want %v", took, limit)
		}
	})
}

func TestRunPartitionFetchesAhead(t *testing.T) {
	var asked []int64
	second := make(chan struct{})
	log := &pipelinetest.Between{
		Broker: newLog(t, 250),
		OnFetch: func(_ context.Context, _ string, _ int, offset int64) error {
			if asked = append(asked, offset); len(asked) == 2 {
				close(second)
			}
			return nil
		},
	}
	p := &recorder{doneAt: 250}
	p.process = func(context.Context) error {
		<-second // the next fetch begins while these records are processed
		return nil
	}
	if err := runPartition(t.Context(), log, p); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.offsets, upTo(0, 250)) || !slices.Equal(asked, []int64{0, 100, 200}) {
		t.Errorf("requested %v, got offsets %v", asked, p.offsets)
	}
}
