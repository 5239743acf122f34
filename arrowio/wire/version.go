package wire

import "fmt"

// FormatVersion is the version of every message but those that have their own below. Fields may be added to a metadata
// document under the same version, because readers skip what they do not know; anything that changes what existing bytes
// mean raises it.
const FormatVersion = 1

// Specs and checkpoints of version 1 described explorations in several passes over open-ended ranges. [DecodeSpec] reads
// of such a spec what has to be known to go on from it; checkpoints of version 1 are refused.
const (
	SpecVersion       = 2
	CheckpointVersion = 2
)

// Schema metadata keys. Each message carries the document under exactly one of those before KeyEncoder; a feature
// set carries its encoder's JSON apart, because its id is computed over those very bytes.
const (
	KeySpec       = "eerf.spec"
	KeyRequest    = "eerf.request"
	KeyProgress   = "eerf.progress"
	KeyCheckpoint = "eerf.checkpoint"
	KeyRefusal    = "eerf.refusal"
	KeySamples    = "eerf.samples"
	KeyFeatureSet = "eerf.feature_set"
	KeyModel      = "eerf.model"
	KeyCurrent    = "eerf.current"

	KeyEncoder      = "eerf.encoder"
	KeyFeatures     = "eerf.features"
	KeyRejectedRows = "eerf.rejected_rows"
)

// versionOf is the version of the document under a key.
func versionOf(key string) int {
	switch key {
	case KeySpec:
		return SpecVersion
	case KeyCheckpoint:
		return CheckpointVersion
	}
	return FormatVersion
}

// checkVersion refuses to write a value that was made for another format version than that of its key.
func checkVersion(key string, v int) error {
	if want := versionOf(key); v != 0 && v != want {
		return fmt.Errorf("%w %d: this build writes version %d", ErrFormatVersion, v, want)
	}
	return nil
}
