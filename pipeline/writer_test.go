package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// fencing is a broker whose writers have the protection given by their seat.
type fencing struct {
	pipeline.Broker
	away int // that many times
}

func (f *fencing) OpenWriter(_ context.Context, seat *pipeline.Seat, _ ...pipeline.Target) (pipeline.Producer, error) {
	if f.away--; f.away >= 0 {
		return nil, errAway
	}
	if seat == nil {
		return protected{f.Broker, pipeline.ProtectionNumbered}, nil
	}
	return protected{f.Broker, pipeline.ProtectionFenced}, nil
}

type protected struct {
	pipeline.Producer
	by pipeline.Protection
}

func (p protected) Protection() pipeline.Protection { return p.by }

func TestObservedCountsWriters(t *testing.T) {
	log := newLog(t, 0)
	ctx := t.Context()
	seat := &pipeline.Seat{Group: "g", Topic: "t"}
	if seat.String() != "g/t/0" {
		t.Error(seat)
	}
	open := func(on pipeline.Broker, seat *pipeline.Seat) {
		t.Helper()
		writer, err := pipeline.OpenWriter(ctx, on, zap.NewNop(), seat, pipeline.Target{Topic: "t"})
		if err == nil {
			_, err = writer.Produce(ctx, "t", 0, pipelinetest.Values("a"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	plain, able := pipeline.Observe(log), pipeline.Observe(&fencing{Broker: log, away: 1})
	open(plain, seat)
	open(able, seat)
	open(able, seat)
	open(able.WithBatchBudget(1<<20), nil)
	for name, c := range map[string]struct {
		broker *pipeline.Observed
		want   []uint64 // fenced, numbered, none
		writes uint64
	}{
		"plain": {plain, []uint64{0, 0, 1}, 1},
		"able":  {able, []uint64{2, 0, 1}, 3}, // with a budget, the broker inside is asked
	} {
		if have := c.broker.WritersOpened(); !slices.Equal(have, c.want) {
			t.Errorf("%s: %v writers, want %v", name, have, c.want)
		}
		for _, stats := range c.broker.Requests() {
			if stats.Operation == pipeline.OpProduce && stats.OK != c.writes {
				t.Errorf("%s: %d writes, want %d", name, stats.OK, c.writes)
			}
		}
	}
	open(log, nil) // without an opener the log itself is the writer
}

func TestRetake(t *testing.T) {
	fenced := pipeline.Permanent(fmt.Errorf("write: %w", pipeline.ErrFenced))
	other := errors.New("other")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
		want error
	}{
		{"it ends", t.Context(), nil, nil},
		{"it fails", t.Context(), other, other},
		{"the partition was lost", ended, fenced, nil},
	} {
		runs := 0
		err := pipeline.Retake(c.ctx, zap.NewNop(), func() error { runs++; return c.err })
		if !errors.Is(err, c.want) || runs != 1 {
			t.Errorf("%s: %v after %d runs", c.name, err, runs)
		}
	}
	if !pipeline.IsPermanent(fenced) {
		t.Error("it would be tried again")
	}
	synctest.Test(t, func(t *testing.T) {
		runs, began := 0, time.Now()
		err := pipeline.Retake(t.Context(), zap.NewNop(), func() error {
			if runs++; runs < 3 {
				return fenced
			}
			return nil
		})
		if took := time.Since(began); err != nil || runs != 3 || took < time.Second {
			t.Errorf("still the owner: %v after %d runs in %v", err, runs, took)
		}
	})
}
