package wire

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/internal/outside"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/scoring/adaptive"
	"github.com/eerf-stream/eerf/training"
)

// checkBound checks that an estimate holds and is useful: at most slack bytes above the real size.
func checkBound(t *testing.T, name string, bound int64, value []byte, slack int64) {
	t.Helper()
	size := int64(len(value))
	t.Logf("%s: %d bytes, bound %d", name, size, bound)
	if size > bound || bound > size+slack {
		t.Errorf("%s: %d bytes, bound %d", name, size, bound)
	}
}

func longName(n int) string { return strings.Repeat("n", n) }

// The largest plan fits into a document, and into a message of the default size; a larger one is
// refused by name.
func TestSpecBytesBoundRealSpecs(t *testing.T) {
	for _, partitions := range []int{1, 256, MaxPartitions} {
		s := bigSpec(partitions)
		value := must(EncodeSpec(s))
		checkBound(t, fmt.Sprint(partitions), SpecBytes(partitions, s.Encoder.Dim), value, 16<<10+int64(partitions)*40)
		if len(value) > MaxDocumentBytes {
			t.Errorf("%d partitions take %d bytes", partitions, len(value))
		}
		diff(t, s, must(DecodeSpec(value)))
	}
	excluding := bigSpec(1)
	for i := range 1000 {
		without := Exclusion{int32(i) + 1_000_000, strings.Repeat([]string{"€", "\"\n "}[i%2], 66)}
		excluding.Excluded = append(excluding.Excluded, without)
	}
	bound := SpecBytes(1, excluding.Encoder.Dim) + ExclusionsBytes(excluding.Excluded)
	checkBound(t, "without 1000 partitions", bound, must(EncodeSpec(excluding)), 1<<20)
	s := bigSpec(MaxPartitions + 1)
	if _, err := EncodeSpec(s); err == nil ||
		!strings.Contains(err.Error(), "not within its bounds: more than 4096 elements") {
		t.Errorf("a partition more: %v", err)
	}
}

// bigSpec has the largest numbers.
func bigSpec(partitions int) *Spec {
	s := exampleSpec()
	s.PlannedAt = s.PlannedAt.UTC()
	s.Exploration = longName(maxNameBytes)
	s.EventsTopic = longName(maxNameBytes)
	s.Partitions = nil
	s.Notes = nil
	const most = outside.MaxCount
	for i := range partitions {
		number := int32(i) + math.MaxInt32 - 1_000_000
		s.Partitions = append(s.Partitions, Partition{number, most - 1, most, most, most, most})
		s.Notes = append(s.Notes, PartitionNote{number, most - 1, most, true, BatchMark{most, math.MaxUint32}})
	}
	return s
}

func TestCheckpointBytesBoundRealCheckpoints(t *testing.T) {
	for _, c := range [][2]int{{1, 1}, {1000, 1}, {10000, 10}, {2000, 100}} {
		value := must(EncodeCheckpoint(bigCheckpoint(c[0], c[1])))
		checkBound(t, fmt.Sprint(c), CheckpointBytes(c[0], c[1]), value, 8<<10+int64(c[1])*100)
	}
}

func bigCheckpoint(m0, k int) *Checkpoint {
	c := exampleCheckpoint()
	c.Exploration, c.Arithmetic = longName(maxNameBytes), longName(64)
	c.Sums = exampleSums(m0, k, c.Counts.Scored, rand.New(rand.NewPCG(7, 8)))
	return c
}

func TestFeatureSetBytesBoundRealSets(t *testing.T) {
	for _, c := range []struct{ m, width, k, partitions int }{
		{1, 1, 1, 256},
		{100, 14, 1, 1},
		{1000, 123, 10, 256},
		{450, 784, 10, MaxPartitions},
		{20_000, 3, 1, 2},
	} {
		f := bigFeatureSet(c.m, c.width, c.k, c.partitions)
		if c.m == 20_000 { // products take more than an omega of so few numbers
			hinge := scoring.Product{Order: 3, Coordinate: [3]uint16{0, 1, 2}, Sign: [3]float32{1, 1, 1}}
			f.Set.Features.Omega, f.Set.Features.Phase, f.Set.Features.Products = []float32{}, []float32{}, slices.Repeat(
				[]scoring.Product{hinge},
				c.m,
			)
		}
		value := must(EncodeFeatureSet(f))
		checkBound(t, fmt.Sprint(c), FeatureSetBytes(c.m, c.width, c.k, c.partitions), value,
			64<<10+int64(c.width)*256+int64(c.m)*8+int64(c.partitions)*64)
	}
}

