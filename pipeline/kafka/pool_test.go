package kafka

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// waitFor starts waiting for memory and returns a channel for the grant.
func waitFor(ctx context.Context, a *account, bytes int64) <-chan *grant {
	told := make(chan *grant, 1)
	go func() {
		g, _ := a.wait(ctx, bytes)
		told <- g
	}()
	synctest.Wait()
	return told
}

// got returns the grant received so far, if any.
func got(told <-chan *grant) *grant {
	synctest.Wait()
	select {
	case g := <-told:
		return g
	default:
		return nil
	}
}

func TestMemoryGoesToTheOldestClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{limit: 100}
		first := a.try(60)
		large, small := waitFor(t.Context(), a, 90), waitFor(t.Context(), a, 10)
		if got(small) != nil || a.try(1) != nil || first.extend(61) {
			t.Fatal("a later claim overtook the first one")
		}
		first.shrink(5)
		held := got(large)
		if held == nil || got(small) != nil || a.used != 95 {
			t.Fatalf("%d used", a.used)
		}
		held.release()
		held.release()
		if last := got(small); last == nil || a.used != 15 || a.peak != 95 {
			t.Fatalf("%d bytes used, peak %d", a.used, a.peak)
		}
	})
}

// TestLargeClaimDoesNotBlockOthers has a large claim wait for memory that is not released.
func TestLargeClaimDoesNotBlockOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{limit: 100}
		stuck := a.try(40)
		large := waitFor(t.Context(), a, 80)
		small := waitFor(t.Context(), a, 30)
		time.Sleep(patience + patience/2)
		others := got(small)
		if others == nil || got(large) != nil {
			t.Fatal("memory stayed reserved for a claim that cannot be served")
		}
		time.Sleep(patience)
		others.release()
		if a.try(10) != nil {
			t.Error("memory is not reserved for the first claim in its next turn")
		}
		stuck.release()
		if got(large) == nil {
			t.Error("the first claim was not served")
		}
	})
}

func TestCancelledClaimLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{limit: 100}
		first := a.try(100)
		ctx, stop := context.WithCancel(t.Context())
		large, small := waitFor(ctx, a, 90), waitFor(t.Context(), a, 10)
		first.shrink(80)
		if got(small) != nil {
			t.Fatal("a claim was served out of turn")
		}
		stop()
		synctest.Wait()
		if g := <-large; g != nil || got(small) == nil || a.used != 90 || a.waiting.Len() != 0 {
			t.Errorf("%d bytes used, %d claims wait", a.used, a.waiting.Len())
		}
	})
}

func TestStateHasSeparateMemory(t *testing.T) {
	const budget = 1 << 20
	p := newPool(LeastFetchMemory(budget), budget)
	data, state := p.account(t.Context()), p.account(pipeline.ForState(t.Context()))
	if data.try(data.limit) == nil || data.try(1) != nil {
		t.Fatal("the account of data has a wrong limit")
	}
	if state.try(worstFetch(budget)) == nil {
		t.Error("state has to wait for data")
	}
	p.hold(4 * budget)
	if s := p.stats(); s.Limit != LeastFetchMemory(4*budget) || s.Used != LeastFetchMemory(budget) || s.Peak != s.Used {
		t.Errorf("memory of the pool %+v", s)
	}
}

// TestFetchTakesFreeMemoryOrWaits takes the memory; then a fetch that only takes free memory fails,
// and another one waits.
func TestFetchTakesFreeMemoryOrWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{limit: 100}
		all := a.try(100)
		f := &fetching{memory: a, onlyFree: true}
		if err := f.wait(t.Context(), 10); !errors.Is(err, pipeline.ErrNoMemory) {
			t.Fatal(err)
		}
		f.onlyFree = false
		done := make(chan error, 1)
		go func() { done <- f.wait(t.Context(), 10) }()
		synctest.Wait()
		all.release()
		if err := <-done; err != nil || f.funds.bytes != 10 {
			t.Error(err)
		}
	})
}
