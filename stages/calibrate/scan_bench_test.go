package calibrate

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/internal/cputime"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// A scan reads the range, counts labels and selects the calibration rows by hash. The metric
// of_plain is its processor time as a multiple of the time without the selection, measured in
// turns.
func BenchmarkScan(b *testing.B) {
	const rows, perMessage = 100_000, 500
	rec := stagestest.Events(b, stagestest.Regression, rows, 3, stagestest.Faults{})
	messages := map[string][][]byte{}
	for _, part := range stagestest.Cut(b, rec, stagestest.Every(perMessage)) {
		messages["arrow"] = append(messages["arrow"], stagestest.Message(b, part))
		var text []byte
		for row := range int(part.NumRows()) {
			text = append(jsonRow(b, part, row, text), '\n')
		}
		messages["json"] = append(messages["json"], text)
	}
	s := testSettings(stagestest.Regression)
	s.Exploration.CalibrationRows = encoder.DefaultCalibrationRows
	for _, format := range []string{"arrow", "json"} {
		b.Run(format, func(b *testing.B) {
			l := &log{envWith(logOf(b, messages[format]), zap.NewNop())}
			part := wire.Partition{EndOffset: int64(len(messages[format]))}
			var took, plain time.Duration
			for b.Loop() {
				began := cputime.Process()
				one := newScans(s, []wire.Partition{part})
				one[0].unreadable = newUnreadable(part, interval{}, stagestest.Noon)
				if err := l.scan(b.Context(), l.source(s, events.NewAdmission()), s, one[0]); err != nil ||
					one[0].counts.Rows != rows {
					b.Fatalf("%+v, %v", one[0].counts, err)
				}
				releaseScans(one)
				took += cputime.Process() - began
				began = cputime.Process()
				plainScan(b, l, s, part)
				plain += cputime.Process() - began
			}
			b.ReportMetric(float64(took)/float64(plain), "of_plain")
			b.ReportMetric(float64(plain.Nanoseconds())/float64(b.N)/rows, "plain_ns/row")
		})
	}
}

// plainScan reads a range and counts labels.
func plainScan(b *testing.B, l *log, s Settings, part wire.Partition) {
	labels := encoder.NewLabelCounter(s.Events.Options())
	err := l.each(
		b.Context(),
		l.source(s, events.NewAdmission()),
		s,
		0,
		pipeline.ReadOptions{Until: part.EndOffset, Ahead: true},
		func([]byte) {},
		func(_ pipeline.Record, m message, err error) {
			if err != nil {
				b.Error(err)
			}
			for _, batch := range m.batches {
				labels.Add(batch)
			}
		},
	)
	if err != nil {
		b.Fatal(err)
	}
}

// jsonRow appends a row as JSON.
func jsonRow(b *testing.B, rec arrow.Record, row int, text []byte) []byte {
	cells := map[string]any{}
	for i, field := range rec.Schema().Fields() {
		if column := rec.Column(i); column.IsValid(row) {
			cells[field.Name] = column.GetOneForMarshal(row)
		}
	}
	one, err := json.Marshal(cells)
	if err != nil {
		b.Fatal(err)
	}
	return append(text, one...)
}

func TestNth(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		hashes := make([]uint64, 1+r.IntN(60))
		for i := range hashes {
			hashes[i] = r.Uint64N(40) // some are equal
		}
		sorted := slices.Sorted(slices.Values(hashes))
		for n := range sorted {
			if got := nth(slices.Clone(hashes), n); got != sorted[n] {
				t.Fatalf("index %d of %v: %d", n, sorted, got)
			}
		}
	}
}
