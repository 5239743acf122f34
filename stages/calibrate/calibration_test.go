package calibrate

import (
	"errors"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// The bandwidth comes from the thousand usable rows with the lowest hashes.
func TestCalibrationBandwidth(t *testing.T) {
	s := testSettings(stagestest.Regression)
	s.Exploration.Sigma, s.Exploration.Seed = 0, 77
	partitions := [][]arrow.Record{
		stagestest.Cut(
			t,
			stagestest.Events(t, stagestest.Regression, 1300, 82, stagestest.SomeFaults),
			stagestest.Every(333),
		),
		stagestest.Cut(
			t,
			stagestest.Events(t, stagestest.Regression, 1900, 83, stagestest.SomeFaults),
			stagestest.Every(1000),
		),
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
				rows = append(
					rows,
					row{
						scoring.Hash(77^scoring.CalibrationTag, int32(partition), ordinal+int64(number)),
						slices.Clone(encoded.X[i*encoded.Dim : (i+1)*encoded.Dim]),
					},
				)
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

// These names are reserved for columns of features messages.
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
		if err := c.add(calibrationBatch{make([]uint64, renamed.NumRows()), again(renamed)}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.finish(s.Exploration); !errors.Is(err, wire.ErrReservedColumn) {
			t.Errorf("passthrough column %s: error %v", name, err)
		}
		renamed.Release()
	}
}
