package stages

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"pgregory.net/rapid"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
)

// cuttings are ways in which rows come in messages. A message of several batches has them cut anew.
var cuttings = map[string]func(*rand.Rand) func() int{
	"1":      func(*rand.Rand) func() int { return every(1) },
	"7":      func(*rand.Rand) func() int { return every(7) },
	"64":     func(*rand.Rand) func() int { return every(64) },
	"4096":   func(*rand.Rand) func() int { return every(4096) },
	"random": func(rng *rand.Rand) func() int { return upToRows(rng, 150) },
}

// feed gives a subsampler the rows of messages, encoded and decoded, from its next offset on, and returns the numbers,
// among all rows, of those that it rejected.
func feed(t testing.TB, s *Subsampler, messages []arrow.Record, rng *rand.Rand) (rejectedRows []int64) {
	t.Helper()
	reader := newEventReader(s.spec.Limits, s.spec.Encoder)
	first := int64(0)
	for offset, rows := range messages {
		batches, err := reader.read(message(t, cut(t, rows, upToRows(rng, 2*int(rows.NumRows())))...))
		if err != nil {
			t.Fatal(err)
		}
		rejected, err := s.Add(int64(offset), batches)
		if err != nil {
			t.Fatal(err)
		}
		base := first
		for i, rows := range rejected {
			for _, r := range rows {
				rejectedRows = append(rejectedRows, base+int64(r.Row))
			}
			base += batches[i].NumRows()
		}
		releaseAll(batches)
		first += rows.NumRows()
	}
	return rejectedRows
}

// sameState fails unless two subsamplers hold equal bits, whatever messages brought them there.
func sameState(t testing.TB, got, want *Subsampler) {
	t.Helper()
	if got.NextOrdinal() != want.NextOrdinal() || got.Closed() != want.Closed() || got.closedBy != want.closedBy {
		t.Fatalf("next ordinal %d, closed by %q; want %d, %q", got.NextOrdinal(), got.closedBy, want.NextOrdinal(), want.closedBy)
	}
	gotCounts, wantCounts := got.Counts(), want.Counts()
	gotCounts.Messages, wantCounts.Messages = 0, 0
	if gotCounts != wantCounts {
		t.Fatalf("counts %+v, want %+v", gotCounts, wantCounts)
	}
	a, b := got.pass.scores.Sums(), want.pass.scores.Sums()
	if a.Rows != b.Rows {
		t.Fatalf("sums of %d rows, want %d", a.Rows, b.Rows)
	}
	for _, pair := range [][2][]float64{{a.Phi, b.Phi}, {a.PhiSq, b.PhiSq}, {a.YPhi, b.YPhi}, {a.Y, b.Y}, {a.YSq, b.YSq},
		{a.YMin, b.YMin}, {a.YMax, b.YMax}} {
		if !slices.EqualFunc(pair[0], pair[1], func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }) {
			t.Fatal("sums differ in their bits")
		}
	}
}

// selected is the id of the set that a subsampler's rows give.
func selected(t testing.TB, s *Subsampler) string {
	t.Helper()
	set, err := SelectFeatures(s.spec, []*wire.Checkpoint{s.Checkpoint(noon)}, noon)
	if err != nil {
		t.Fatal(err)
	}
	return set.ID()
}

func TestSubsamplerGivesEqualBitsForAnyCutting(t *testing.T) {
	for _, task := range tasks {
		for _, quota := range []int64{0, 217} {
			t.Run(fmt.Sprintf("%s, quota %d", task, quota), func(t *testing.T) {
				rows := events(t, task, 1500, 1, someFaults)
				spec := plan(t, testSettings(task), rows, fullSpan(quota))
				whole := newSubsampler(t, spec, spec.Partitions[0], nil)
				feed(t, whole, []arrow.Record{rows}, rand.New(rand.NewPCG(1, 1)))
				if whole.Closed() != (quota > 0) || whole.Counts().Scored == 0 {
					t.Fatalf("closed %v after %+v", whole.Closed(), whole.Counts())
				}
				id := selected(t, whole)
				for name, size := range cuttings {
					t.Run(name, func(t *testing.T) {
						rng := rand.New(rand.NewPCG(2, 3))
						s := newSubsampler(t, spec, spec.Partitions[0], nil)
						feed(t, s, cut(t, rows, size(rng)), rng)
						sameState(t, s, whole)
						if got := selected(t, s); got != id {
							t.Fatalf("feature set %s, want %s", got, id)
						}
					})
				}
			})
		}
	}
}

