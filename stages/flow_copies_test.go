package stages_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/training"
)

// coins returns rows whose label is decided by a coin. Rows of one customer have the same label.
func coins(first, next int, perCustomer int) arrow.Record {
	var fields []arrow.Field
	for i := range 6 {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("x", i), Type: arrow.PrimitiveTypes.Float64})
	}
	fields = append(
		fields,
		arrow.Field{Name: "customer", Type: arrow.BinaryTypes.String},
		arrow.Field{Name: "y", Type: arrow.BinaryTypes.String},
	)
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for n := first; n < next; n++ {
		of := rand.New(rand.NewPCG(uint64(n/perCustomer), 7))
		label := []string{"no", "yes"}[of.IntN(2)]
		row := rand.New(rand.NewPCG(uint64(n), 8))
		for i := range 6 {
			b.Field(i).(*array.Float64Builder).Append(3*of.NormFloat64() + 0.01*row.NormFloat64())
		}
		b.Field(6).(*array.StringBuilder).Append(fmt.Sprint("c", n/perCustomer))
		b.Field(7).(*array.StringBuilder).Append(label)
	}
	return b.NewRecord()
}

// No model predicts a coin. Copies of events in other partitions and after the exploration, and
// events of the same customer, do not make it look as if one did.
func TestFlowCopiesDoNotJudgeWhatLearnedFromThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		copies, perCustomer int
		group               string
		want                rowid.By
	}{
		"twice":       {2, 1, "", rowid.Content},
		"three times": {3, 1, "", rowid.Content},
		"customers":   {1, 4, "customer", rowid.Group},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const count = 1200
			f := newFlow(t, 3, func(s *stages.Settings) {
				s.Events.Passthrough, s.Events.Exclude, s.Events.Group = nil, []string{"customer"}, c.group
				s.Exploration.Criterion, s.Exploration.SampleRate = scoring.Correlation, 1
				s.Exploration.Candidates, s.Exploration.Features, s.Exploration.Sigma = 400, 400, 2
				s.Train.LambdaGrid, s.Train.Loss = "1e-9", training.LossSquared
				s.Train.Forget = false
			})
			rows := coins(0, count, c.perCustomer)
			defer rows.Release()
			half := []arrow.Record{rows.NewSlice(0, count/2), rows.NewSlice(count/2, count)}
			for n := range c.copies {
				f.send(n, half[0], 50) // the first half before the exploration, in other partitions
			}
			f.send(2, half[1], 64)
			w := f.start(allButTrain, nil)
			set := f.set(1)
			for n := range c.copies { // and everything again after it
				f.send((n+1)%3, rows, 33)
			}
			total := int64(count/2*(c.copies+1) + count*c.copies)
			f.until("all rows are featurized", func() bool { return w.Env.Meter.Totals().Featurize.Rows == total })
			for p := range 3 {
				f.featurizedUpTo(p, int64(len(f.all(f.settings.Topics.Events, p))))
			}
			w.stop()
			rule := set.Set.Lineage.Identity
			if train := f.settings.Train; rule.By != c.want || rule.HeldOutFraction != train.HeldOutFraction ||
				rule.HeldOutSeed != train.HeldOutSeed {
				t.Fatalf("identity %+v", rule)
			}
			held, known := int64(0), rowid.NewHasher(rule).Identities(rows, nil, nil)
			for p := range 3 {
				for _, part := range f.features(p) {
					for _, id := range part.Identities {
						if !slices.Contains(known, id) {
							t.Fatalf("features of a row with identity %x, which no event has", id)
						}
						if training.HeldOut(rule.HeldOutSeed, id, rule.HeldOutFraction) {
							held++
						}
					}
				}
			}
			m := f.fit(f.trainer())
			if m.HeldOutRows != held || m.Metrics.MeasuredRows != held || m.Metrics.Seen != nil ||
				m.NotHeldOut != nil || rangeRows(m) != total {
				t.Errorf("%d rows, %d held out, want %d and %d; seen %v", rangeRows(m), m.HeldOutRows, total, held, m.Metrics.Seen)
			}
			if e := m.Metrics.Misclassification; e == nil || *e < 38 || *e > 62 {
				t.Errorf("misclassification %v of coins", e)
			}
		})
	}
}
