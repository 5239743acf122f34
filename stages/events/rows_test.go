package events

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"pgregory.net/rapid"

	"github.com/eerf-stream/eerf/stages/stagestest"
)

func TestTakeRowsOfEveryType(t *testing.T) {
	for _, dt := range stagestest.ColumnTypes {
		t.Run(dt.String(), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
				n := rapid.IntRange(1, 40).Draw(rt, "rows")
				column := stagestest.RandomColumn(t, dt, n+7, rng)
				defer column.Release()
				// A slice: positions are relative to it, and it shares the buffers of its parent.
				full := array.NewRecord(
					arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt, Nullable: true}}, nil),
					[]arrow.Array{column},
					int64(n+7),
				)
				defer full.Release()
				rec := full.NewSlice(5, int64(n+5))
				defer rec.Release()
				rows := someRows(rng, n, rapid.Float64Range(0, 1).Draw(rt, "share"))
				taken, err := TakeRows(rec, rows, nil)
				if err != nil {
					rt.Fatal(err)
				}
				defer taken.Release()
				// The result can be encoded and decoded.
				batches, err := NewReader(DefaultLimits().Decoder(), nil).Read(stagestest.Message(t, taken))
				if err != nil {
					rt.Fatalf("the taken rows do not decode: %v", err)
				}
				defer Release(batches)
				back := batches[0]
				if back.NumRows() != int64(len(rows)) || !arrow.TypeEqual(back.Column(0).DataType(), dt) {
					rt.Fatalf("%d rows of %v, want %d of %v", back.NumRows(), back.Column(0).DataType(), len(rows), dt)
				}
				for i, row := range rows {
					got, want := back.Column(0), rec.Column(0)
					if got.IsNull(i) != want.IsNull(int(row)) || got.ValueStr(i) != want.ValueStr(int(row)) {
						rt.Fatalf("row %d: %s, want %s", row, got.ValueStr(i), want.ValueStr(int(row)))
					}
				}
			})
		})
	}
}

// someRows returns ascending rows, alone and in runs.
func someRows(rng *rand.Rand, n int, share float64) []int32 {
	var rows []int32
	for i := range n {
		if rng.Float64() < share {
			rows = append(rows, int32(i))
		}
	}
	return rows
}
