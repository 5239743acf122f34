package state

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// member is a call of WhileAble for the kernel go2, and what it does.
type member struct {
	t        *testing.T
	did      []string
	fail     chan error // ends what takes part
	followed *Follower
	publish  func(sequence int64, kernel string, status wire.Status)
	stop     func() error
}

// newMember runs a member in the test's bubble, on a topic that holds what publish writes.
func newMember(t *testing.T) *member {
	b := newTopics()
	f := New(b, zap.NewNop(), testConfig)
	run(t, f)
	m := &member{t: t, fail: make(chan error), followed: f}
	m.publish = func(sequence int64, kernel string, status wire.Status) {
		spec := testSpec()
		spec.Arithmetic = kernel
		if _, err := b.Produce(t.Context(), testConfig.Explorations, 0, []pipeline.Record{specRecord(spec, sequence, status, 0)}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
	}
	return m
}

func (m *member) start() {
	ctx, cancel := context.WithCancel(m.t.Context())
	ended := make(chan error, 1)
	m.stop = func() error {
		cancel()
		return <-ended
	}
	aside := func(from *wire.Spec) {
		if from == nil {
			m.did = append(m.did, "back")
		} else {
			m.did = append(m.did, "aside of "+from.Arithmetic)
		}
	}
	go func() {
		ended <- m.followed.WhileAble(ctx, "go2", aside, func(ctx context.Context) error {
			m.did = append(m.did, "in")
			defer func() { m.did = append(m.did, "out") }()
			select {
			case <-ctx.Done():
				return nil
			case err := <-m.fail:
				return err
			}
		})
	}()
	synctest.Wait()
}

func (m *member) want(did ...string) {
	m.t.Helper()
	synctest.Wait()
	if len(did) != len(m.did) {
		m.t.Fatalf("did %q, want %q", m.did, did)
	}
	for i := range did {
		if m.did[i] != did[i] {
			m.t.Fatalf("did %q, want %q", m.did, did)
		}
	}
}

func TestAMemberStandsAsideWhileItCannotCompute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMember(t)
		m.start()
		m.want("in")
		m.publish(1, "go2", wire.StatusRunning)
		m.want("in")
		m.publish(2, "fma1", wire.StatusRunning)
		m.want("in", "out", "aside of fma1")
		m.publish(2, "fma1", wire.StatusCancelled) // no reason to come back
		m.publish(3, "fma1", wire.StatusRunning)
		m.want("in", "out", "aside of fma1")
		m.publish(4, "go2", wire.StatusRunning)
		m.want("in", "out", "aside of fma1", "back", "in")
		if err := m.stop(); err != nil {
			t.Error(err)
		}
		m.want("in", "out", "aside of fma1", "back", "in", "out")
	})
}

// A group that would have to be left at once is not joined.
func TestAMemberThatCannotComputeDoesNotJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMember(t)
		m.publish(1, "fma1", wire.StatusRunning)
		m.start()
		m.want("aside of fma1")
		if err := m.stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestAMemberEndsWithItsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMember(t)
		m.start()
		lost := errors.New("lost")
		m.fail <- lost
		synctest.Wait()
		if err := m.stop(); !errors.Is(err, lost) {
			t.Error(err)
		}
		m.want("in", "out")
	})
}
