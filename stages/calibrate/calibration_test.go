package calibrate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

func TestCalibrationDoesNotDependOnCutting(t *testing.T) {
	s := testSettings(stagestest.Classes)
	s.Exploration.Sigma = 0
	first, second := stagestest.Events(t, stagestest.Classes, 900, 80, stagestest.SomeFaults), stagestest.Events(t, stagestest.Classes, 800, 81, stagestest.SomeFaults)
	want := calibratedOn(t, s, []arrow.Record{first}, []arrow.Record{second})
	for name, size := range cuttings {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 1))
			got := calibratedOn(t, s, stagestest.Cut(t, first, size(rng)), stagestest.Cut(t, second, size(rng)))
			if !reflect.DeepEqual(got.encoder, want.encoder) || got.sigma != want.sigma {
				t.Fatalf("sigma %v, want %v; encoders equal: %v", got.sigma, want.sigma, reflect.DeepEqual(got.encoder, want.encoder))
			}
		})
	}
}

// The bandwidth comes from the thousand usable rows with the lowest hashes.
func TestCalibrationBandwidth(t *testing.T) {
	s := testSettings(stagestest.Regression)
	s.Exploration.Sigma, s.Exploration.Seed = 0, 77
	partitions := [][]arrow.Record{
		stagestest.Cut(t, stagestest.Events(t, stagestest.Regression, 1300, 82, stagestest.SomeFaults), stagestest.Every(333)),
		stagestest.Cut(t, stagestest.Events(t, stagestest.Regression, 1900, 83, stagestest.SomeFaults), stagestest.Every(1000)),
	}
	found := calibratedOn(t, s, partitions...)
	type row struct {
		hash uint64
		x    []float32
	}
	var rows []row
	var encoded encoder.Rows
	for partition, batches := range partitions {
		ordinal := int64(0)
		for _, batch := range batches {
			if err := found.encoder.Encode(&encoded, batch, nil); err != nil {
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
	want, _ := scoring.Bandwidth(x, 1000, found.encoder.Dim, scoring.Gaussian, scoring.MapCosine)
	if found.sigma != want || found.rule != bandwidthNeighbour {
		t.Fatalf("sigma %v by %q, want %v", found.sigma, found.rule, want)
	}
}

func TestCalibrationBandwidthRules(t *testing.T) {
	rows := []arrow.Record{stagestest.Events(t, stagestest.Regression, 200, 84, stagestest.Faults{})}
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
		s := testSettings(stagestest.Regression)
		s.Exploration.Map, s.Exploration.Sigma = c.m, c.given
		found := calibratedOn(t, s, rows)
		if found.rule != c.rule || found.sigma <= 0 || c.sigma > 0 && found.sigma != c.sigma {
			t.Errorf("%v, given %v: sigma %v by %q, want %v by %q", c.m, c.given, found.sigma, found.rule, c.sigma, c.rule)
		}
	}
}

// A features message uses these names itself.
func TestCalibrationRefusesReservedNames(t *testing.T) {
	s := testSettings(stagestest.Regression)
	rows := stagestest.Events(t, stagestest.Regression, 100, 85, stagestest.Faults{})
	for _, name := range []string{wire.ColumnRow, wire.ColumnFeatures} {
		fields := slices.Clone(rows.Schema().Fields())
		fields[5].Name = name
		clash := s.Events
		clash.Passthrough = []string{name}
		c := newCalibration(clash.Options())
		renamed := stagestest.WithSchema(rows, fields)
		if err := c.add(0, 0, renamed); err != nil {
			t.Fatal(err)
		}
		if _, err := c.finish(s.Exploration); !errors.Is(err, wire.ErrReservedColumn) {
			t.Errorf("passthrough column %s: error %v", name, err)
		}
		renamed.Release()
	}
}

func TestPlanCalibratesOnTheFirstRows(t *testing.T) {
	s := testSettings(stagestest.Regression)
	s.Exploration.Sigma, s.Exploration.CalibrationRows = 0, 250
	first, second := stagestest.Events(t, stagestest.Regression, 600, 86, stagestest.SomeFaults), stagestest.Events(t, stagestest.Regression, 600, 87, stagestest.SomeFaults)
	heads := [][]arrow.Record{{first.NewSlice(0, 250)}, {second.NewSlice(0, 250)}}
	defer events.Release(slices.Concat(heads...))
	want := calibratedOn(t, s, heads...)
	for _, size := range []int{1, 64, 600} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			a, b := messages(t, stagestest.Cut(t, first, stagestest.Every(size))), messages(t, stagestest.Cut(t, second, stagestest.Every(size)))
			b = slices.Insert(b, 0, []byte("garbage"), nil) // undecodable messages have no ordinals
			broker := logOf(t, a, b)
			broker.Oversize(s.EventsTopic, 1, 1, 2)
			got := planned(t, broker, s, Request{})
			if got.Spec.CalibrationRows != 500 || !reflect.DeepEqual(got.Spec.Encoder, want.encoder) || got.Spec.Candidates.Sigma != want.sigma {
				t.Fatalf("%d rows, sigma %v, want %v", got.Spec.CalibrationRows, got.Spec.Candidates.Sigma, want.sigma)
			}
			if c := got.Counts; c.Rows != 1200 || c.Undecodable != 1 || c.Messages != int64(len(a)+len(b)-1) {
				t.Errorf("counted %+v", c)
			}
		})
	}
}
