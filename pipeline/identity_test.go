package pipeline_test

import (
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

// A reader that watches the log notices changes. The partition holds ten records; the case changes
// it after the first four have been read.
func TestReaderNoticesAnotherLog(t *testing.T) {
	type broker = *pipelinetest.Broker
	again := func(b broker, next int64, n int) {
		b.LoseEnd("t", 0, next)
		write(t, b, n)
	}
	for _, c := range []struct {
		name  string
		watch pipeline.Watch
		while func(broker)
		want  []int64 // read after the change
		gap   string
		lost  int64
	}{
		{"nothing happens", pipeline.WatchBatches, func(broker) {}, upTo(4, 10), "", 0},
		{"recreated and empty", pipeline.WatchLog, func(b broker) { b.Recreate("t") }, nil, "recreated 4 to 0", 6},
		{
			"recreated, shorter",
			pipeline.WatchLog,
			func(b broker) { b.Recreate("t"); write(t, b, 2) },
			upTo(0, 2),
			"recreated 4 to 0",
			6,
		},
		{
			"recreated, grown beyond",
			pipeline.WatchLog,
			func(b broker) { b.Recreate("t"); write(t, b, 12) },
			upTo(0, 12),
			"recreated 4 to 0",
			6,
		},
		{
			"recreated, by batches",
			pipeline.WatchBatches,
			func(b broker) { b.Recreate("t"); write(t, b, 12) },
			upTo(0, 12),
			"recreated 4 to 0",
			6,
		},
		{"end lost, what was read too", pipeline.WatchBatches, func(b broker) { again(b, 2, 0) }, nil, "truncated 4 to 2", 8},
		{
			"end lost and grown again",
			pipeline.WatchBatches,
			func(b broker) { again(b, 2, 10) },
			upTo(2, 12),
			"truncated 4 to 2",
			8,
		},
		{
			"end lost after the position",
			pipeline.WatchBatches,
			func(b broker) { again(b, 6, 0) },
			upTo(4, 6),
			"truncated 6 to 6",
			4,
		},
		{
			"end lost, by identity alone",
			pipeline.WatchLog,
			func(b broker) { again(b, 2, 0) },
			upTo(0, 2),
			"truncated 4 to 0",
			2,
		},
		{
			"end lost and grown again as it was",
			pipeline.WatchCompacted,
			func(b broker) { again(b, 2, 8) },
			upTo(2, 10),
			"truncated 4 to 2",
			8,
		},
		{"end lost, grown again and compacted", pipeline.WatchCompacted, func(b broker) {
			again(b, 2, 8)
			b.Remove("t", 0, 3)
		}, []int64{2, 4, 5, 6, 7, 8, 9}, "truncated 4 to 2", 8},
		{"compacted", pipeline.WatchCompacted, func(b broker) {
			b.FailNext(pipeline.OpFetch, errors.New("away"))
			b.Remove("t", 0, 3)
		}, upTo(4, 10), "", 0},
		{"retention", pipeline.WatchBatches, func(b broker) { b.Expire("t", 0, 6) }, upTo(6, 10), "retention 4 to 6", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := newLog(t, 10)
				log.Split("t", 0, 4)
				log.SetFetchWait(time.Millisecond)
				var gaps []string
				var lost int64
				r := pipeline.NewReader(log, zap.NewNop(), "t", 0, pipeline.ReadOptions{
					From: 0, Until: pipeline.Forever, Watch: c.watch, OnGap: func(g pipeline.Gap) error {
						gaps, lost = append(gaps, fmt.Sprintf("%s %d to %d", g.Kind, g.From, g.To)), g.Missing()
						return nil
					},
				})
				var offsets []int64
				take := func() {
					fetched, err := r.Next(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					for _, record := range fetched.Records {
						offsets = append(offsets, record.Offset)
					}
				}
				if take(); len(offsets) != 4 {
					t.Fatalf("first %v", offsets)
				}
				c.while(log)
				offsets = nil
				for range 5 {
					take()
				}
				var want []string
				if c.gap != "" {
					want = []string{c.gap}
				}
				if !slices.Equal(offsets, c.want) || !slices.Equal(gaps, want) || lost != c.lost {
					t.Errorf("read %v, gaps %q, %d lost; want %v, %q, %d", offsets, gaps, lost, c.want, c.gap, c.lost)
				}
			})
		})
	}
}

// A saved place is enough to notice another log when reading begins.
func TestReaderBeginsInTheLogOfItsPlace(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*pipelinetest.Broker)
		gap    string
		next   int64
	}{
		{"the same", func(*pipelinetest.Broker) {}, "", 8},
		{"recreated", func(b *pipelinetest.Broker) { b.Recreate("t"); write(t, b, 20) }, "recreated 8 to 0", 20},
		{"truncated", func(b *pipelinetest.Broker) { b.LoseEnd("t", 0, 5); write(t, b, 20) }, "truncated 8 to 0", 25},
		{"the batch is gone by retention", func(b *pipelinetest.Broker) { b.Expire("t", 0, 8) }, "", 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := newLog(t, 8)
			read := func(o pipeline.ReadOptions) (next int64, place pipeline.Place, gap string) {
				o.Watch, o.Until = pipeline.WatchBatches, pipeline.PresentEnd
				o.OnGap = func(g pipeline.Gap) error {
					gap = fmt.Sprintf("%s %d to %d", g.Kind, g.From, g.To)
					return nil
				}
				r := pipeline.NewReader(log, zap.NewNop(), "t", 0, o)
				for _, err := range r.Fetches(t.Context()) {
					if err != nil {
						t.Fatal(err)
					}
				}
				return r.NextOffset(), r.Place(), gap
			}
			next, place, _ := read(pipeline.ReadOptions{From: pipeline.FirstOffset})
			if next != 8 || place.Log == "" || place.Batch.Offset != 7 {
				t.Fatalf("at %d, %+v", next, place)
			}
			c.change(log)
			if next, _, gap := read(pipeline.ReadOptions{From: next, Place: place}); next != c.next || gap != c.gap {
				t.Errorf("at %d, gap %q; want %d, %q", next, gap, c.next, c.gap)
			}
		})
	}
}
