package wire

import "github.com/eerf-stream/eerf/arrowio/encoder"

// Upper bounds on encoded sizes, used to refuse configurations before anything is computed. They
// hold for names, IDs and topics of up to 255 bytes, an encoder whose columns and categories have
// names of up to 64 bytes. Real sizes are close to the part that grows.
const (
	planPartitionBytes   = 352     // one partition of a plan, with its note
	exclusionBytes       = 64      // one partition that a plan leaves out, without the reason
	messageOverheadBytes = 8 << 10 // Arrow framing, schema, fixed part of the metadata
	lineageBytes         = 208     // one partition or range in the metadata
	outputBytes          = 160     // one output in the metadata: numbers of up to 25 digits
	recallBytes          = 128     // a class in the metrics of a model
	spanBytes            = 96      // one partition of the events whose rows a model does not hold out
	// points in the metadata: one for every four steps, of at most 1,000, and one for each round
	learningBytes   = 260 * 140
	encoderDimBytes = 256 // one dimension in the encoder: name, mean, scale
	importanceBytes = 25  // importance of the item above
	columnUseBytes  = 192 // the names of the fields and the numbers of one column of the report
	kindBytes       = 32  // kind and lengths of lists of a feature in a set of mixed kinds
	factorsNumbers  = 9   // of a product: three coordinates, signs and thresholds
	featureRowBytes = 24  // row number, identity, label, bitmaps of one row of features
)

// SpecBytes bounds the size of a spec that reads partitions and encodes dim dimensions, without its
// report on columns ([ColumnsBytes]) and the partitions that it leaves out ([ExclusionsBytes]).
func SpecBytes(partitions, dim int) int64 {
	return int64(partitions)*planPartitionBytes + int64(dim)*encoderDimBytes + messageOverheadBytes
}

// CheckpointBytes bounds the size of a checkpoint with m0 candidates and k outputs.
func CheckpointBytes(m0, k int) int64 {
	return int64(m0)*8*(2+int64(k)) + int64(k)*outputBytes + messageOverheadBytes
}

// SampleRowBytes is the size of a sampled row with dim dimensions and k outputs in a message of
// samples.
func SampleRowBytes(dim, k int) int64 { return 16 + 4*int64(dim) + 4*int64(k) }

// FeatureSetBytes bounds the size of a feature set with m features of the given width (the
// encoder's dimensions, or 1 for the linear map) and k outputs, from a number of partitions.
func FeatureSetBytes(m, width, k, partitions int) int64 {
	row := 4*(max(int64(width), factorsNumbers)+5) + 8*(int64(k)+1) + kindBytes
	dims := int64(width) * (encoderDimBytes + importanceBytes)
	return int64(m)*row + dims + int64(k)*outputBytes + int64(partitions)*lineageBytes + learningBytes +
		messageOverheadBytes
}

// quotedBytes bounds the bytes in JSON for a byte of text.
const quotedBytes = 6

// ExclusionsBytes bounds the size of the partitions that a plan leaves out, in a spec and in a
// feature set.
func ExclusionsBytes(list []Exclusion) (size int64) {
	for _, e := range list {
		size += exclusionBytes + quotedBytes*int64(len(e.Reason))
	}
	return size
}

// ColumnsBytes bounds the size of the report on columns in a spec and in a feature set.
func ColumnsBytes(columns []encoder.ColumnUse) (size int64) {
	for _, c := range columns {
		size += columnUseBytes + quotedBytes*int64(len(c.Column)+len(c.Type)+len(c.Reason))
	}
	return size
}

// ModelBytes bounds the size of a model on m features with k outputs from a number of partitions,
// including the weights that it is judged by.
func ModelBytes(m, k, partitions int) int64 {
	return int64(m)*(4+2*8*int64(k)) + int64(k)*outputBytes + int64(max(2, k))*recallBytes +
		int64(partitions)*(lineageBytes+spanBytes) + messageOverheadBytes
}

// FeatureRowBytes bounds the size of one row of m features, with a number as its label, in a
// features message. Passthrough columns come on top.
func FeatureRowBytes(m int) int64 { return 4*int64(m) + featureRowBytes }
