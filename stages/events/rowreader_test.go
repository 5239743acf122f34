package events_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// memory is an in-memory file of batches.
type memory struct{ left []arrow.Record }

func (m *memory) Next() (arrow.Record, error) {
	if len(m.left) == 0 {
		return nil, io.EOF
	}
	batch := m.left[0]
	m.left = m.left[1:]
	batch.Retain()
	return batch, nil
}

func file(batches ...arrow.Record) func() (events.RowReader, error) {
	return func() (events.RowReader, error) { return &memory{batches}, nil }
}

func TestEachBatchStopsAtEOFOfTheCaller(t *testing.T) {
	batches := stagestest.Cut(t, stagestest.Events(t, stagestest.Binary, 50, 23, stagestest.Faults{}), stagestest.Every(10))
	var seen []int64
	err := events.EachBatch(t.Context(), file(batches...), func(number int64, _ arrow.Record) error {
		seen = append(seen, number)
		if number == 2 {
			return io.EOF
		}
		return nil
	})
	if err != nil || !slices.Equal(seen, []int64{0, 1, 2}) {
		t.Fatalf("batches %v, error %v", seen, err)
	}
}

// broken is a file that ends in an error.
type broken struct{ err error }

func (b broken) Next() (arrow.Record, error) { return nil, b.err }

func TestEachBatchReturnsFaults(t *testing.T) {
	fault := errors.New("disk on fire")
	rows := stagestest.Events(t, stagestest.Binary, 50, 23, stagestest.Faults{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context //nolint:containedctx // a table
		open func() (events.RowReader, error)
		do   error
		want error
	}{
		"cannot be opened":     {t.Context(), func() (events.RowReader, error) { return nil, fault }, nil, fault},
		"ends in an error":     {t.Context(), func() (events.RowReader, error) { return broken{fault}, nil }, nil, fault},
		"stopped":              {ended, file(rows), nil, context.Canceled},
		"the caller's own one": {t.Context(), file(rows), fault, fault},
	} {
		err := events.EachBatch(c.ctx, c.open, func(int64, arrow.Record) error { return c.do })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
}
