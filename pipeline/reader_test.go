package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// How a reader handles missing records. The partition holds ten records at first. The case changes
// it between the first fetch, of the records up to a batch that starts at 4, and the second one.
func TestReaderSkipsGaps(t *testing.T) {
	type broker = *pipelinetest.Broker
	nothing := func(broker) {}
	for _, c := range []struct {
		name          string
		from, until   int64
		before, while func(broker)
		want          []int64
		gaps          string
		next          int64
	}{
		{"all", pipeline.FirstOffset, pipeline.PresentEnd, nothing, nil, upTo(0, 10), "", 10},
		{"a piece", 2, 7, nothing, nil, upTo(2, 7), "", 7},
		{"nothing", 3, 3, nothing, nil, nil, "", 3},
		{"compaction within and at both ends", pipeline.FirstOffset, pipeline.PresentEnd, func(b broker) {
			for _, offset := range []int64{0, 1, 5, 8, 9} {
				b.Remove("t", 0, offset)
			}
		}, nil, []int64{2, 3, 4, 6, 7}, "", 10},
		{
			"what came later is left",
			pipeline.FirstOffset,
			pipeline.PresentEnd,
			nothing,
			func(b broker) { write(t, b, 5) },
			upTo(0, 10),
			"",
			10,
		},
		{
			"retention before",
			0,
			pipeline.PresentEnd,
			func(b broker) { b.Expire("t", 0, 3) },
			nil,
			upTo(3, 10),
			"retention 0 to 3",
			10,
		},
		{"retention meanwhile", pipeline.FirstOffset, pipeline.PresentEnd, nothing, func(b broker) { b.Expire("t", 0, 8) },
			[]int64{0, 1, 2, 3, 8, 9}, "retention 4 to 8", 10},
		{
			"retention beyond the end of reading",
			0,
			6,
			nothing,
			func(b broker) { b.Expire("t", 0, 8) },
			upTo(0, 4),
			"retention 4 to 8",
			6,
		},
		{"unreadable", pipeline.FirstOffset, pipeline.PresentEnd, func(b broker) { b.Oversize("t", 0, 4, 7) }, nil,
			[]int64{0, 1, 2, 3, 7, 8, 9}, "unreadable 4 to 7", 10},
		{
			"unreadable over the end of reading",
			0,
			6,
			func(b broker) { b.Oversize("t", 0, 4, 7) },
			nil,
			upTo(0, 4),
			"unreadable 4 to 7",
			6,
		},
		{
			"unreadable at the end",
			pipeline.FirstOffset,
			pipeline.PresentEnd,
			func(b broker) { b.Oversize("t", 0, 8, 10) },
			nil,
			upTo(0, 8),
			"unreadable 8 to 10",
			10,
		},
		{
			"truncated before the position",
			pipeline.FirstOffset,
			pipeline.PresentEnd,
			nothing,
			func(b broker) { b.LoseEnd("t", 0, 2) },
			[]int64{0, 1, 2, 3, 0, 1},
			"truncated 4 to 0",
			2,
		},
		{
			"truncated at the position",
			pipeline.FirstOffset,
			pipeline.PresentEnd,
			nothing,
			func(b broker) { b.LoseEnd("t", 0, 4) },
			[]int64{0, 1, 2, 3, 0, 1, 2, 3},
			"truncated 4 to 0",
			4,
		},
		{
			"truncated after the position",
			pipeline.FirstOffset,
			pipeline.PresentEnd,
			nothing,
			func(b broker) { b.LoseEnd("t", 0, 6) },
			append(upTo(0, 6), upTo(0, 6)...),
			"truncated 6 to 0",
			6,
		},
		{
			"emptied and written again",
			pipeline.FirstOffset,
			pipeline.PresentEnd,
			nothing,
			func(b broker) { b.LoseEnd("t", 0, 0); write(t, b, 1) },
			[]int64{0, 1, 2, 3, 0},
			"truncated 4 to 0",
			1,
		},
		{"emptied", pipeline.FirstOffset, pipeline.PresentEnd, nothing, func(b broker) { b.LoseEnd("t", 0, 0) },
			upTo(0, 4), "truncated 4 to 0", 0},
		{
			"truncated before reading began",
			10,
			pipeline.PresentEnd,
			func(b broker) { b.LoseEnd("t", 0, 2) },
			nil,
			[]int64{0, 1},
			"truncated 10 to 0",
			2,
		},
		{"at the end", 10, pipeline.PresentEnd, nothing, nil, nil, "", 10},
		{"an end that never was", 2, 20, nothing, nil, append(upTo(2, 10), upTo(0, 10)...), "truncated 10 to 0", 10},
	} {
		for _, ahead := range []bool{false, true} {
			if ahead && c.while != nil {
				continue // the second fetch may come before the change
			}
			t.Run(fmt.Sprintf("%s/ahead=%v", c.name, ahead), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					log := newLog(t, 10)
					log.Split("t", 0, 4)
					c.before(log)
					var offsets []int64
					var gaps []string
					r := pipeline.NewReader(
						log,
						zap.NewNop(),
						"t",
						0,
						pipeline.ReadOptions{From: c.from, Until: c.until, Ahead: ahead, OnGap: func(g pipeline.Gap) error {
							gaps = append(gaps, fmt.Sprintf("%s %d to %d", g.Kind, g.From, g.To))
							return nil
						}},
					)
					change := c.while
					for fetched, err := range r.Fetches(t.Context()) {
						if err != nil {
							t.Fatal(err)
						}
						for _, record := range fetched.Records {
							offsets = append(offsets, record.Offset)
						}
						if change != nil {
							change(log)
							change = nil
						}
					}
					if !slices.Equal(offsets, c.want) || strings.Join(gaps, ", ") != c.gaps || r.NextOffset() != c.next {
						t.Errorf("offsets %v, gaps %q, next %d; want %v, %q, %d", offsets, gaps, r.NextOffset(), c.want, c.gaps, c.next)
					}
					if !r.CaughtUp() {
						t.Error("not caught up at the end")
					}
				})
			})
		}
	}
}

