package subsample_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"pgregory.net/rapid"

	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/stages/subsample"
)

// TestSubsamplerOutcomes compares outcomes, closing ordinal and rejected rows with a walk over the
// rows one by one.
func TestSubsamplerOutcomes(t *testing.T) {
	for _, task := range tasks {
		t.Run(task, func(t *testing.T) {
			e, exploration := settings(task)
			high := 520.0
			if task == stagestest.Regression {
				e.LabelMax = &high // some labels exceed it
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
				ids := rowid.NewHasher(spec.Identity).Identities(rows, nil, nil)
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
						want.HeldOut += int64(stagestest.Bit(scoring.HeldOut(spec.SampleSeed, ids[i])))
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
					rt.Fatalf("counts do not add up: %+v", counts)
				}
				counts.Messages, counts.Imputed, counts.UnseenCategory, counts.Clipped = 0, 0, 0, 0
				if counts != want || s.NextOrdinal() != closing || !slices.Equal(got, bad) {
					rt.Fatalf("counts %+v, closing ordinal %d, rejected %v\nwant   %+v, %d, %v",
						counts, s.NextOrdinal(), got, want, closing, bad)
				}
				if s.Closed() != (part.Quota > 0 && want.Scored == part.Quota) || int64(s.Samples().Rows()) != want.Scored {
					rt.Fatalf(
						"closed %v with %d scored of a quota of %d, %d collected",
						s.Closed(),
						want.Scored,
						part.Quota,
						s.Samples().Rows(),
					)
				}
			})
		})
	}
}

// An undecodable message has no ordinals: the rows after it are sampled as if it did not exist.
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
	if gaps.NextOffset() != offset || gaps.Counts().Undecodable != refused ||
		gaps.Counts().Messages != plain.Counts().Messages+refused {
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
		{
			"after a gap over the end",
			2,
			6,
			func(s *subsample.Subsampler) { addFrom(t, s, batches, 2, 4); addFrom(t, s, batches, 8, 9) },
			20,
			true,
		},
		{
			"a refused message again",
			2,
			6,
			func(s *subsample.Subsampler) { addFrom(t, s, batches, 2, 4); s.Refuse(4) },
			20,
			false,
		},
		{"before its start", 2, 6, func(s *subsample.Subsampler) { addFrom(t, s, batches, 0, 3) }, 10, false},
		{
			"the last offsets hold nothing",
			2,
			6,
			func(s *subsample.Subsampler) { addFrom(t, s, batches, 2, 4); s.Advance(6) },
			20,
			true,
		},
		{
			"the last message is refused",
			2,
			6,
			func(s *subsample.Subsampler) { addFrom(t, s, batches, 2, 5); s.Refuse(6) },
			30,
			true,
		},
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
				t.Fatalf("closed %v after restoring", restored.Closed())
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
