package wire

import (
	"errors"
	"fmt"

	"github.com/eerf-stream/eerf/arrowio"
)

// EncodeModelFile returns a file that is enough to predict: the model's message, then the message
// of its feature set, as on their topics.
func EncodeModelFile(m *Model, set *FeatureSet) ([]byte, error) {
	if err := checkPair(m, set); err != nil {
		return nil, fmt.Errorf("encode model file: %w", err)
	}
	model, err := EncodeModel(m)
	if err != nil {
		return nil, err
	}
	value, err := EncodeFeatureSet(set)
	if err != nil {
		return nil, err
	}
	return append(model, value...), nil
}

// DecodeModelFile reads a file from [EncodeModelFile], or a model's message alone; set is then nil.
func DecodeModelFile(dec *arrowio.Decoder, value []byte) (m *Model, set *FeatureSet, err error) {
	model, rest, err := splitFile(value)
	if err != nil {
		return nil, nil, fmt.Errorf("decode model file: %w", err)
	}
	if m, err = DecodeModel(dec, model); err != nil || len(rest) == 0 {
		return m, nil, err
	}
	if set, err = DecodeFeatureSet(dec, rest); err != nil {
		return nil, nil, err
	}
	if err := checkPair(m, set); err != nil {
		return nil, nil, fmt.Errorf("decode model file: %w", err)
	}
	return m, set, nil
}

// DecodeFeatureSetFile reads the message of a feature set, or the set in a model file.
func DecodeFeatureSetFile(dec *arrowio.Decoder, value []byte) (*FeatureSet, error) {
	if _, rest, err := splitFile(value); err == nil && len(rest) > 0 {
		value = rest
	}
	return DecodeFeatureSet(dec, value)
}

// splitFile cuts a file after its first message.
func splitFile(value []byte) (first, rest []byte, err error) {
	n, err := arrowio.StreamLength(value)
	if err != nil {
		return nil, nil, err
	}
	return value[:n:n], value[n:], nil
}

// ErrOtherSet reports a model that does not belong to the given feature set.
var ErrOtherSet = errors.New("the model is of another feature set")

// checkPair returns an error if the model does not belong to the set.
func checkPair(m *Model, set *FeatureSet) error {
	if m == nil || set == nil {
		return errMissing
	}
	return m.CheckSet(set)
}

// CheckSet returns an error if the model does not belong to set or does not fit it. The error wraps
// [ErrOtherSet].
func (m *Model) CheckSet(set *FeatureSet) error {
	if id := set.ID(); id != m.FeatureSetID {
		return fmt.Errorf("%w: of %s, not of %s", ErrOtherSet, m.FeatureSetID, id)
	}
	if w := m.Model; w.Features != set.Set.Features.Len() || w.Outputs != set.Encoder.Outputs() {
		return fmt.Errorf("%w: %d weights for %d outputs, the set has %d features and its label %d outputs",
			ErrOtherSet, w.Features, w.Outputs, set.Set.Features.Len(), set.Encoder.Outputs())
	}
	return nil
}
