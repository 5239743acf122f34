package serveload

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/offline"
	"github.com/eerf-stream/eerf/stages/selection"
)

// The measured case: rows of this many columns, and this many features.
const (
	columns   = 77
	features  = 1000
	trainRows = 4000
	seed      = 11
)

// rowsOf generates n rows with the label y.
func rowsOf(n int) arrow.Record {
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	fields := make([]arrow.Field, columns, columns+1)
	for i := range fields {
		fields[i] = arrow.Field{Name: fmt.Sprintf("c%d", i), Type: arrow.PrimitiveTypes.Float64}
	}
	fields = append(fields, arrow.Field{Name: "y", Type: arrow.BinaryTypes.String})
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for range n {
		var x [columns]float64
		for i := range x {
			x[i] = random.NormFloat64()
			b.Field(i).(*array.Float64Builder).Append(x[i])
		}
		label := "no"
		if x[0]*x[1]+x[2]+0.3*random.NormFloat64() > 0 {
			label = "yes"
		}
		b.Field(columns).(*array.StringBuilder).Append(label)
	}
	return b.NewRecord()
}

// once returns one record.
type once struct{ rec arrow.Record }

func (o *once) Next() (arrow.Record, error) {
	rec := o.rec
	o.rec = nil
	if rec == nil {
		return nil, io.EOF
	}
	rec.Retain()
	return rec, nil
}

// makePairs explores and trains on generated rows, with a new seed for each pair.
func makePairs(ctx context.Context, n int) ([]*featurize.Pair, error) {
	settings := stages.Default()
	settings.Events.Label = []string{"y"}
	settings.Exploration.Features, settings.Exploration.Candidates = features, 2*features
	settings.Exploration.Criterion = scoring.Correlation // quick to select, and as fast to serve as any other
	rows := rowsOf(trainRows)
	open := func() (events.RowReader, error) { return &once{rows}, nil }
	var pairs []*featurize.Pair
	for i := range n {
		settings.Exploration.Seed = uint64(seed + i)
		explored, err := offline.Explore(ctx, settings.Plan(), open, selection.Options{})
		if err != nil {
			return nil, fmt.Errorf("explore: %w", err)
		}
		set := explored.Set
		set.Lineage.Sequence = int64(i + 1)
		model, _, err := offline.Fit(ctx, set, settings.Train, "rows", nil, open)
		if err != nil {
			return nil, fmt.Errorf("train: %w", err)
		}
		pair, err := featurize.NewPair(set, model)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, pair)
	}
	return pairs, nil
}

// jsonRows encodes rows as JSON, in the form of event messages.
func jsonRows(rec arrow.Record) []byte {
	list := make([]map[string]float64, rec.NumRows())
	for i := range list {
		list[i] = map[string]float64{}
		for j := range columns {
			list[i][rec.ColumnName(j)] = rec.Column(j).(*array.Float64).Value(i)
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic("serveload: " + err.Error()) // numbers always encode
	}
	return text
}

// tensorRows encodes rows as tensors of the Open Inference Protocol.
func tensorRows(rec arrow.Record) []byte {
	type input struct {
		Name     string    `json:"name"`
		Datatype string    `json:"datatype"`
		Shape    []int64   `json:"shape"`
		Data     []float64 `json:"data"`
	}
	var inputs []input
	for j := range columns {
		inputs = append(inputs, input{
			rec.ColumnName(j), "FP64", []int64{rec.NumRows()}, rec.Column(j).(*array.Float64).Float64Values(),
		})
	}
	text, err := json.Marshal(map[string]any{"inputs": inputs})
	if err != nil {
		panic("serveload: " + err.Error()) // numbers always encode
	}
	return text
}

// arrowRows encodes rows as an Arrow IPC stream.
func arrowRows(rec arrow.Record) ([]byte, error) { return arrowio.EncodeStream(rec.Schema(), rec) }
