package wire

import "fmt"

// FormatVersion is the version of every message, except those that have their own below. Fields may be added to a
// metadata document without raising it, because readers skip fields they do not know. Any change to the meaning of
// existing bytes raises it.
const FormatVersion = 1

// FeatureSetVersion is that of feature sets of mixed kinds. All others are written as before, under FormatVersion, and both are read.
const FeatureSetVersion = 2

// Versions of plans and checkpoints. A process that finds others explores again, with the feature set and the model in
// use until then.
const (
	SpecVersion       = 4
	CheckpointVersion = 3
)

// Schema metadata keys. Each message has its document under exactly one of those before KeyEncoder. A feature set
// stores its encoder's JSON separately, because its ID is computed over those very bytes.
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
	KeyBlock      = "eerf.block"

	KeyEncoder      = "eerf.encoder"
	KeyFeatures     = "eerf.features"
	KeyRejectedRows = "eerf.rejected_rows"
)

// versionOf is the highest version of the document under a key.
func versionOf(key string) int {
	switch key {
	case KeySpec:
		return SpecVersion
	case KeyCheckpoint:
		return CheckpointVersion
	case KeyFeatureSet:
		return FeatureSetVersion
	}
	return FormatVersion
}

// versioned is a document that is written under a lower version where that says everything.
type versioned interface{ formatVersion() int }

// writtenVersion is the version that doc is written under.
func writtenVersion(key string, doc any) int {
	if v, ok := doc.(versioned); ok {
		return v.formatVersion()
	}
	return versionOf(key)
}

// reads reports whether a document under a key is read if it names this version.
func reads(key, version string) bool {
	return version == fmt.Sprint(versionOf(key)) || key == KeyFeatureSet && version == fmt.Sprint(FormatVersion)
}
