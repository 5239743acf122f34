package wire

import "github.com/eerf-stream/eerf/arrowio/encoder"

// Names of the documents. A control document is the JSON value of a message and begins with its
// name; the others are in the schema metadata of an Arrow message, under their names. A feature set
// stores its encoder's JSON separately, because its ID is computed over those very bytes.
const (
	KeySpec     = "eerf.spec"
	KeyRequest  = "eerf.request"
	KeyProgress = "eerf.progress"
	KeyRefusal  = "eerf.refusal"
	KeyCurrent  = "eerf.current"
	KeyBlock    = "eerf.block"

	KeyCheckpoint   = "eerf.checkpoint"
	KeySamples      = "eerf.samples"
	KeyFeatureSet   = "eerf.feature_set"
	KeyModel        = "eerf.model"
	KeyFeatures     = "eerf.features"
	KeyRejectedRows = "eerf.rejected_rows"

	KeyEncoder = "eerf.encoder"
)

// The documents with their versions. Fields may be added without raising a version, because readers
// skip fields that they do not know. Any change to the meaning of existing bytes raises it. A
// process that finds a spec or checkpoint of another version explores again; the current feature
// set and model serve until then.
var (
	specDocument     = documentOf[Spec](KeySpec, 5)
	requestDocument  = documentOf[Request](KeyRequest, 2)
	progressDocument = documentOf[Progress](KeyProgress, 2)
	refusalDocument  = documentOf[Refusal](KeyRefusal, 2)
	currentDocument  = documentOf[Current](KeyCurrent, 2)
	blockDocument    = documentOf[Block](KeyBlock, 2)

	checkpointMetadata   = documentOf[checkpointFields](KeyCheckpoint, 3)
	samplesMetadata      = documentOf[samplesFields](KeySamples, 1)
	featureSetMetadata   = documentOf[featureSetFields](KeyFeatureSet, 3)
	modelMetadata        = documentOf[modelFields](KeyModel, 2)
	featuresMetadata     = documentOf[FeaturesInfo](KeyFeatures, 1)
	rejectedRowsMetadata = documentOf[struct{}](KeyRejectedRows, 1)
	encoderMetadata      = documentOf[encoder.Encoder](KeyEncoder, 0)
)

// documents lists them; the encoder has no version, because the feature set around it has one.
var documents = []*document{
	specDocument, requestDocument, progressDocument, refusalDocument, currentDocument, blockDocument,
	checkpointMetadata, samplesMetadata, featureSetMetadata, modelMetadata, featuresMetadata, rejectedRowsMetadata,
}
