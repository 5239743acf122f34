package wire

// FormatVersion is the version of every message, except those that have their own below. Fields may be added to a
// metadata document without raising it, because readers skip fields they do not know. Any change to the meaning of
// existing bytes raises it.
const FormatVersion = 1

// Versions of plans and checkpoints. A process that finds others explores again, with the feature set and the model in
// use until then.
const (
	SpecVersion       = 3
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