// Outcomes, closing ordinal and rejected rows against a walk over the rows one by one.
func TestSubsamplerOutcomes(t *testing.T) {
	for _, task := range tasks {
		t.Run(task, func(t *testing.T) {
			settings := testSettings(task)
			high := 520.0
			if task == taskRegression {
				settings.Events.LabelMax = &high // some labels are beyond it
			}
			settings.Exploration.Candidates = 10
			rows := events(t, task, 600, 3, someFaults)
			whole := plan(t, settings, rows, fullSpan(0))
			bank := NewBank(whole, 0, 1)
			reference := make([]referenceRow, rows.NumRows())
			for i := range reference {
				reference[i] = encodeRow(whole.Encoder, rows, i)
			}
			rapid.Check(t, func(rt *rapid.T) {
				rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
				part := wire.Partition{Partition: int32(rng.IntN(5)), EndOffset: -1, Quota: rapid.Int64Range(0, 400).Draw(rt, "quota")}
				spec := *whole
				spec.SampleSeed, spec.Partitions = rng.Uint64(), []wire.Partition{part}
				spec.SampleRate = rapid.SampledFrom([]float64{0.05, 0.5, 1}).Draw(rt, "rate")
				var want wire.Counts
				var bad []int64
				closing := rows.NumRows()
				for i, r := range reference {
					want.Rows++
					switch outcomeOf(&spec, part.Partition, int64(i), r) {
					case notSampled:
						want.NotSampled++
					case unlabelled:
						want.Unlabelled++
						want.UnseenClass += int64(btoi(r.unseenClass))
					case rejected:
						want.Rejected++
						bad = append(bad, int64(i))
					default:
						want.Scored++
					}
					if part.Quota > 0 && want.Scored == part.Quota {
						closing = int64(i) + 1
						break
					}
				}
				s, err := NewSubsampler(&spec, bank, part, nil)
				if err != nil {
					rt.Fatal(err)
				}
				got := feed(t, s, cut(t, rows, upToRows(rng, 400)), rng)
				counts := s.Counts()
				if !counts.Reconciles() || counts.Validate() != nil {
					rt.Fatalf("counts do not reconcile: %+v", counts)
				}
				counts.Messages, counts.Imputed, counts.UnseenCategory, counts.Clipped = 0, 0, 0, 0
				if counts != want || s.NextOrdinal() != closing || !slices.Equal(got, bad) {
					rt.Fatalf("counts %+v, closing ordinal %d, rejected %v\nwant   %+v, %d, %v",
						counts, s.NextOrdinal(), got, want, closing, bad)
				}
				if s.Closed() != (part.Quota > 0 && want.Scored == part.Quota) {
					rt.Fatalf("closed %v with %d scored of a quota of %d", s.Closed(), want.Scored, part.Quota)
				}
			})
		})
	}
}

// The rows beside a bad one are used, and the bad one leaves the sums alone.
func TestSubsamplerUsesTheRowsBesideRejectedOnes(t *testing.T) {
	s := testSettings(taskBinary)
	s.Exploration.SampleRate = 1
	rows := events(t, taskBinary, 300, 4, faults{badFeature: 0.2})
	spec := plan(t, s, rows, fullSpan(0))
	mixed := newSubsampler(t, spec, spec.Partitions[0], nil)
	bad := feed(t, mixed, []arrow.Record{rows}, rand.New(rand.NewPCG(1, 1)))
	var good []int32
	for i := range int32(300) {
		if !slices.Contains(bad, int64(i)) {
			good = append(good, i)
		}
	}
	if len(bad) < 30 || mixed.Counts().Rejected != int64(len(bad)) {
		t.Fatalf("%d rows rejected, %d counted", len(bad), mixed.Counts().Rejected)
	}
	clean, err := TakeRows(rows, good, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer clean.Release()
	alone := newSubsampler(t, spec, spec.Partitions[0], nil)
	feed(t, alone, []arrow.Record{clean}, rand.New(rand.NewPCG(1, 1)))
	if !slices.Equal(mixed.pass.scores.Sums().YPhi, alone.pass.scores.Sums().YPhi) || mixed.Counts().Scored != alone.Counts().Scored {
		t.Fatal("rejected rows left traces in the sums")
	}
}

func TestSubsamplerReasons(t *testing.T) {
	s := testSettings(taskRegression)
	s.Exploration.SampleRate = 1
	low, high := 0.0, 1000.0
	s.Events.LabelMin, s.Events.LabelMax = &low, &high
	rows := events(t, taskRegression, 400, 5, someFaults)
	spec := plan(t, s, rows, fullSpan(0))
	sub := newSubsampler(t, spec, spec.Partitions[0], nil)
	rejected, err := sub.Add(0, []arrow.Record{rows})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, r := range rejected[0] {
		seen[r.Reason]++
	}
	for _, reason := range []string{encoder.NaNFeature, encoder.InfFeature, encoder.NaNLabel, encoder.InfLabel, encoder.LabelOutOfBounds} {
		if seen[reason] == 0 {
			t.Errorf("no row rejected for %s: %v", reason, seen)
		}
	}
}

// A message that does not decode has no ordinals: the rows after it are sampled as if it were not there.
func TestSubsamplerOrdinalsPassOverRefusedMessages(t *testing.T) {
	rows := events(t, taskRegression, 600, 6, someFaults)
	spec := plan(t, testSettings(taskRegression), rows, fullSpan(0))
	plain, gaps := newSubsampler(t, spec, spec.Partitions[0], nil), newSubsampler(t, spec, spec.Partitions[0], nil)
	offset, refused := int64(0), int64(0)
	for i, batch := range cut(t, rows, every(50)) {
		if _, err := plain.Add(int64(i), []arrow.Record{batch}); err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			gaps.Refuse(offset + 1)
			offset++
			refused++
		}
		if i%4 == 0 { // offsets without a message
			gaps.Advance(offset + 5)
			offset += 5
		}
		if _, err := gaps.Add(offset, []arrow.Record{batch}); err != nil {
			t.Fatal(err)
		}
		offset++
	}
	if gaps.NextOffset() != offset || gaps.Counts().Undecodable != refused || gaps.Counts().Messages != plain.Counts().Messages+refused {
		t.Fatalf("next offset %d, counts %+v", gaps.NextOffset(), gaps.Counts())
	}
	gaps.counts.Undecodable = 0
	sameState(t, gaps, plain)
}

