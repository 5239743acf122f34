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

// fencing is a broker whose writers have the protection named by their id.
type fencing struct {
	pipeline.Broker
	away int // number of failures before it works
}

func (f *fencing) OpenWriter(
	_ context.Context,
	id *pipeline.WriterID,
	_ ...pipeline.Target,
) (pipeline.Producer, error) {
	if f.away--; f.away >= 0 {
		return nil, errAway
	}
	if id == nil {
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
	id := &pipeline.WriterID{Group: "g", Topic: "t"}
	broker := pipeline.Observe(&fencing{Broker: newLog(t, 0), away: 1})
	for _, id := range []*pipeline.WriterID{id, id, nil} {
		writer, err := pipeline.OpenWriter(t.Context(), broker, zap.NewNop(), id, pipeline.Target{Topic: "t"})
		if err == nil {
			_, err = writer.Produce(t.Context(), "t", 0, pipelinetest.Values("a"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if have := broker.WritersOpened(); !slices.Equal(have, []uint64{2, 1, 0}) {
		t.Errorf("%v writers", have)
	}
	for _, stats := range broker.Requests() {
		if stats.Operation == pipeline.OpProduce && stats.OK != 3 {
			t.Errorf("%d writes", stats.OK)
		}
	}
}

func TestRetakeRestartsAfterFencing(t *testing.T) {
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
		t.Error("the error is not permanent")
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
			t.Errorf("owner did not retake the partition: %v after %d runs in %v", err, runs, took)
		}
	})
}
