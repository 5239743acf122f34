package subsample_test

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
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/subsample"
)

func TestSubsamplerGivesEqualBitsForAnyCutting(t *testing.T) {
	for _, task := range tasks {
		for _, quota := range []int64{0, 217} {
			t.Run(fmt.Sprintf("%s, quota %d", task, quota), func(t *testing.T) {
				rows := eventsOf(t, task, 1500, 1, stagestest.SomeFaults)
				spec := plan(t, task, rows, nil, fullSpan(quota))
				whole := start(t, spec, nil)
				feed(t, whole, []arrow.Record{rows}, rand.New(rand.NewPCG(1, 1)))
				if whole.Closed() != (quota > 0) || whole.Counts().Scored == 0 {
					t.Fatalf("closed %v after %+v", whole.Closed(), whole.Counts())
				}
				for name, size := range cuttings {
					t.Run(name, func(t *testing.T) {
						rng := rand.New(rand.NewPCG(2, 3))
						s := start(t, spec, nil)
						feed(t, s, stagestest.Cut(t, rows, size(rng)), rng)
						sameState(t, s, whole)
					})
				}
			})
		}
	}
}

// The collected rows are the events' rows, encoded one by one, with their ordinals.
func TestSubsamplerCollectsTheRowsThatItScores(t *testing.T) {
	for _, task := range tasks {
		for _, quota := range []int64{0, 217} {
			t.Run(fmt.Sprintf("%s, quota %d", task, quota), func(t *testing.T) {
				rows := eventsOf(t, task, 1000, 2, stagestest.SomeFaults)
				spec := plan(t, task, rows, nil, fullSpan(quota))
				s := start(t, spec, nil)
				feed(t, s, stagestest.Cut(t, rows, stagestest.Every(83)), rand.New(rand.NewPCG(1, 1)))
				got, at := s.Samples(), 0
				for i := range int(s.NextOrdinal()) {
					reference := stagestest.EncodeRow(spec.Encoder, rows, i)
					if stagestest.OutcomeOf(spec, 0, int64(i), reference) != stagestest.Scored {
						continue
					}
					if at >= got.Rows() || got.Ordinal[at] != int64(i) {
						t.Fatalf("row %d is not the sample's %d. of %d", i, at, got.Rows())
					}
					checkSampledRow(t, spec, rows, i, got.Slice(at, at+1), reference)
					at++
				}
				if at != got.Rows() || int64(at) != s.Counts().Scored || at < 100 {
					t.Fatalf("%d rows collected, %d expected, %d scored", got.Rows(), at, s.Counts().Scored)
				}
			})
		}
	}
}

// checkSampledRow compares a collected row with the encoding of that row alone, bit by bit, and with the reference.
func checkSampledRow(t *testing.T, spec *wire.Spec, rows arrow.Record, i int, got *wire.Samples, reference stagestest.Row) {
	t.Helper()
	one := rows.NewSlice(int64(i), int64(i)+1)
	defer one.Release()
	var alone encoder.Rows
	if err := spec.Encoder.Encode(&alone, one, nil); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.X, alone.X[:spec.Encoder.Dim]) || !slices.Equal(got.Targets.Class, alone.Targets.Class) ||
		!slices.Equal(got.Targets.Values, alone.Targets.Values) {
		t.Fatalf("row %d is collected as %v %+v, encoded alone it is %v %+v", i, got.X, got.Targets, alone.X, alone.Targets)
	}
	for j, want := range reference.X {
		if off := math.Abs(float64(got.X[j]) - want); off > 1e-5*max(1, math.Abs(want)) {
			t.Fatalf("row %d, dimension %d: %v, want %v", i, j, got.X[j], want)
		}
	}
	for k, want := range reference.Y {
		value := float64(stagestest.Bit(len(got.Targets.Class) > 0 && int(got.Targets.Class[0]) == k))
		if got.Targets.Class == nil {
			value = float64(got.Targets.Values[k])
		}
		if off := math.Abs(value - want); off > 1e-5*max(1, math.Abs(want)) {
			t.Fatalf("row %d, output %d: %v, want %v", i, k, value, want)
		}
	}
}

