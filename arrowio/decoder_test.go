package arrowio

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// TestErrorsNameThePlace looks for the coordinates in an error text.
func TestErrorsNameThePlace(t *testing.T) {
	batch := plainBatch(2, []int64{2, 0}, []int64{0, 0, 0, 4}, make([]byte, 8))
	_, err := NewDecoder(Limits{}).Decode(join(simpleSchema(typeFloat), batch))
	const want = `arrow message 1: column "x": corrupt: buffer 1 has 4 bytes, needs 8`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	long := strings.Repeat("n", 1000)
	if got := Quote(long); len(got) > 80 {
		t.Errorf("a name of 1000 bytes is shown in %d", len(got))
	}
}

// TestOutcomeIgnoresEarlierMessages decodes with decoders of all ages: it must make no difference
// whether the schema is already known, even at the edge of the budget.
func TestOutcomeIgnoresEarlierMessages(t *testing.T) {
	all := streams(t)
	old := NewDecoder(Limits{})
	for _, name := range []string{"flat", "nested", "views", "flat", "dictionary_kinds", "temporal", "lz4", "flat"} {
		fresh := renderAll(mustDecode(t, NewDecoder(Limits{}), all[name]))
		if got := renderAll(mustDecode(t, old, all[name])); !reflect.DeepEqual(got, fresh) {
			t.Errorf("%s: %v, a new decoder says %v", name, got, fresh)
		}
	}
	if n := len(old.schemas.entries); n != cachedSchemas {
		t.Errorf("%d schemas are kept, want %d", n, cachedSchemas)
	}
	fits := cost(t, all["flat"])
	for range 2 {
		d := NewDecoder(Limits{BudgetBytes: fits})
		for range 3 {
			mustDecode(t, d, all["flat"])
		}
		d = NewDecoder(Limits{BudgetBytes: fits - 1})
		for range 3 {
			if _, err := d.Decode(all["flat"]); !errors.Is(err, ErrBudget) {
				t.Errorf("error %v", err)
			}
		}
	}
}

// cost returns the smallest budget that a stream can be decoded with.
func cost(t *testing.T, stream []byte) int64 {
	t.Helper()
	low, high := int64(1), int64(1<<20)
	for low < high {
		mid := (low + high) / 2
		recs, err := NewDecoder(Limits{BudgetBytes: mid}).Decode(stream)
		releaseAll(recs)
		if err != nil {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// TestSchemaCacheKeepsItsBytes changes a message after it has been decoded: the cached schema must
// be the one that was verified.
func TestSchemaCacheKeepsItsBytes(t *testing.T) {
	d := NewDecoder(Limits{})
	stream := simpleSchema(typeFloat)
	mustDecode(t, d, stream)
	name := strings.Index(string(stream), "\x01\x00\x00\x00x")
	stream[name+4] = 'y'
	mustDecode(t, d, stream)
	if got := d.Schema().Field(0).Name; got != "y" {
		t.Errorf("column %q, want \"y\"", got)
	}
}
