package stages

import (
	"errors"
	"fmt"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// checkFits refuses a plan whose messages the broker would not take: only now are dimensions and outputs known.
func checkFits(spec *wire.Spec, limit int64) error {
	outputs := spec.Encoder.Outputs()
	width := spec.Encoder.Dim
	if spec.Candidates.Map == scoring.MapLinear {
		width = 1
	}
	var faults []error
	if size := wire.CheckpointBytes(spec.Candidates.Count, outputs); size > limit {
		faults = append(faults, fmt.Errorf("a checkpoint of %d candidates and %d outputs has up to %d bytes, topics.max_message_bytes is %d",
			spec.Candidates.Count, outputs, size, limit))
	}
	if spec.Criterion == scoring.Residual {
		faults = append(faults, checkPassesFit(spec, limit))
	}
	if size := wire.FeatureSetBytes(spec.Features, width, outputs); size > limit {
		faults = append(faults, fmt.Errorf("a feature set of %d features in %d dimensions has up to %d bytes, topics.max_message_bytes is %d",
			spec.Features, width, size, limit))
	}
	return errors.Join(faults...)
}

// checkPassesFit refuses a plan whose later passes the broker would not take.
func checkPassesFit(spec *wire.Spec, limit int64) error {
	outputs := spec.Encoder.Outputs()
	columns := scoring.ResidualColumns(spec.Features, spec.Rounds, spec.Candidates.Count, outputs)
	var faults []error
	if size := wire.GramBytes(columns); size > limit {
		faults = append(faults, fmt.Errorf("a checkpoint of a Gram of %d columns, for %d features in %d rounds, has up to %d bytes, "+
			"topics.max_message_bytes is %d; more rounds make it smaller", columns, spec.Features, spec.Rounds, size, limit))
	}
	value, err := wire.EncodeSpec(spec)
	if size := int64(len(value)) + wire.PassBytes(spec.Features, outputs); err == nil && size > min(limit, wire.MaxDocumentBytes) {
		faults = append(faults, fmt.Errorf("the plan of a later pass for %d features and %d outputs has up to %d bytes, at most %d are possible",
			spec.Features, outputs, size, min(limit, wire.MaxDocumentBytes)))
	}
	return errors.Join(faults...)
}
