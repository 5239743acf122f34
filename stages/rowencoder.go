package stages

import (
	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// rowEncoder turns records into the rows that a bank or a transformer takes: encoded ones or, where the encoder folds
// into ω ([encoder.Encoder.Fold]), the numbers of the record as they are. Which it is follows from encoder and feature map
// alone, never from a record: sums depend on it.
type rowEncoder struct {
	encoder *encoder.Encoder
	affine  *scoring.Affine // to be folded into ω; nil = rows are encoded
}

// newRowEncoder decides for the features of a map. Those of the linear map are coordinates of encoded rows.
func newRowEncoder(enc *encoder.Encoder, m scoring.Map) rowEncoder {
	if m == scoring.MapLinear {
		return rowEncoder{encoder: enc}
	}
	return rowEncoder{enc, enc.Fold()}
}

// encode fills dst with the usable rows among take, nil = all; X may be a view of the record.
func (e rowEncoder) encode(dst *encoder.Rows, rec arrow.Record, take []int32) error {
	if e.affine != nil {
		return e.encoder.EncodeRaw(dst, rec, take)
	}
	return e.encoder.Encode(dst, rec, take)
}

// newTransformer packs a feature set for the rows that the encoder returned with it makes.
func newTransformer(set *wire.FeatureSet) (*scoring.Transformer, rowEncoder) {
	rows := newRowEncoder(set.Encoder, set.Set.Features.Map)
	return scoring.NewTransformer(&set.Set, rows.affine), rows
}

// NewBank draws the candidates of a spec, for the rows that a [Subsampler] of it scores, in a process that owns up to so
// many of its partitions. memory bounds what the candidates take, in bytes; 0 means [scoring.DefaultMemory].
func NewBank(spec *wire.Spec, memory int64, partitions int) *scoring.Bank {
	rows := newRowEncoder(spec.Encoder, spec.Candidates.Map)
	return scoring.NewBank(spec.Candidates, scoring.BankOptions{Memory: memory, Partitions: partitions, Affine: rows.affine})
}
