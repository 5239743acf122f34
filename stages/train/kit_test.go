package train

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"go.uber.org/goleak"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/stages/stagestest/explored"
	"github.com/eerf-stream/eerf/training"
)

var errFault = pipeline.Permanent(errors.New("no way"))

// No goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// trainConfig is the default with a small minimum of rows.
func trainConfig() Config {
	c := Default()
	c.MinRows, c.Promote.Margin = 50, 0
	c.Loss = training.LossSquared // as the references of this package
	return c
}

// featureSet explores the rows.
func featureSet(t testing.TB, task string, batches ...arrow.Record) *wire.FeatureSet {
	t.Helper()
	return explored.FeatureSet(t, explored.Events(task), explored.Exploration(), batches...)
}

// whole makes one message of features for each event.
const whole = math.MaxInt32

// featureMessages returns the messages of partition 2 of features for the events of partition 2
// from offset 0 on. Each covers at most the given number of rows of its event.
func featureMessages(t testing.TB, set *wire.FeatureSet, batches []arrow.Record, most int) []pipeline.Record {
	t.Helper()
	return featuresOf(t, set, 2, 0, batches, most)
}

// featuresOf returns the messages of a partition of features for the events from an offset on.
func featuresOf(
	t testing.TB,
	set *wire.FeatureSet,
	partition int,
	offset int64,
	batches []arrow.Record,
	most int,
) []pipeline.Record {
	t.Helper()
	var out []pipeline.Record
	for i, batch := range batches {
		total := int32(batch.NumRows())
		for first := int32(0); first < total; first += int32(min(most, int(total))) {
			part := wire.FeatureBatch{
				FeatureSetID:    set.ID(),
				SourceTopic:     "events",
				SourcePartition: int32(partition),
				SourceOffset:    offset + int64(i),
				FirstRow:        first,
				RowCount:        int32(min(int64(most), int64(total-first))),
				SourceRows:      total,
			}
			out = append(out, pipeline.Record{
				Topic:     "features",
				Partition: partition,
				Offset:    int64(len(out)),
				Time:      stagestest.Noon,
				Value:     featuresBody(t, set, batch, part),
				Headers:   slices.Concat(nil, part.Headers()),
			})
		}
	}
	return out
}

// featuresBody returns the body of a features message: passthrough and label columns, the number of
// the row in the event, and the features.
func featuresBody(t testing.TB, set *wire.FeatureSet, batch arrow.Record, part wire.FeatureBatch) []byte {
	t.Helper()
	transform := scoring.NewTransformer(&set.Set)
	var rows encoder.Rows
	slice := batch.NewSlice(int64(part.FirstRow), int64(part.FirstRow+part.RowCount))
	defer slice.Release()
	if err := set.Encoder.Encode(&rows, slice, nil); err != nil {
		t.Fatal(err)
	}
	kept, err := events.TakeRows(slice, rows.Row[:rows.N], events.OutputColumns(set.Encoder))
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Release()
	numbers := make([]int32, rows.N)
	for i := range numbers {
		numbers[i] = part.FirstRow + rows.Row[i]
	}
	layout := wire.FeaturesLayout{FeatureSet: set.ID(), Features: transform.Len()}
	if rule := set.Lineage.Identity; !rule.ByPlace() && rows.N > 0 {
		layout.Identities = rowid.NewHasher(rule).Identities(slice, rows.Row[:rows.N], nil)
	}
	body, err := wire.ReserveFeatures(nil, kept, numbers, layout)
	if err != nil {
		t.Fatal(err)
	}
	transform.Transform(body.Features, rows.X[:rows.N*rows.Dim], rows.N)
	return body.Value
}

// featurized is a decoded features message.
type featurized struct {
	part wire.FeatureBatch
	rows []int32
	z    []float32
	ids  []uint64 // identities
	body arrow.Record
}

func readOutput(t testing.TB, r pipeline.Record, m int) featurized {
	t.Helper()
	part, err := wire.ParseFeatureHeaders(r.Headers)
	if err != nil {
		t.Fatal(err)
	}
	body := stagestest.Decode(t, r.Value)[0]
	rows, z, err := wire.DecodeFeatures(body, m)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := wire.DecodeIdentities(body)
	if err != nil {
		t.Fatal(err)
	}
	if ids == nil {
		for _, row := range rows {
			ids = append(ids, rowid.PlaceOf(part.SourcePartition, part.SourceOffset, row))
		}
	}
	return featurized{part, rows, z, ids, body}
}

// train adds the messages to partition 2 of a trainer with three partitions.
func train(t testing.TB, set *wire.FeatureSet, config Config, messages []pipeline.Record) *Trainer {
	t.Helper()
	trainer, err := New(set, config, arrowio.DefaultLimits(), 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range messages {
		if err := trainer.Partition(2).Add(r); err != nil {
			t.Fatal(err)
		}
	}
	return trainer
}

func solve(t testing.TB, trainer *Trainer) *wire.Model {
	t.Helper()
	model, err := trainer.Solve(t.Context(), "test", stagestest.Noon)
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Validate(); err != nil {
		t.Fatal(err)
	}
	return model
}

func near(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