func bigFeatureSet(m, width, k, partitions int) *FeatureSet {
	f := exampleFeatureSet()
	f.Encoder = &encoder.Encoder{Standardize: encoder.StandardizeAll, Clip: 5, Dim: width}
	for i := range width {
		f.Encoder.Columns = append(f.Encoder.Columns, encoder.Column{
			Name: fmt.Sprintf("%064d", i), Kind: encoder.Numeric, Width: 1,
			Mean: []float64{-1.2345678901234567e-200}, Scale: []float64{1.2345678901234567e-200},
			Low: []float64{-1.2345678901234567e-200}, High: []float64{-1.2345678901234567e-200},
		})
	}
	f.Task = scoring.Regression
	f.Candidates.Dim, f.Candidates.Count = width, m
	f.Set = scoring.FeatureSet{
		Features: &scoring.Features{
			Map:   scoring.MapCosine,
			Dim:   width,
			Omega: make([]float32, m*width),
			Phase: make([]float32, m),
		},
		Index: ordinals(m), Scale: 1, Score: make([]float64, m), S: make([]float64, m*k),
	}
	f.Coding = scoring.Coding{Gain: make([]float64, k), Offset: make([]float64, k)}
	for i := range k {
		f.Coding.Gain[i], f.Coding.Offset[i] = 1.2345678901234567e-200, -1.2345678901234567e-200
	}
	f.Lineage.Partitions = nil
	for i := range partitions {
		f.Lineage.Partitions = append(f.Lineage.Partitions, LineagePartition{
			int32(
				i,
			) + 1_000_000, outside.MaxCount, outside.MaxCount, outside.MaxCount, outside.MaxCount, CloseQuota, outside.MaxCount})
	}
	f.Lineage.Learning = &adaptive.Report{Rows: outside.MaxCount, HeldOutRows: outside.MaxCount}
	for i := range 256 {
		f.Lineage.Learning.Points = append(
			f.Lineage.Learning.Points,
			adaptive.Point{
				Kind:   adaptive.ByResidual,
				Round:  3,
				Step:   100 + 4*i,
				Loss:   1.2345678901234567e-200,
				StdErr: 1.2345678901234567e-200,
			},
		)
	}
	for range width {
		f.Lineage.Learning.Importance = append(f.Lineage.Learning.Importance, 1.2345678901234567e-200)
	}
	for _, s := range []*string{
		&f.Lineage.Pipeline,
		&f.Lineage.Exploration,
		&f.Lineage.EventsTopic,
		&f.Lineage.BandwidthRule,
	} {
		*s = longName(maxNameBytes)
	}
	return f
}

func TestModelBytesBoundRealModels(t *testing.T) {
	for _, c := range [][3]int{{1, 1, 1}, {100, 1, 256}, {1000, 10, 256}, {10, 1, MaxPartitions}} {
		m := exampleModel()
		m.Pipeline, m.Label = longName(maxNameBytes), nil
		m.Model = &training.Model{Features: c[0], Outputs: c[1], Theta: make([]float64, c[0]*c[1]),
			Intercept: make([]float64, c[1]), Loss: training.LossSquared}
		for i := range m.Model.Intercept {
			m.Model.Intercept[i] = -1.2345678901234567e-200
		}
		m.Ranges = nil
		for i := range c[2] {
			m.Ranges = append(
				m.Ranges,
				Range{int32(i), strings.Repeat("l", 26), outside.MaxCount, 1 << 30, outside.MaxCount, 1 << 30, outside.MaxCount},
			)
			m.NotHeldOut = append(
				m.NotHeldOut,
				Span{
					Partition:   int32(i),
					StartOffset: outside.MaxCount,
					NextOffset:  outside.MaxCount,
					Log:         strings.Repeat("l", 22),
				},
			)
		}
		m.Judged, m.Judgement = m.Model, exampleChallenger().Judgement
		m.Judgement.NotCompared = strings.Repeat("€", 200)
		checkBound(t, fmt.Sprint(c), ModelBytes(c[0], c[1], c[2]), must(EncodeModel(m)), 64<<10+int64(c[2])*64)
	}
}

func TestFeatureRowBytesBoundRealRows(t *testing.T) {
	encode := func(rows, m int) []byte {
		schema := arrow.NewSchema([]arrow.Field{{Name: "y", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil)
		b := array.NewFloat64Builder(defaultAllocator)
		b.AppendNull()
		for i := 1; i < rows; i++ {
			b.Append(float64(i))
		}
		rec := array.NewRecord(schema, []arrow.Array{b.NewArray()}, int64(rows))
		layout := FeaturesLayout{
			FeatureSet:   "fs-1",
			Features:     m,
			LabelColumns: []string{"y"},
			Identities:   make([]uint64, rows),
		}
		return must(ReserveFeatures(nil, rec, ordinals(rows), layout)).Value
	}
	for _, m := range []int{1, 100, 1000} {
		one, many := len(encode(1, m)), len(encode(4097, m))
		perRow := float64(many-one) / 4096
		if bound := float64(FeatureRowBytes(m)); perRow > bound || bound > perRow+8 {
			t.Errorf("%d features: %.1f bytes for each row, bound %v", m, perRow, bound)
		}
	}
}
