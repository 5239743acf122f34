package state

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// A process that cannot compute an exploration leaves the group and rejoins for the next
// exploration that it can compute.
func TestMemberLeavesWhileKernelDiffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTopics()
		f := following(t, b)
		publish := func(sequence int64, kernel string, status wire.Status) {
			spec := testSpec()
			spec.Arithmetic = kernel
			must(b.Produce(t.Context(), testConfig.Explorations, 0, []pipeline.Record{specRecord(spec, sequence, status, 0)}))
			synctest.Wait()
		}
		var did []string
		want := func(more ...string) {
			t.Helper()
			synctest.Wait()
			if !slices.Equal(did, more) {
				t.Fatalf("did %q, want %q", did, more)
			}
			did = nil
		}
		leave := func(from *wire.Spec) {
			if from == nil {
				did = append(did, "back")
			} else {
				did = append(did, "left for "+from.Arithmetic)
			}
		}
		publish(1, "fma1", wire.StatusRunning)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- f.WhileKernelMatches(ctx, "go2", leave, func(ctx context.Context) error {
				did = append(did, "in")
				<-ctx.Done()
				did = append(did, "out")
				return nil
			})
		}()
		want("left for fma1")
		publish(2, "go2", wire.StatusRunning)
		want("back", "in")
		publish(3, "fma1", wire.StatusRunning)
		want("out", "left for fma1")
		publish(3, "fma1", wire.StatusCancelled) // no reason to rejoin
		publish(4, "fma1", wire.StatusRunning)
		want()
		publish(5, "go2", wire.StatusRunning)
		want("back", "in")
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		want("out")
	})
}
