package formats

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/arrowio"
)

// TestRoomIsChargedOnce checks that room is charged once, even if less of it is used.
func TestRoomIsChargedOnce(t *testing.T) {
	for _, n := range []int{1<<20 - 100, 1 << 20} {
		message := `{"a":"` + strings.Repeat("x", n) + `"}` + strings.Repeat(`{"a":""}`, 40)
		recs, err := NewDecoder(Options{Format: JSON, Limits: arrowio.Limits{BudgetBytes: 12 << 20}}).Decode([]byte(message))
		if err != nil {
			t.Errorf("%d: %v", n, err)
			continue
		}
		recs[0].Release()
	}
}

// TestOutcomeIgnoresEarlierMessages checks that earlier messages do not change the outcome.
func TestOutcomeIgnoresEarlierMessages(t *testing.T) {
	message := func(n int) []byte { return []byte(`{"a":"` + strings.Repeat("x", n) + `","b":[1,2,3]}`) }
	for _, limit := range []int64{20 << 10, 100 << 10} {
		limits := arrowio.Limits{BudgetBytes: limit}
		used := NewDecoder(Options{Format: JSON, Limits: limits})
		for _, n := range []int{10, 40 << 10, 10, 5000, 6000, 7000, 40 << 10} {
			say := func(d *Decoder) string {
				recs, err := d.Decode(message(n))
				for _, rec := range recs {
					rec.Release()
				}
				return fmt.Sprint(err)
			}
			if got, want := say(used), say(NewDecoder(Options{Format: JSON, Limits: limits})); got != want {
				t.Errorf("%d bytes: %s, by a new one %s", n, got, want)
			}
		}
	}
}

// TestNamesAreCharged checks that the library's copies of names, which it keeps to find duplicates,
// are charged before they are allocated, also for values that fit no column.
func TestNamesAreCharged(t *testing.T) {
	for _, n := range []int{40, 3000, 200_000} {
		message := []byte(`{"a":[{"0":0`)
		for i := range n {
			message = fmt.Appendf(message, `,"%x":0`, i+1)
		}
		message = append(message, "}]}"...)
		d := NewDecoder(Options{Format: JSON})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		recs, err := d.Decode(message)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		recs[0].Release()
		charged := d.table.budget.Total - d.table.budget.Left
		if took := int64(after.TotalAlloc - before.TotalAlloc); took > charged+64<<10 {
			t.Errorf("%d names took %d bytes, %d were charged", n, took, charged)
		}
		_, err = NewDecoder(Options{Format: JSON, Limits: arrowio.Limits{BudgetBytes: int64(len(message))}}).Decode(message)
		if Reason(err) != "over_budget" {
			t.Errorf("%d names: %v", n, err)
		}
	}
}
