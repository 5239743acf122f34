package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// stray returns rows of a different shape: one column, plus the label if requested.
func stray(t testing.TB, column string, rows int, label bool) arrow.Record {
	t.Helper()
	fields := []arrow.Field{{Name: column, Type: arrow.PrimitiveTypes.Float64}}
	if label {
		fields = append(fields, arrow.Field{Name: "y", Type: arrow.PrimitiveTypes.Float64})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i := range rows {
		for j := range fields {
			b.Field(j).(*array.Float64Builder).Append(float64(i * (j + 1)))
		}
	}
	rec := b.NewRecord()
	t.Cleanup(rec.Release)
	return rec
}

// withColumn adds a column to rows.
func withColumn(t testing.TB, rows arrow.Record, name string, column arrow.Array) arrow.Record {
	t.Helper()
	fields := append(
		slices.Clone(rows.Schema().Fields()),
		arrow.Field{Name: name, Type: column.DataType(), Nullable: true},
	)
	rec := array.NewRecord(arrow.NewSchema(fields, nil), append(slices.Clone(rows.Columns()), column), rows.NumRows())
	t.Cleanup(rec.Release)
	return rec
}

// fromTheLog plans over the messages of the partitions and returns the spec and the logged
// warnings.
func fromTheLog(t testing.TB, s Settings, messages ...[][]byte) (*wire.Spec, *observer.ObservedLogs, error) {
	t.Helper()
	core, logs := observer.New(zap.WarnLevel)
	s.Exploration.MinRows = 0
	found, err := Plan(
		t.Context(),
		envWith(logOf(t, messages...), zap.New(core)),
		s,
		Request{Sequence: 1, Now: stagestest.Noon},
	)
	if err != nil {
		return nil, logs, err
	}
	return found.Spec, logs, nil
}

// A stray message does not determine the features, whatever its position and the number of shapes.
func TestCalibrationSkipsStrays(t *testing.T) {
	s := testSettings(stagestest.Regression)
	s.Exploration.CalibrationRows = 400
	s.Exploration.Sigma = 0
	rows := stagestest.Events(t, stagestest.Regression, 400, 300, stagestest.SomeFaults)
	want := calibratedOn(t, s, []arrow.Record{rows})
	unlabelled := wire.SelectColumns(rows, []string{"a", "b", "color", "ok", "v", "id"})
	defer unlabelled.Release()
	for _, c := range []struct {
		name   string
		strays map[int]arrow.Record // keyed by the number of the message that follows
		passed int64
	}{
		{"first, without label", map[int]arrow.Record{0: stray(t, "z", 1, false)}, 1},
		{"first, with label", map[int]arrow.Record{0: stray(t, "z", 3, true)}, 3},
		{"many, without label", map[int]arrow.Record{0: stray(t, "z", 1000, false)}, 1000},
		{
			"some of them in the middle",
			map[int]arrow.Record{2: stray(t, "z", 5, true), 3: stray(t, "q", 7, true), 4: stray(t, "z", 5, false)},
			17,
		},
		{"the same features, unlabelled", map[int]arrow.Record{0: unlabelled}, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{1, 10, 60} {
				var values [][]byte
				for i, batch := range stagestest.Cut(t, rows, stagestest.Every(size)) {
					if stray, ok := c.strays[i]; ok {
						values = append(values, stagestest.Message(t, stray))
					}
					values = append(values, stagestest.Message(t, batch))
				}
				got, logs, err := fromTheLog(t, s, values)
				if err != nil {
					t.Fatal(err)
				}
				sigma := got.Candidates.Sigma // summed in the order of hashes, which depends on the strays
				if !reflect.DeepEqual(got.Encoder, want.encoder) || math.Abs(sigma-want.sigma) > 1e-12*want.sigma ||
					got.Partitions[0].CalibrationRows != 400 {
					t.Fatalf("messages of %d: %d rows, sigma %v, want %v", size, got.Partitions[0].CalibrationRows, sigma, want.sigma)
				}
				if all := logs.All(); len(all) != 1 || all[0].ContextMap()["rows"] != c.passed {
					t.Errorf("messages of %d: warnings %+v, want one of %d rows", size, all, c.passed)
				}
			}
		})
	}
}

