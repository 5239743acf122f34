package formats

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
)

// TestResultDependsOnlyOnTheMessage permutes, cuts and joins the messages of every format, mixed
// with messages that are refused or have other columns: each row is read as by a fresh decoder.
func TestResultDependsOnlyOnTheMessage(t *testing.T) {
	const count = 60
	rec := sampleRecord(t, count)
	defer rec.Release()
	enc := &encoder.Encoder{Columns: []encoder.Column{
		{Name: "amount", Kind: encoder.Numeric, Width: 1}, {Name: "country", Kind: encoder.Category, Width: 1},
		{
			Name:  "member",
			Kind:  encoder.Bool,
			Width: 1,
		}, {Name: "v", Kind: encoder.Vector, Width: 3}, {Name: "gone", Kind: encoder.Time, Width: 1},
	}}
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range All()[1:] {
		for _, encode := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %v", f, encode), func(t *testing.T) {
				options := Options{Format: f, Registry: schemas{}}
				if f != Arrow {
					options.Encoder, options.EncodeOnly = enc, encode
				}
				var all [][]byte
				firsts := map[int]int{} // rows before a message
				for _, cut := range []int64{1, 7, count} {
					for first := int64(0); first < count; first += cut {
						part := rec.NewSlice(first, min(count, first+cut))
						stream, err := arrowio.EncodeStream(part.Schema(), part)
						if err != nil {
							t.Fatal(err)
						}
						made := [][]byte{stream}
						if f != Arrow {
							var schema string
							schema, made = messages(t, f, part, f != JSON)
							options.Registry.(schemas)[7] = &Schema{Format: f, Text: schema}
						}
						part.Release()
						for i, m := range made {
							firsts[len(all)] = int(first)
							if len(made) > 1 {
								firsts[len(all)] += i
							}
							all = append(all, m)
						}
					}
				}
				want := make([]string, count)
				used := NewDecoder(options)
				for round := range 3 {
					for _, i := range r.Perm(len(all)) {
						if round > 0 {
							_, _, _, _ = rows(t, used, []byte(`{"amount": "x", "other": {"column": [1, 2]}, "v": [1], "country": 5}`))
							_, _, _, _ = rows(t, used, all[r.IntN(len(all))][:len(all[i])/2%len(all[0])])
						}
						d := used
						if round == 0 {
							d = NewDecoder(options)
						}
						_, _, cells, err := rows(t, d, all[i])
						if err != nil {
							t.Fatal(err)
						}
						for at, row := range cells {
							got := strings.Join(row, "|")
							if n := firsts[i] + at; want[n] == "" {
								want[n] = got
							} else if want[n] != got {
								t.Fatalf("row %d is %s and was %s", n, got, want[n])
							}
						}
						used.Trim()
					}
				}
			})
		}
	}
}
