package stages

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
	"github.com/eerf-stream/eerf/scoring"
)

// calibrated learns from batches of partitions, in the order given.
func calibrated(t testing.TB, s Settings, partitions ...[]arrow.Record) *Calibrated {
	t.Helper()
	c := NewCalibration(s.Events)
	defer c.Release()
	for partition, batches := range partitions {
		ordinal := int64(0)
		for _, batch := range batches {
			if err := c.Add(int32(partition), ordinal, batch); err != nil {
				t.Fatal(err)
			}
			ordinal += batch.NumRows()
		}
	}
	found, err := c.Finish(s.Exploration)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestCalibrationDoesNotDependOnCutting(t *testing.T) {
	s := testSettings(taskClasses)
	s.Exploration.Sigma = 0
	first, second := events(t, taskClasses, 900, 80, someFaults), events(t, taskClasses, 800, 81, someFaults)
	want := calibrated(t, s, []arrow.Record{first}, []arrow.Record{second})
	for name, size := range cuttings {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 1))
			got := calibrated(t, s, cut(t, first, size(rng)), cut(t, second, size(rng)))
			if !reflect.DeepEqual(got.Encoder, want.Encoder) || got.Sigma != want.Sigma {
				t.Fatalf("sigma %v, want %v; encoders equal: %v", got.Sigma, want.Sigma, reflect.DeepEqual(got.Encoder, want.Encoder))
			}
		})
	}
}

// The bandwidth comes from the thousand usable rows that are first by hash.
func TestCalibrationBandwidth(t *testing.T) {
	s := testSettings(taskRegression)
	s.Exploration.Sigma, s.Exploration.Seed = 0, 77
	partitions := [][]arrow.Record{
		cut(t, events(t, taskRegression, 1300, 82, someFaults), every(333)),
		cut(t, events(t, taskRegression, 1900, 83, someFaults), every(1000)),
	}
	found := calibrated(t, s, partitions...)
	type row struct {
		hash uint64
		x    []float32
	}
	var rows []row
	var encoded encoder.Rows
	for partition, batches := range partitions {
		ordinal := int64(0)
		for _, batch := range batches {
			if err := found.Encoder.Encode(&encoded, batch, nil); err != nil {
				t.Fatal(err)
			}
			for i, number := range encoded.Row[:encoded.N] {
				rows = append(rows, row{scoring.Hash(77^0x7369676d61, int32(partition), ordinal+int64(number)), slices.Clone(encoded.X[i*encoded.Dim : (i+1)*encoded.Dim])})
			}
			ordinal += batch.NumRows()
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		if a.hash < b.hash {
			return -1
		}
		return 1
	})
	if len(rows) < 2100 {
		t.Fatalf("%d usable rows", len(rows))
	}
	var x []float32
	for _, r := range rows[:1000] {
		x = append(x, r.x...)
	}
	want, _ := scoring.Bandwidth(x, 1000, found.Encoder.Dim, scoring.Gaussian, scoring.MapCosine)
	if found.Sigma != want || found.BandwidthRule != bandwidthNeighbour {
		t.Fatalf("sigma %v by %q, want %v", found.Sigma, found.BandwidthRule, want)
	}
}

func TestCalibrationBandwidthRules(t *testing.T) {
	rows := []arrow.Record{events(t, taskRegression, 200, 84, faults{})}
	for _, c := range []struct {
		m     scoring.Map
		given float64
		sigma float64 // 0 = found
		rule  string
	}{
		{scoring.MapCosine, 2.5, 2.5, bandwidthGiven},
		{scoring.MapCosine, 0, 0, bandwidthNeighbour},
		{scoring.MapArcCosine1, 0, 1, bandwidthUnit},
		{scoring.MapArcCosine1, 3, 3, bandwidthGiven},
		{scoring.MapLinear, 0, 1, bandwidthUnit},
	} {
		s := testSettings(taskRegression)
		s.Exploration.Map, s.Exploration.Sigma = c.m, c.given
		found := calibrated(t, s, rows)
		if found.BandwidthRule != c.rule || found.Sigma <= 0 || c.sigma > 0 && found.Sigma != c.sigma {
			t.Errorf("%v, given %v: sigma %v by %q, want %v by %q", c.m, c.given, found.Sigma, found.BandwidthRule, c.sigma, c.rule)
		}
	}
}

func TestCalibrationRefuses(t *testing.T) {
	s := testSettings(taskRegression)
	empty := NewCalibration(s.Events)
	if _, err := empty.Finish(s.Exploration); !errors.Is(err, ErrNoCalibrationRows) {
		t.Errorf("no rows: error %v", err)
	}
	rows := events(t, taskRegression, 100, 85, faults{})
	narrow := wire.SelectColumns(rows, []string{"a", "y"})
	defer narrow.Release()
	c := NewCalibration(s.Events)
	defer c.Release()
	if err := c.Add(0, 0, rows); err != nil {
		t.Fatal(err)
	}
	if err := c.Add(0, 100, narrow); !errors.Is(err, encoder.ErrSchema) || c.Rows() != 100 {
		t.Errorf("rows without the columns of those before: error %v, %d rows", err, c.Rows())
	}

	// A features message needs these names for itself.
	for _, name := range []string{wire.ColumnRow, wire.ColumnFeatures} {
		fields := slices.Clone(rows.Schema().Fields())
		fields[5].Name = name
		clash := s.Events
		clash.Passthrough = []string{name}
		c := NewCalibration(clash)
		renamed := withSchema(rows, fields)
		if err := c.Add(0, 0, renamed); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Finish(s.Exploration); !errors.Is(err, wire.ErrReservedColumn) {
			t.Errorf("passthrough column %s: error %v", name, err)
		}
		c.Release()
		renamed.Release()
	}
}