// If two shapes have equally many rows, the first one in partition order is chosen, even if only
// one partition has it. A shape that the options do not allow is never chosen.
func TestCalibrationChoosesAShape(t *testing.T) {
	s := testSettings(stagestest.Regression)
	z, q := stagestest.Message(t, stray(t, "z", 20, true)), stagestest.Message(t, stray(t, "q", 20, true))
	for _, c := range []struct {
		name       string
		features   []string
		partitions [][][]byte
		want       string
	}{
		{"tie", nil, [][][]byte{{z, q}}, "z"},
		{"tie of partitions", nil, [][][]byte{{q}, {z}}, "q"},
		{"most rows over all partitions", nil, [][][]byte{{z}, {q, q}, {z, z}}, "z"},
		{"the one that the options name", []string{"q"}, [][][]byte{{z, z, q}, {z}}, "q"},
	} {
		s.Events.Features = c.features
		found, _, err := fromTheLog(t, s, c.partitions...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if len(found.Encoder.Columns) != 1 || found.Encoder.Columns[0].Name != c.want {
			t.Errorf("%s: columns %+v, want %s", c.name, found.Encoder.Columns, c.want)
		}
	}
	s.Events.Features = nil
	_, _, err := fromTheLog(t, s, [][]byte{stagestest.Message(t, stray(t, "z", 20, false))})
	if err == nil || !strings.Contains(err.Error(), `label column "y" is in none`) {
		t.Errorf("no labels anywhere: error %v", err)
	}
}

// Calibration keeps exactly the columns that the encoder reads, and the encoder's report on the
// other columns is the same as for the originals.
func TestCalibrationKeepsWhatTheEncoderReads(t *testing.T) {
	rows := stagestest.Events(t, stagestest.Regression, 40, 301, stagestest.Faults{})
	rng := rand.New(rand.NewPCG(3, 1))
	for _, typ := range stagestest.ColumnTypes {
		t.Run(typ.String(), func(t *testing.T) {
			column := stagestest.RandomColumn(t, typ, 40, rng)
			defer column.Release()
			wide := withColumn(t, rows, "extra", column)
			events := testSettings(stagestest.Regression).Events
			events.Exclude = []string{"b"}
			direct := encoder.NewCalibrator(events.Options())
			if err := direct.Add(wide); err != nil {
				t.Fatal(err)
			}
			wantEncoder, want, err := direct.Encoder()
			if err != nil {
				t.Fatal(err)
			}
			s := testSettings(stagestest.Regression)
			s.Events, s.Exploration.Sigma = events, 0
			got, err := fileOf(s, stagestest.Cut(t, wide, stagestest.Every(7)))
			if err != nil || !reflect.DeepEqual(got.Spec.Encoder, wantEncoder) || !reflect.DeepEqual(got.Report, want) ||
				got.Spec.Candidates.Sigma <= 0 {
				t.Fatalf("%v: report %+v, want %+v", err, got.Report, want)
			}
			unreadable := slices.ContainsFunc(want.LeftOut, func(l encoder.LeftOut) bool {
				return l.Column == "extra" && strings.Contains(l.Reason, "its type")
			})
			if kept := encoder.TypeName(typ) != ""; kept == unreadable {
				t.Errorf("kept %v, unreadable %v", kept, unreadable)
			}
		})
	}
}

// keptBytes returns the memory that the arrays of a record keep alive.
func keptBytes(rec arrow.Record) (bytes int) {
	var of func(arrow.ArrayData)
	of = func(data arrow.ArrayData) {
		for _, b := range data.Buffers() {
			if b != nil {
				bytes += b.Cap()
			}
		}
		for _, child := range data.Children() {
			of(child)
		}
		if d, ok := data.(*array.Data); ok && d.Dictionary() != nil && d.DataType().ID() == arrow.DICTIONARY {
			of(d.Dictionary())
		}
	}
	for _, column := range rec.Columns() {
		of(column.Data())
	}
	return bytes
}

// Many small messages with large unread columns use little memory.
func TestCalibrationKeepsLittleOfLargeMessages(t *testing.T) {
	s := testSettings(stagestest.Regression)
	rows := stagestest.Events(t, stagestest.Regression, 100, 302, stagestest.SomeFaults)
	blob := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	note := array.NewStringBuilder(memory.DefaultAllocator)
	defer blob.Release()
	defer note.Release()
	for i := range 100 {
		blob.Append(make([]byte, 40<<10))
		note.Append(strings.Repeat(fmt.Sprint(i%10), 20<<10))
	}
	blobs, notes := blob.NewArray(), note.NewArray()
	defer blobs.Release()
	defer notes.Release()
	s.Events.Exclude = []string{"note"}
	wide := withColumn(t, withColumn(t, rows, "blob", blobs), "note", notes)
	for _, size := range []int{1, 7, 100} {
		c := newKeptRows(s.Events, 1, 0, 100, calibrationShare(1))
		for _, batch := range decodeAll(t, messages(t, stagestest.Cut(t, wide, stagestest.Every(size)))) {
			if err := c.add(batch); err != nil {
				t.Fatal(err)
			}
		}
		kept := c.shapes[0].variants[0]
		bytes := 0
		for _, rec := range kept.pieces {
			bytes += keptBytes(rec)
		}
		if rows := events.CountRows(kept.pieces); rows != 100 || len(kept.pieces) > 2*fewPieces || bytes > 32<<10 {
			t.Errorf("messages of %d: %d rows in %d records of %d bytes", size, rows, len(kept.pieces), bytes)
		}
		c.release()
	}
}

func decodeAll(t testing.TB, values [][]byte) (batches []arrow.Record) {
	t.Helper()
	for _, value := range values {
		batches = append(batches, stagestest.Decode(t, value)...)
	}
	return batches
}
