package wire

// FormatVersion is the version that every message is written in and the only one that is read. Fields
// may be added to a metadata document under the same version, because readers skip what they do not
// know; anything that changes what existing bytes mean raises it.
const FormatVersion = 1

// Schema metadata keys. Each message carries the document under exactly one of the first six; a feature
// set carries its encoder's JSON apart, because its id is computed over those very bytes.
const (
	KeySpec       = "eerf.spec"
	KeyRequest    = "eerf.request"
	KeyCheckpoint = "eerf.checkpoint"
	KeyFeatureSet = "eerf.feature_set"
	KeyModel      = "eerf.model"
	KeyCurrent    = "eerf.current"

	KeyEncoder      = "eerf.encoder"
	KeyFeatures     = "eerf.features"
	KeyRejectedRows = "eerf.rejected_rows"
)
