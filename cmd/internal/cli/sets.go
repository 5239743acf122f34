package cli

import (
	"fmt"
	"os"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/arrowio/wire"
)

// ReadFeatureSet reads a feature set from a file of its own, or from that of a model.
func ReadFeatureSet(path string) (*wire.FeatureSet, error) {
	value, decoder, err := readMessages(path)
	if err != nil {
		return nil, fmt.Errorf("read feature set: %w", err)
	}
	set, err := wire.DecodeFeatureSetFile(decoder, value)
	if err != nil {
		return nil, fmt.Errorf("read feature set %s: %w", path, err)
	}
	return set, nil
}

// ReadModel reads a model from a file, with its feature set where that is in it, else nil.
func ReadModel(path string) (*wire.Model, *wire.FeatureSet, error) {
	value, decoder, err := readMessages(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read model: %w", err)
	}
	model, set, err := wire.DecodeModelFile(decoder, value)
	if err != nil {
		return nil, nil, fmt.Errorf("read model %s: %w", path, err)
	}
	return model, set, nil
}

// readMessages reads a file of messages, with a decoder that takes messages as long as it is.
func readMessages(path string) ([]byte, *arrowio.Decoder, error) {
	value, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	limits := arrowio.DefaultLimits()
	limits.MaxMessageBytes = max(limits.MaxMessageBytes, int64(len(value)))
	limits.BudgetBytes = max(limits.BudgetBytes, 4*limits.MaxMessageBytes)
	return value, arrowio.NewDecoder(limits), nil
}

// WriteFeatureSet writes a feature set to a file, as it is on its topic.
func WriteFeatureSet(path string, set *wire.FeatureSet) error {
	value, err := wire.EncodeFeatureSet(set)
	if err == nil {
		err = files.WriteWhole(path, value)
	}
	if err != nil {
		return fmt.Errorf("write feature set: %w", err)
	}
	return nil
}

// WriteModel writes a model with its feature set to a file.
func WriteModel(path string, model *wire.Model, set *wire.FeatureSet) error {
	value, err := wire.EncodeModelFile(model, set)
	if err == nil {
		err = files.WriteWhole(path, value)
	}
	if err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	return nil
}