func TestOnGapDecidesWhereReadingContinues(t *testing.T) {
	for _, c := range []struct {
		name  string
		onGap func(*pipeline.Reader) error
		want  []int64
		err   error
	}{
		{"elsewhere", func(r *pipeline.Reader) error { r.MoveTo(8); return nil }, []int64{0, 1, 8, 9}, nil},
		{"nowhere", func(*pipeline.Reader) error { return io.EOF }, []int64{0, 1}, nil},
		{"with an error", func(*pipeline.Reader) error { return errFault }, []int64{0, 1}, errFault},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := newLog(t, 10)
			log.Oversize("t", 0, 2, 5)
			var r *pipeline.Reader
			r = pipeline.NewReader(log, zap.NewNop(), "t", 0, pipeline.ReadOptions{Until: pipeline.PresentEnd, Ahead: true,
				OnGap: func(pipeline.Gap) error { return c.onGap(r) }})
			var offsets []int64
			var failed error
			for record, err := range r.Records(t.Context()) {
				if failed = err; err == nil {
					offsets = append(offsets, record.Offset)
				}
			}
			if !slices.Equal(offsets, c.want) || !errors.Is(failed, c.err) {
				t.Errorf("offsets %v, error %v", offsets, failed)
			}
		})
	}
}

// A reader without new records returns empty results and reports that it has caught up.
func TestReaderReturnsNoRecordsAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newLog(t, 150)
		r := pipeline.NewReader(
			log,
			zap.NewNop(),
			"t",
			0,
			pipeline.ReadOptions{From: pipeline.FirstOffset, Until: pipeline.Forever},
		)
		var seen []string
		for fetched, err := range r.Fetches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			seen = append(
				seen,
				fmt.Sprintf("%d to %d of %d, caught up: %v", len(fetched.Records), fetched.NextOffset, fetched.End, r.CaughtUp()),
			)
			if len(seen) == 3 {
				write(t, log, 1)
			}
			if len(seen) == 4 {
				break
			}
		}
		want := []string{
			"100 to 100 of 150, caught up: false",
			"50 to 150 of 150, caught up: true",
			"0 to 150 of 150, caught up: true",
			"1 to 151 of 151, caught up: true",
		}
		if !slices.Equal(seen, want) {
			t.Errorf("%q", seen)
		}
	})
}

// An abandoned iterator leaves no request under way (the package's tests look for goroutines), and
// keeps the position.
func TestAbandonedIteratorReleasesItsRecords(t *testing.T) {
	log := newLog(t, 250)
	r := pipeline.NewReader(log, zap.NewNop(), "t", 0, pipeline.ReadOptions{Until: pipeline.Forever, Ahead: true})
	for record, err := range r.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if record.Offset == 130 {
			break
		}
	}
	if r.NextOffset() != 200 {
		t.Errorf("next offset %d", r.NextOffset())
	}
	r.MoveTo(131)
	for record, err := range r.Records(t.Context()) {
		if err != nil || record.Offset != 131 {
			t.Errorf("reading continues at %d, %v", record.Offset, err)
		}
		break
	}
}

func TestReadAllNamesTheRecordThatFailed(t *testing.T) {
	_, err := pipeline.ReadAll(t.Context(), newLog(t, 3), zap.NewNop(), "t", 0, func(r pipeline.Record) error {
		if r.Offset == 1 {
			return errFault
		}
		return nil
	})
	if !errors.Is(err, errFault) || !strings.Contains(err.Error(), "t/0 at offset 1") {
		t.Fatalf("error %v", err)
	}
}

func TestReadAllFailsAtTheEndOfItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := pipeline.ReadAll(ctx, newLog(t, 250), zap.NewNop(), "t", 0, func(pipeline.Record) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("read only a part of the partition without an error: %v", err)
	}
	if _, err := pipeline.ReadAll(ctx, newLog(t, 1), zap.NewNop(), "t", 0, nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v with an ended context", err)
	}
}