func TestSubsamplerClosesAtItsEndOffset(t *testing.T) {
	rows := events(t, taskRegression, 100, 7, faults{})
	batches := cut(t, rows, every(10))
	for _, c := range []struct {
		name       string
		start, end int64
		feed       func(*Subsampler)
		ordinal    int64
		closed     bool
	}{
		{"empty range", 5, 5, func(*Subsampler) {}, 0, true},
		{"before the end", 2, 6, func(s *Subsampler) { addFrom(t, s, batches, 2, 5) }, 30, false},
		{"at the end", 2, 6, func(s *Subsampler) { addFrom(t, s, batches, 2, 6) }, 40, true},
		{"beyond the end", 2, 6, func(s *Subsampler) { addFrom(t, s, batches, 2, 10) }, 40, true},
		{"before its start", 2, 6, func(s *Subsampler) { addFrom(t, s, batches, 0, 3) }, 10, false},
		{"the last offsets hold nothing", 2, 6, func(s *Subsampler) { addFrom(t, s, batches, 2, 4); s.Advance(6) }, 20, true},
		{"the last message is refused", 2, 6, func(s *Subsampler) { addFrom(t, s, batches, 2, 5); s.Refuse(6) }, 30, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			part := wire.Partition{StartOffset: c.start, EndOffset: c.end}
			spec := plan(t, testSettings(taskRegression), rows, part)
			s := newSubsampler(t, spec, part, nil)
			c.feed(s)
			if s.Closed() != c.closed || s.NextOrdinal() != c.ordinal {
				t.Fatalf("closed %v at ordinal %d, want %v at %d", s.Closed(), s.NextOrdinal(), c.closed, c.ordinal)
			}
			if c.closed && s.Checkpoint(noon).CloseReason != wire.CloseEnd {
				t.Fatalf("closed by %q", s.closedBy)
			}
			if restored := newSubsampler(t, spec, part, saved(t, s)); restored.Closed() != c.closed {
				t.Fatalf("closed %v once restored", restored.Closed())
			}
		})
	}
}

func TestSubsamplerStandsStillOnceClosed(t *testing.T) {
	rows := events(t, taskRegression, 300, 7, faults{})
	part := fullSpan(20)
	spec := plan(t, testSettings(taskRegression), rows, part)
	s := newSubsampler(t, spec, part, nil)
	if _, err := s.Add(4, []arrow.Record{rows}); err != nil {
		t.Fatal(err)
	}
	counts := s.Counts()
	for _, s := range []*Subsampler{s, newSubsampler(t, spec, part, saved(t, s))} {
		s.Refuse(9)
		s.Advance(12)
		if !s.Closed() || s.NextOffset() != 5 || s.Counts() != counts {
			t.Fatalf("closed %v, next offset %d, counts %+v; before %+v", s.Closed(), s.NextOffset(), s.Counts(), counts)
		}
	}
}

// addFrom adds the messages at offsets first to next-1.
func addFrom(t testing.TB, s *Subsampler, batches []arrow.Record, first, next int64) {
	t.Helper()
	for offset := first; offset < next; offset++ {
		if _, err := s.Add(offset, batches[offset:offset+1]); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSubsamplerSamplesEachPartitionByItself(t *testing.T) {
	s := testSettings(taskRegression)
	rows := events(t, taskRegression, 500, 8, faults{})
	spec := plan(t, s, rows, wire.Partition{Partition: 0, EndOffset: -1}, wire.Partition{Partition: 1, EndOffset: -1})
	first, second := newSubsampler(t, spec, spec.Partitions[0], nil), newSubsampler(t, spec, spec.Partitions[1], nil)
	for _, sub := range []*Subsampler{first, second} {
		if _, err := sub.Add(0, []arrow.Record{rows}); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Equal(first.pass.scores.Sums().YPhi, second.pass.scores.Sums().YPhi) {
		t.Fatal("two partitions took the same rows of the same sequence")
	}
}
