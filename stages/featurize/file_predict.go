package featurize

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/events"
)

// NewFilePredictor returns a mapper from rows to the predictions of a pair with a model. Rows need
// no label. The mapper copies the passthrough and label columns of the feature set and the other
// named columns, as far as the rows have them.
func NewFilePredictor(pair *Pair, copied []string) (*FileMapper, error) {
	set := pair.Set
	columns := pair.NewMapper().predictor.columns
	m := &FileMapper{pair: pair, copied: events.OutputColumns(set.Encoder), fields: columns.Fields()}
	for _, name := range copied {
		if !slices.Contains(m.copied, name) {
			m.copied = append(m.copied, name)
		}
	}
	if err := wire.CheckPredictionColumns(m.copied); err != nil {
		return nil, fmt.Errorf("column to copy: %w", err)
	}
	if err := wire.CheckFeatureColumns(m.copied); err != nil {
		return nil, fmt.Errorf("column to copy: %w", err)
	}
	nameElements(m.fields, set.Encoder.Label)
	return m, nil
}

// nameElements names the elements of lists in the schema: the classes of probabilities, the outputs
// of predictions.
func nameElements(fields []arrow.Field, label *encoder.Label) {
	names := label.Classes
	if len(names) == 0 {
		names = label.Columns
	}
	for i := range fields {
		if fields[i].Type.ID() == arrow.FIXED_SIZE_LIST {
			fields[i].Metadata = files.ElementNames(names)
		}
	}
}
