package arrowio

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/eerf-stream/eerf/internal/hostile"
)

// codecTables is what decoding may allocate in addition to its budget: the tables of a codec, once,
// and the Go objects of an error.
const codecTables = 1 << 20

// bases are the streams that mutants are made from: every one written by pyarrow, and those of flat
// columns again from this module's own writer, with both compressions.
func bases(t testing.TB) []*hostile.Message {
	t.Helper()
	all := streams(t)
	for _, name := range []string{"flat", "temporal", "nested", "dictionary_kinds", "sliced"} {
		d := NewDecoder(Limits{})
		recs := mustDecode(t, d, all[name])
		schema := d.Schema()
		all["own "+name] = write(t, schema, append(recs, recs...))
		all["own lz4 "+name] = write(t, schema, recs, ipc.WithLZ4())
		all["own zstd "+name] = write(t, schema, recs, ipc.WithZstd())
	}
	var messages []*hostile.Message
	for _, name := range slices.Sorted(maps.Keys(all)) {
		messages = append(messages, hostile.ArrowMessage(name, all[name]))
	}
	return messages
}

// TestMutants damages valid streams of every shape. A refusal has a reason. Of an accepted stream
// every value can be read, and all of it can be written and is the same when read again.
func TestMutants(t *testing.T) {
	messages := bases(t)
	d := NewDecoder(small)
	hostile.Run(t, hostile.Suite{
		Make: func(r *rand.Rand, into []byte) []byte {
			return messages[r.IntN(len(messages))].Mutate(r, into, messages)
		},
		Try: func(m *hostile.Meter, mutant []byte) (string, error) {
			m.Within(small.BudgetBytes+int64(len(mutant))+codecTables, func() {
				recs, _ := d.Decode(mutant)
				releaseAll(recs)
			})
			return tryMutant(d, mutant)
		},
	}, 12_000)
}

// tryMutant decodes a damaged stream, reads all of the result, and writes it again. It returns the
// reason for a refusal.
func tryMutant(d *Decoder, mutant []byte) (reason string, err error) {
	recs, err := d.Decode(mutant)
	defer releaseAll(recs)
	switch {
	case err == nil:
	case len(recs) > 0 || d.Schema() != nil:
		return "", fmt.Errorf("%d records of schema %v with the error %w", len(recs), d.Schema(), err)
	case strings.Contains(err.Error(), unforeseen):
		return "", err
	default:
		return Reason(err), nil
	}
	touch(recs)
	return hostile.Accepted, writeAgain(d.Schema(), recs)
}

// writeAgain encodes records and decodes them, with extra room for what sharing had saved.
func writeAgain(schema *arrow.Schema, recs []arrow.Record) error {
	raw, err := EncodeStream(schema, recs...)
	if err != nil {
		return fmt.Errorf("what was accepted is not written: %w", err)
	}
	again, err := NewDecoder(Limits{}).Decode(raw)
	defer releaseAll(again)
	if err != nil {
		return fmt.Errorf("what was accepted and written is refused: %w", err)
	}
	if got, want := renderAll(again), renderAll(recs); !reflect.DeepEqual(got, want) {
		return fmt.Errorf("%v was accepted and, when written, is %v", want, got)
	}
	return nil
}