// logOf returns a runtime whose events hold, in each partition, the messages; a nil message does not decode.
func logOf(t testing.TB, s Settings, partitions ...[][]byte) *Runtime {
	t.Helper()
	broker := pipelinetest.NewBroker()
	broker.AddTopic(s.Topics.Events, len(partitions))
	for partition, messages := range partitions {
		for _, value := range messages {
			if _, err := broker.Produce(t.Context(), s.Topics.Events, partition, []pipeline.Record{{Value: value}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return &Runtime{Broker: broker, Settings: s, Logger: zap.NewNop(), Counters: NewCounters()}
}

// messages encodes each batch, in a message of its own.
func messages(t testing.TB, batches []arrow.Record) [][]byte {
	t.Helper()
	var values [][]byte
	for _, batch := range batches {
		values = append(values, message(t, batch))
	}
	return values
}

func TestCalibrationFromTheLog(t *testing.T) {
	s := testSettings(taskRegression)
	s.Exploration.Sigma, s.Exploration.CalibrationRows = 0, 250
	first, second := events(t, taskRegression, 600, 86, someFaults), events(t, taskRegression, 600, 87, someFaults)
	heads := [][]arrow.Record{{first.NewSlice(0, 250)}, {second.NewSlice(0, 250)}}
	defer releaseAll(slices.Concat(heads...))
	want := calibrated(t, s, heads...)
	for _, size := range []int{1, 64, 600} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			a, b := messages(t, cut(t, first, every(size))), messages(t, cut(t, second, every(size)))
			b = slices.Insert(b, 0, []byte("garbage"), nil) // what does not decode has no ordinals
			r := logOf(t, s, a, b)
			r.Broker.(*pipelinetest.Broker).Oversize(s.Topics.Events, 1, 1, 2)
			got, rows, err := calibrateFromLog(t.Context(), r, zap.NewNop(), s, []wire.Partition{{Partition: 0, EndOffset: -1}, {Partition: 1, EndOffset: -1}})
			if err != nil {
				t.Fatal(err)
			}
			if rows != 500 || !reflect.DeepEqual(got.Encoder, want.Encoder) || got.Sigma != want.Sigma {
				t.Fatalf("%d rows, sigma %v, want %v", rows, got.Sigma, want.Sigma)
			}
		})
	}
}

func TestCalibrationFromTheLogWithinItsBounds(t *testing.T) {
	s := testSettings(taskRegression)
	rows := events(t, taskRegression, 400, 88, faults{})
	r := logOf(t, s, messages(t, cut(t, rows, every(10))))
	for _, c := range []struct {
		start, end, rows int64
	}{{0, 40, 300}, {0, 7, 70}, {30, 40, 100}, {38, 39, 10}} {
		_, got, err := calibrateFromLog(t.Context(), r, zap.NewNop(), s, []wire.Partition{{StartOffset: c.start, EndOffset: c.end}})
		if err != nil || got != c.rows {
			t.Errorf("offsets %d to %d: %d rows, %v; want %d", c.start, c.end, got, err, c.rows)
		}
	}
	if _, _, err := calibrateFromLog(t.Context(), r, zap.NewNop(), s, []wire.Partition{{StartOffset: 40, EndOffset: 40}}); !errors.Is(err, ErrNoCalibrationRows) {
		t.Errorf("an empty log: error %v", err)
	}
}

// With some rows there it waits for the rest as long as it is told to; with none it waits until some come.
func TestCalibrationWaitsForRows(t *testing.T) {
	rows := events(t, taskRegression, 200, 89, faults{})
	late := message(t, rows)
	synctest.Test(t, func(t *testing.T) {
		s := testSettings(taskRegression)
		r := logOf(t, s, nil)
		began := time.Now()
		time.AfterFunc(time.Hour, func() {
			r.Broker.Produce(t.Context(), s.Topics.Events, 0, []pipeline.Record{{Value: late}})
		})
		_, got, err := calibrateFromLog(t.Context(), r, zap.NewNop(), s, []wire.Partition{{EndOffset: -1}})
		if err != nil || got != 200 {
			t.Fatalf("%d rows, %v", got, err)
		}
		if took := time.Since(began) - time.Hour; took < s.Exploration.CalibrationTimeout || took > s.Exploration.CalibrationTimeout+time.Second {
			t.Fatalf("went on %v after the rows came, want %v", took, s.Exploration.CalibrationTimeout)
		}
	})
}
