package cli

import (
	"fmt"
	"os"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/arrowio/wire"
)

// ReadFeatureSet reads a feature set from its own file or from a model's file.
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

// ReadModel reads a model from a file, and its feature set if the file contains it, else nil.
func ReadModel(path string) (*wire.Model, *wire.FeatureSet, error) {
	value, decoder, err := readMessages(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read model: %w", err)
	}
	model, set, err := wire.DecodeModelFile(decoder, value)
	if err != nil {
		if _, isSet := wire.DecodeFeatureSetFile(decoder, value); isSet == nil {
			return nil, nil, fmt.Errorf("read model: %s contains a feature set without a model; `trainer fit --data` writes "+
				"models",
				path)
		}
		return nil, nil, fmt.Errorf("read model %s: %w", path, err)
	}
	return model, set, nil
}

// ReadPair reads a model and its feature set from the model's file, or from one file each.
func ReadPair(modelFile, setFile string) (*wire.Model, *wire.FeatureSet, error) {
	model, set, err := ReadModel(modelFile)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case setFile != "":
		set, err = ReadFeatureSet(setFile)
		if err != nil {
			return nil, nil, err
		}
		if err := model.CheckSet(set); err != nil {
			return nil, nil, fmt.Errorf("%s does not fit %s: %w", modelFile, setFile, err)
		}
	case set == nil:
		return nil, nil, Usagef("%s contains a model without its feature set %s; name the set's file with --feature-set",
			modelFile, model.FeatureSetID)
	}
	return model, set, nil
}

// readMessages reads a file of messages, and returns a decoder that accepts messages up to the size
// of the file.
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

// WriteFeatureSet writes a feature set to a file, in the format of its topic.
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