// Compares outcomes, closing ordinal and rejected rows with a walk over the rows one by one.
func TestSubsamplerOutcomes(t *testing.T) {
	for _, task := range tasks {
		t.Run(task, func(t *testing.T) {
			e, exploration := settings(task)
			high := 520.0
			if task == stagestest.Regression {
				e.LabelMax = &high // some labels are beyond it
			}
			exploration.Candidates = 10
			rows := eventsOf(t, task, 600, 3, stagestest.SomeFaults)
			whole := explored.Spec(t, e, exploration, rows)
			bank := scoring.NewBank(whole.Candidates)
			reference := make([]stagestest.Row, rows.NumRows())
			for i := range reference {
				reference[i] = stagestest.EncodeRow(whole.Encoder, rows, i)
			}
			rapid.Check(t, func(rt *rapid.T) {
				rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
				part := fullSpan(rapid.Int64Range(0, 400).Draw(rt, "quota"))
				part.Partition = int32(rng.IntN(5))
				spec := *whole
				spec.SampleSeed, spec.Partitions = rng.Uint64(), []wire.Partition{part}
				spec.SampleRate = rapid.SampledFrom([]float64{0.05, 0.5, 1}).Draw(rt, "rate")
				var want wire.Counts
				var bad []int64
				closing := rows.NumRows()
				for i, r := range reference {
					want.Rows++
					switch stagestest.OutcomeOf(&spec, part.Partition, int64(i), r) {
					case stagestest.NotSampled:
						want.NotSampled++
					case stagestest.Unlabelled:
						want.Unlabelled++
						want.UnseenClass += int64(stagestest.Bit(r.UnseenClass))
					case stagestest.Rejected:
						want.Rejected++
						bad = append(bad, int64(i))
					default:
						want.Scored++
						want.HeldOut += int64(stagestest.Bit(scoring.HeldOut(scoring.Hash(spec.SampleSeed, part.Partition, int64(i)))))
					}
					if part.Quota > 0 && want.Scored == part.Quota {
						closing = int64(i) + 1
						break
					}
				}
				s, err := subsample.New(&spec, bank, part, nil)
				if err != nil {
					rt.Fatal(err)
				}
				got := feed(t, s, stagestest.Cut(t, rows, stagestest.UpTo(rng, 400)), rng)
				counts := s.Counts()
				if !counts.Reconciles() || counts.Validate() != nil {
					rt.Fatalf("counts do not reconcile: %+v", counts)
				}
				counts.Messages, counts.Imputed, counts.UnseenCategory, counts.Clipped = 0, 0, 0, 0
				if counts != want || s.NextOrdinal() != closing || !slices.Equal(got, bad) {
					rt.Fatalf("counts %+v, closing ordinal %d, rejected %v\nwant   %+v, %d, %v",
						counts, s.NextOrdinal(), got, want, closing, bad)
				}
				if s.Closed() != (part.Quota > 0 && want.Scored == part.Quota) || int64(s.Samples().Rows()) != want.Scored {
					rt.Fatalf("closed %v with %d scored of a quota of %d, %d collected", s.Closed(), want.Scored, part.Quota, s.Samples().Rows())
				}
			})
		})
	}
}

// An undecodable message has no ordinals: the rows after it are sampled as if it were not there.
func TestSubsamplerOrdinalsPassOverRefusedMessages(t *testing.T) {
	rows := eventsOf(t, stagestest.Regression, 600, 6, stagestest.SomeFaults)
	spec := plan(t, stagestest.Regression, rows, nil, fullSpan(0))
	plain, gaps := start(t, spec, nil), start(t, spec, nil)
	offset, refused := int64(0), int64(0)
	for i, batch := range stagestest.Cut(t, rows, stagestest.Every(50)) {
		if err := plain.Add(int64(i), []arrow.Record{batch}, nil); err != nil {
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
		if err := gaps.Add(offset, []arrow.Record{batch}, nil); err != nil {
			t.Fatal(err)
		}
		offset++
	}
	if gaps.NextOffset() != offset || gaps.Counts().Undecodable != refused || gaps.Counts().Messages != plain.Counts().Messages+refused {
		t.Fatalf("next offset %d, counts %+v", gaps.NextOffset(), gaps.Counts())
	}
	sameState(t, gaps, plain)
}

func TestSubsamplerClosesAtItsEndOffset(t *testing.T) {
	rows := eventsOf(t, stagestest.Regression, 100, 7, stagestest.Faults{})
	batches := stagestest.Cut(t, rows, stagestest.Every(10))
	for _, c := range []struct {
		name       string
		start, end int64
		feed       func(*subsample.Subsampler)
		ordinal    int64
		closed     bool
	}{
		{"empty range", 5, 5, func(*subsample.Subsampler) {}, 0, true},
		{"before the end", 2, 6, func(s *subsample.Subsampler) { addFrom(t, s, batches, 2, 5) }, 30, false},
		{"at the end", 2, 6, func(s *subsample.Subsampler) { addFrom(t, s, batches, 2, 6) }, 40, true},
		{"beyond the end", 2, 6, func(s *subsample.Subsampler) { addFrom(t, s, batches, 2, 10) }, 40, true},
		{"after a gap over the end", 2, 6, func(s *subsample.Subsampler) { addFrom(t, s, batches, 2, 4); addFrom(t, s, batches, 8, 9) }, 20, true},
		{"a refused message again", 2, 6, func(s *subsample.Subsampler) { addFrom(t, s, batches, 2, 4); s.Refuse(4) }, 20, false},
		{"before its start", 2, 6, func(s *subsample.Subsampler) { addFrom(t, s, batches, 0, 3) }, 10, false},
		{"the last offsets hold nothing", 2, 6, func(s *subsample.Subsampler) { addFrom(t, s, batches, 2, 4); s.Advance(6) }, 20, true},
		{"the last message is refused", 2, 6, func(s *subsample.Subsampler) { addFrom(t, s, batches, 2, 5); s.Refuse(6) }, 30, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			part := wire.Partition{StartOffset: c.start, EndOffset: c.end}
			spec := plan(t, stagestest.Regression, rows, nil, part)
			s := start(t, spec, nil)
			c.feed(s)
			if s.Closed() != c.closed || s.NextOrdinal() != c.ordinal {
				t.Fatalf("closed %v at ordinal %d, want %v at %d", s.Closed(), s.NextOrdinal(), c.closed, c.ordinal)
			}
			if c.closed && s.Checkpoint(stagestest.Noon).CloseReason != wire.CloseEnd {
				t.Fatalf("closed by %q", s.Checkpoint(stagestest.Noon).CloseReason)
			}
			if restored := start(t, spec, saved(t, s)); restored.Closed() != c.closed {
				t.Fatalf("closed %v once restored", restored.Closed())
			}
		})
	}
}

// addFrom adds the messages at offsets first to next-1.
func addFrom(t testing.TB, s *subsample.Subsampler, batches []arrow.Record, first, next int64) {
	t.Helper()
	for offset := first; offset < next; offset++ {
		if err := s.Add(offset, batches[offset:offset+1], nil); err != nil {
			t.Fatal(err)
		}
	}
}
