package serveload

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// pace is a run of requests at a fixed rate.
type pace struct {
	address     string
	connections int
	rate        float64 // requests per second, over all connections
	duration    time.Duration
	requests    []request // sent one after another by each connection
	check       func(which, status int, body []byte) error
}

// times are response times, ascending.
type times []time.Duration

func (t times) quantile(q float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	return t[min(len(t)-1, int(q*float64(len(t))))]
}

func micros(d time.Duration) string { return fmt.Sprintf("%d us", d.Microseconds()) }

// lead is the time to open connections before the first request is due.
const lead = 20 * time.Millisecond

// run sends requests for the duration and returns their response times. The first fault ends it.
func (p pace) run(ctx context.Context) (times, error) {
	// A thread that blocks in the kernel keeps its P in the Go scheduler for up to 10 ms. With
	// fewer Ps than threads, answers would wait for a P whose thread is asleep.
	const others = 4
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(p.connections + others))
	group, ctx := errgroup.WithContext(ctx)
	all := make([]times, p.connections)
	begin := time.Now().Add(lead)
	for i := range p.connections {
		group.Go(func() (err error) {
			all[i], err = p.one(ctx, i, begin)
			return err
		})
	}
	err := group.Wait()
	merged := slices.Concat(all...)
	slices.Sort(merged)
	return merged, err
}

// one runs one connection on its own thread.
func (p pace) one(ctx context.Context, number int, begin time.Time) (times, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := dial(p.address)
	if err != nil {
		return nil, err
	}
	defer c.close()
	interval := time.Duration(float64(time.Second) * float64(p.connections) / p.rate)
	took := make(times, 0, int(p.duration/interval)+1)
	due := begin.Add(interval * time.Duration(number) / time.Duration(p.connections))
	for n := number; due.Before(begin.Add(p.duration)) && ctx.Err() == nil; n++ {
		start := due
		if wait := time.Until(due); wait > 0 {
			sleep(wait)
			start = time.Now()
		}
		which := n % len(p.requests)
		status, body, err := c.do(p.requests[which])
		took = append(took, time.Since(start))
		if err == nil {
			err = p.check(which, status, body)
		}
		if err != nil {
			return took, fmt.Errorf("request %d of connection %d: %w", len(took), number, err)
		}
		due = due.Add(interval)
	}
	return took, nil
}

// isOK accepts any answer with status 200.
func isOK(_, status int, body []byte) error {
	if status != 200 {
		return fmt.Errorf("status %d: %.200s", status, body)
	}
	return nil
}
