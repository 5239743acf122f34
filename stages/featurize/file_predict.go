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

// FilePredictor predicts from the rows of files with a model, as the stage does from events. It belongs to one goroutine.
type FilePredictor struct {
	set       *wire.FeatureSet // without the label: rows need none, and if there is one it is only copied
	predictor *predictor
	copied    []string
	fields    []arrow.Field // of the predictions
}

// NewFilePredictor returns a predictor that copies the passthrough and label columns of the feature set, and the other
// named columns, as far as the rows have them. It is an error if the model belongs to another set.
func NewFilePredictor(set *wire.FeatureSet, model *wire.Model, copied []string) (*FilePredictor, error) {
	if err := model.CheckSet(set); err != nil {
		return nil, err
	}
	predictor, err := newPredictor(set)
	if err != nil {
		return nil, err
	}
	predictor.use(model, "")
	p := &FilePredictor{set: unlabelled(set), predictor: predictor, copied: events.OutputColumns(set.Encoder), fields: predictor.columns.Fields()}
	for _, name := range copied {
		if !slices.Contains(p.copied, name) {
			p.copied = append(p.copied, name)
		}
	}
	if err := wire.CheckPredictionColumns(p.copied); err != nil {
		return nil, fmt.Errorf("column to copy beside predictions: %w", err)
	}
	if err := wire.CheckFeatureColumns(p.copied); err != nil {
		return nil, fmt.Errorf("column to copy beside predictions: %w", err)
	}
	p.nameElements(set)
	return p, nil
}

// unlabelled returns the set as it encodes rows without a label.
func unlabelled(set *wire.FeatureSet) *wire.FeatureSet {
	bare, enc := *set, *set.Encoder
	enc.Label = nil
	bare.Encoder = &enc
	return &bare
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
func (p *FilePredictor) Check(rows *arrow.Schema) error { return p.set.Encoder.Check(rows) }

// Schema is the schema of what [FilePredictor.Predict] writes for rows of the given schema.
func (p *FilePredictor) Schema(rows *arrow.Schema) *arrow.Schema {
	return fileSchema(rows, p.copied, p.fields...)
}

// Predict writes, for each row of a file, the copied columns, the row's number in the file, the prediction and, if the
// model has them, the probabilities of the classes. Rows that cannot be used are left out and counted.
func (p *FilePredictor) Predict(
	ctx context.Context, open func() (events.RowReader, error), schema *arrow.Schema, w events.RowWriter,
) (meter.FeaturizeCounts, error) {
	f := newFileTransformer(p.set, p.copied, schema, w)
	f.predictor = p.predictor
	return f.run(ctx, open)
}

// predictions returns the prediction columns for the encoded rows.
func (f *fileTransformer) predictions() []arrow.Array {
	places, columns := f.predictor.columns.Reserve(f.rows.N)
	places.Features = f.features
	for first := 0; first < f.rows.N; first += predictionBlock {
		f.predictor.predict(&places, first, min(first+predictionBlock, f.rows.N))
	}
	f.predictor.count(&f.counts, int64(f.rows.N))
	return columns
}
