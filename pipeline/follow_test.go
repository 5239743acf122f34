package pipeline_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

func TestFollowReadsOnForEver(t *testing.T) {
	log := newLog(t, 5)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var offsets, caughtUp []int64
	err := pipeline.Follow(ctx, log, zap.NewNop(), "t", 0, func(r pipeline.Record) error {
		offsets = append(offsets, r.Offset)
		if r.Offset == 7 {
			cancel()
		}
		return nil
	}, func(next int64) {
		caughtUp = append(caughtUp, next)
		if !slices.Equal(offsets, upTo(0, 5)) {
			t.Errorf("caught up after %v", offsets)
		}
		write(t, log, 3)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(offsets, upTo(0, 8)) || !slices.Equal(caughtUp, []int64{5}) {
		t.Fatalf("offsets %v, caught up at %v", offsets, caughtUp)
	}
}

func TestReadAll(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*pipelinetest.Broker)
		want   []int64
		next   int64
	}{
		{"all", func(*pipelinetest.Broker) {}, upTo(0, 6), 6},
		{"the tail compacted away", func(b *pipelinetest.Broker) { b.Remove("t", 0, 5); b.Remove("t", 0, 2) }, []int64{0, 1, 3, 4}, 6},
		{"everything compacted away", func(b *pipelinetest.Broker) {
			for offset := range int64(6) {
				b.Remove("t", 0, offset)
			}
		}, nil, 6},
		{"retention passed the beginning", func(b *pipelinetest.Broker) { b.Truncate("t", 0, 4) }, []int64{4, 5}, 6},
		{"retention passed everything", func(b *pipelinetest.Broker) { b.Truncate("t", 0, 6) }, nil, 6},
		{"a batch over the budget", func(b *pipelinetest.Broker) { b.Oversize("t", 0, 1, 4) }, []int64{0, 4, 5}, 6},
		{"the last batch over the budget", func(b *pipelinetest.Broker) { b.Oversize("t", 0, 4, 6) }, upTo(0, 4), 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := newLog(t, 6)
			c.change(log)
			var got []int64
			next, err := pipeline.ReadAll(t.Context(), log, zap.NewNop(), "t", 0, func(r pipeline.Record) error {
				got = append(got, r.Offset)
				return nil
			})
			if err != nil || next != c.next || !slices.Equal(got, c.want) {
				t.Fatalf("offsets %v, next %d, error %v; want %v, %d", got, next, err, c.want, c.next)
			}
		})
	}
}

// Retention may move on between the look at the offsets and the fetch.
func TestFollowGoesOnWithTheFirstOffsetThatIsLeft(t *testing.T) {
	log := newLog(t, 6)
	log.FailNext(pipelinetest.OpFetch, &pipeline.OffsetOutOfRangeError{Topic: "t", Offset: 0, First: 3, Next: 6})
	var got []int64
	_, err := pipeline.ReadAll(t.Context(), log, zap.NewNop(), "t", 0, func(r pipeline.Record) error {
		got = append(got, r.Offset)
		return nil
	})
	if err != nil || !slices.Equal(got, []int64{3, 4, 5}) {
		t.Fatalf("offsets %v, error %v", got, err)
	}
}

func TestFollowSaysWhereApplyFailed(t *testing.T) {
	err := pipeline.Follow(t.Context(), newLog(t, 3), zap.NewNop(), "t", 0, func(r pipeline.Record) error {
		if r.Offset == 1 {
			return errFault
		}
		return nil
	}, nil)
	if !errors.Is(err, errFault) || !strings.Contains(err.Error(), "t/0 at offset 1") {
		t.Fatalf("error %v", err)
	}
}

func TestReadAllIsNotCompleteWhenItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := pipeline.ReadAll(ctx, newLog(t, 250), zap.NewNop(), "t", 0, func(pipeline.Record) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("a part of the partition passes for the whole: error %v", err)
	}
	if _, err := pipeline.ReadAll(ctx, newLog(t, 1), zap.NewNop(), "t", 0, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v with a context that had ended", err)
	}
}

func TestFollowOutlastsAnAbsentBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newLog(t, 4)
		log.FailNext(pipelinetest.OpOffsets, errAway, errAway)
		log.FailNext(pipelinetest.OpFetch, errAway)
		var got []int64
		_, err := pipeline.ReadAll(t.Context(), log, zap.NewNop(), "t", 0, func(r pipeline.Record) error {
			got = append(got, r.Offset)
			return nil
		})
		if err != nil || !slices.Equal(got, upTo(0, 4)) {
			t.Fatalf("offsets %v, error %v", got, err)
		}
	})
}
