package events

import (
	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// RowEncoder turns records into the rows that a bank or a transformer takes: encoded rows or, where the encoder folds
// into ω ([encoder.Encoder.Fold]), the numbers of the record as they are. The choice depends on the encoder and the
// feature map only, never on a record, because sums depend on it.
type RowEncoder struct {
	encoder *encoder.Encoder
	Affine  *scoring.Affine // to be folded into ω; nil = rows are encoded
}

// NewRowEncoder chooses for the features of a map. Those of the linear map are coordinates of encoded rows.
func NewRowEncoder(enc *encoder.Encoder, m scoring.Map) RowEncoder {
	if m.Coordinates() {
		return RowEncoder{encoder: enc}
	}
	return RowEncoder{enc, enc.Fold()}
}

// Encode fills dst with the usable rows among take, nil = all. X may be a view of the record.
func (e RowEncoder) Encode(dst *encoder.Rows, rec arrow.Record, take []int32) error {
	if e.Affine != nil {
		return e.encoder.EncodeRaw(dst, rec, take)
	}
	return e.encoder.Encode(dst, rec, take)
}

// NewTransformer packs a feature set for the rows that the returned encoder makes.
func NewTransformer(set *wire.FeatureSet) (*scoring.Transformer, RowEncoder) {
	rows := NewRowEncoder(set.Encoder, set.Set.Features.Map)
	return scoring.NewTransformer(&set.Set, rows.Affine), rows
}
