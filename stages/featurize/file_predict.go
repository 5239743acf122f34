package featurize

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
)

// FilePredictor predicts from the rows of files with a model, as the stage does from events. Rows need no label; if there
// is one, it is only copied.
type FilePredictor struct {
	pair   *Pair
	copied []string
	fields []arrow.Field // of the predictions
}

// NewFilePredictor returns a predictor that copies the passthrough and label columns of the feature set, and the other
// named columns, as far as the rows have them. It is an error if the model belongs to another set.
func NewFilePredictor(set *wire.FeatureSet, model *wire.Model, copied []string) (*FilePredictor, error) {
	pair, err := NewPair(set, model)
	if err != nil {
		return nil, err
	}
	p := &FilePredictor{pair: pair, copied: events.OutputColumns(set.Encoder), fields: pair.predictor.columns.Fields()}
	for _, name := range copied {
		if !slices.Contains(p.copied, name) {
			p.copied = append(p.copied, name)
		}
	}
	if err := wire.CheckPredictionColumns(p.copied); err != nil {
		return nil, fmt.Errorf("column to copy: %w", err)
	}
	if err := wire.CheckFeatureColumns(p.copied); err != nil {
		return nil, fmt.Errorf("column to copy: %w", err)
	}
	p.nameElements(set)
	return p, nil
}

// nameElements names the elements of lists in the schema: the classes of probabilities, the outputs of predictions.
func (p *FilePredictor) nameElements(set *wire.FeatureSet) {
	names := set.Encoder.Label.Classes
	if len(names) == 0 {
		names = set.Encoder.Label.Columns
	}
	for i := range p.fields {
		if p.fields[i].Type.ID() == arrow.FIXED_SIZE_LIST {
			p.fields[i].Metadata = files.ElementNames(names)
		}
	}
}

// Check reports missing feature columns, and feature columns of another kind.
func (p *FilePredictor) Check(rows *arrow.Schema) error { return p.pair.Encoder().Check(rows) }

// Schema is the schema of what [FilePredictor.Predict] writes for rows of the given schema.
func (p *FilePredictor) Schema(rows *arrow.Schema) *arrow.Schema {
	return fileSchema(rows, p.copied, p.fields...)
}

// Predict writes, for each row of a file, the copied columns, the row's number in the file, the prediction and, if the
// model has them, the probabilities of the classes. Rows that cannot be used are left out and counted.
func (p *FilePredictor) Predict(
	ctx context.Context, open func() (events.RowReader, error), schema *arrow.Schema, w events.RowWriter,
) (meter.FeaturizeCounts, error) {
	f := fileMapper{mapper: p.pair.NewMapper(), copied: p.copied, schema: schema, out: w}
	return f.run(ctx, open)
}
