package encoder

import (
	"slices"

	"github.com/eerf-stream/eerf/scoring"
)

// The reasons for a rejection, as they appear in dead letters.
const (
	// NaNFeature is a feature that is not a number.
	NaNFeature = "nan_feature"
	// InfFeature is a feature that is infinite, or beyond MaxMagnitude once encoded.
	InfFeature = "inf_feature"
	// NaNLabel is a label that is not a number.
	NaNLabel = "nan_label"
	// InfLabel is a label that is infinite, or beyond float32 once its mean is subtracted.
	InfLabel = "inf_label"
	// LabelOutOfBounds is a label outside the configured bounds, or one that cannot be transformed.
	LabelOutOfBounds = "label_out_of_bounds"
	// WrongKind is a text, in a row of a text format, that is no value of its column's kind.
	WrongKind = "wrong_kind"
)

// RejectionReasons returns all of these reasons.
func RejectionReasons() []string {
	return []string{NaNFeature, InfFeature, NaNLabel, InfLabel, LabelOutOfBounds, WrongKind}
}

// Rejection is a row that cannot be used.
type Rejection struct {
	// Row is the row's number within the record.
	Row int32
	// Reason is one of the constants. A row with several faults has the first: features in the
	// order of the encoder's dimensions, then label columns in theirs.
	Reason string
	// Labelled is false when the row has no usable label; scoring counts such a row as unlabelled.
	Labelled bool
}

// Counts are totals over the requested rows, including rejected ones.
type Counts struct {
	// Imputed is the number of missing values. A null, a NaN that counts as missing and a string
	// that does not fit its column count 1, a null vector its length.
	Imputed int64
	// UnseenCategory is the number of categories without their own dimension or effect: they count
	// as other values, or as none.
	UnseenCategory int64
	// Clipped is the number of dimensions clipped.
	Clipped int64
	// UnseenClass is the number of rows whose class is not in the label's list; all are unlabelled.
	UnseenClass int64
	// Unlabelled is the number of rows without a usable label, rejected or not.
	Unlabelled int64
}

// Add adds other to c.
func (c *Counts) Add(other Counts) {
	c.Imputed += other.Imputed
	c.UnseenCategory += other.UnseenCategory
	c.Clipped += other.Clipped
	c.UnseenClass += other.UnseenClass
	c.Unlabelled += other.Unlabelled
}

// Rows is the dense form of some rows of a record, which [Encoder.Encode] fills over and over. It
// belongs to one goroutine and keeps its memory between calls. What Encode stores there is a copy,
// so the record may be released. The zero value is ready for use.
type Rows struct {
	// N is the number of usable rows, Dim the dimensions of each.
	N, Dim int
	// X is row-major [N·Dim], finite, at most MaxMagnitude in size.
	X []float32
	// Row is [N]: the number of each row within the record.
	Row []int32
	// Targets are the raw outputs of all N rows, zero for unlabelled rows. Without a label, Outputs
	// is 0 and both lists are nil.
	Targets scoring.Targets
	// Labelled is [N]: whether the row has a label, so that its target means something.
	Labelled []bool
	// Unseen is [N]: whether the label of the row is a class that is not in the list. The row is
	// not labelled, but every prediction for it is wrong.
	Unseen []bool
	// Rejected are the rows left out of X, in the order of the request.
	Rejected []Rejection
	// Counts covers the requested rows, including those in Rejected.
	Counts Counts
	// UnseenClasses counts the rows in Counts.UnseenClass by class.
	UnseenClasses ClassTally
	// Teaching is set by the caller before [Encoder.Encode] if the rows teach features or a model.
	// It returns the hash of a row, from which the rows of [Effects] were chosen: its fold is left
	// out.
	Teaching func(row int32) uint64
	// Number returns the number of a row for [Rows.Tallies]; nil counts the encoded rows.
	Number func(row int32) int64

	binding binding
	// picked are the requested rows, inputs the columns of the current record.
	picked picked
	inputs []input
	// fault is [requested rows]: the first fault of each, noFault for none.
	fault []uint8
	// labelFault is the same for labels, kept separate until it is known whether the row has one.
	labelFault []uint8
	// values and class are the memory of Targets.
	values []float32
	class  []int32
	// loaded, floats, null, absent, codes and entries are scratch for the current column, strip for
	// several.
	loaded  []float64
	floats  []float32
	strip   []float32
	null    []bool
	absent  []bool
	codes   []int32
	entries []int32
}

// Exchange swaps buffers, with their contents, with other rows. Each keeps the tables of its
// encoder, which are slow to make, and its rows' use: many rarely used Rows can share the buffers
// of a few.
func (r *Rows) Exchange(other *Rows) {
	r.binding, other.binding = other.binding, r.binding
	r.Teaching, other.Teaching = other.Teaching, r.Teaching
	r.Number, other.Number = other.Number, r.Number
	*r, *other = *other, *r
}

// ImputedValues counts the imputed values of a column.
type ImputedValues struct {
	Column          string
	Values, Imputed int64
}

// TakeImputed returns how many rows the current encoder has encoded since the last call, and for
// each of its columns how many values were imputed. A row of a vector counts as many values as the
// vector has.
func (r *Rows) TakeImputed() (rows int64, found []ImputedValues) {
	b := &r.binding
	if b.encoder == nil {
		return 0, nil
	}
	rows, found = b.rows, make([]ImputedValues, len(b.columns))
	for i := range b.columns {
		c, values := &b.columns[i], b.rows
		if c.kind == Vector {
			values *= int64(c.width)
		}
		found[i] = ImputedValues{b.encoder.Columns[i].Name, values, b.imputed[i]}
	}
	b.rows = 0
	clear(b.imputed)
	return rows, found
}

// KeepLabelled drops the unlabelled rows from X, Row and Targets, in place, so that the rest can be
// scored. Rejected and Counts stay.
func (r *Rows) KeepLabelled() {
	if !slices.Contains(r.Labelled, false) {
		return
	}
	kept := 0
	for i := range r.N {
		if r.Labelled[i] {
			r.move(kept, i)
			kept++
		}
	}
	r.truncate(kept)
}

// move copies row from over row to; to is at most from.
func (r *Rows) move(to, from int) {
	if to == from {
		return
	}
	copy(r.X[to*r.Dim:(to+1)*r.Dim], r.X[from*r.Dim:(from+1)*r.Dim])
	r.Row[to] = r.Row[from]
	r.Labelled[to] = r.Labelled[from]
	r.Unseen[to] = r.Unseen[from]
	if k := r.Targets.Outputs; r.Targets.Values != nil {
		copy(r.Targets.Values[to*k:(to+1)*k], r.Targets.Values[from*k:(from+1)*k])
	}
	if r.Targets.Class != nil {
		r.Targets.Class[to] = r.Targets.Class[from]
	}
}

// truncate keeps the first n rows.
func (r *Rows) truncate(n int) {
	r.N = n
	r.X = r.X[:n*r.Dim]
	r.Row = r.Row[:n]
	r.Labelled = r.Labelled[:n]
	r.Unseen = r.Unseen[:n]
	if r.Targets.Values != nil {
		r.Targets.Values = r.Targets.Values[:n*r.Targets.Outputs]
	}
	if r.Targets.Class != nil {
		r.Targets.Class = r.Targets.Class[:n]
	}
}
