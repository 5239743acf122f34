package wire

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/eerf-stream/eerf/internal/outside"
)

// The losses that [LiveSums] sum.
const (
	LiveSquaredError      = "squared_error" // in the units of the label, the mean over its outputs
	LiveLogLoss           = "log_loss"      // −log p of the row's class, in nats
	LiveMisclassification = "misclassification"
)

// The bounds of sums keep the sums over any number of blocks finite: residuals, and the distances
// of labels from their origin, are at most [LargestResidual].

// LiveSums compare predictions with the labels of the same rows, before anything learned from
// these. Sums of different rows add up.
type LiveSums struct {
	// Model is the id of the model that predicted the rows when their labels arrived. If Column is
	// not empty, the rows carried earlier predictions in that column, and Model is the model that
	// was current since then.
	Model   string `json:"model"`
	Column  string `json:"column,omitempty"`
	Measure string `json:"measure"` // the loss that Loss sums
	// Promised is the mean loss that the model had on held-out rows when it was trained, and
	// PromisedRows the number of those rows. PromisedError is its misclassification or
	// unexplained variance there, in percent. Both are nil if they were not measured.
	Promised      *float64 `json:"promised,omitempty" bound:"0..1e90"`
	PromisedError *float64 `json:"promised_error,omitempty" bound:"0..1e90"`
	PromisedRows  int64    `json:"promised_rows,omitempty"`

	Rows    int64   `json:"rows" bound:"0..1e9"`
	Loss    float64 `json:"loss" bound:"0..1e90"`          // Σ loss
	Squares float64 `json:"loss_squares" bound:"0..1e170"` // Σ loss²
	Wrong   int64   `json:"wrong,omitempty"`
	// Unknown is the number of rows of classes that the feature set does not know. They are among
	// the wrong ones, but a log loss does not contain them.
	Unknown int64        `json:"unknown,omitempty" bound:"0..1e9"`
	Classes []int64      `json:"classes,omitempty" bound:"list 4096"` // rows by number of their class
	Outputs []OutputSums `json:"outputs,omitempty" bound:"list 1024"` // of a regression, by output
	// Scores are the rows of each of two classes by score, in ascending order of bins.
	Scores [2][]ScoreBin `json:"scores,omitzero" bound:"list 1024"`
}

// OutputSums are sums over rows for one output of a regression, in the units of the label: r is the
// prediction minus the label, y the label minus the origin, which is near the labels' mean. Without
// it, the variance of labels far from zero would be lost to rounding.
type OutputSums struct {
	Residual         float64 `json:"r" bound:"-1e60..1e60"`
	SquaredResidual  float64 `json:"r2" bound:"0..1e90"`
	AbsoluteResidual float64 `json:"abs_r" bound:"0..1e60"`
	Label            float64 `json:"y" bound:"-1e60..1e60"`
	SquaredLabel     float64 `json:"y2" bound:"0..1e90"`
	Origin           float64 `json:"origin" bound:"-1e39..1e39"`
}

// ScoreBins is the number of bins for the scores of the second of two classes:
// probabilities under the logistic loss, otherwise (1 + f)/2 of the output f, cut to [0, 1].
const ScoreBins = 1024

// ScoreBin is the number of a bin and the rows in it.
type ScoreBin [2]int64

// Merge adds the rows of other, which are of the same model. It panics if the shapes differ.
func (s *LiveSums) Merge(other *LiveSums) {
	if !s.Alike(other) {
		panic(fmt.Sprintf("wire: live sums of %s, %d classes and %d outputs merged with those of %s, %d and %d",
			other.Measure, len(other.Classes), len(other.Outputs), s.Measure, len(s.Classes), len(s.Outputs)))
	}
	s.Rows += other.Rows
	s.Loss += other.Loss
	s.Squares += other.Squares
	s.Wrong += other.Wrong
	s.Unknown += other.Unknown
	for k, n := range other.Classes {
		s.Classes[k] += n
	}
	for k := range s.Outputs {
		s.Outputs[k].merge(&other.Outputs[k], float64(other.Rows))
	}
	for class := range s.Scores {
		s.Scores[class] = mergeBins(s.Scores[class], other.Scores[class])
	}
}

// Alike reports whether both measure the same in the same shape.
func (s *LiveSums) Alike(other *LiveSums) bool {
	return s.Measure == other.Measure && s.Column == other.Column && len(s.Classes) == len(other.Classes) &&
		len(s.Outputs) == len(other.Outputs)
}

// Clone returns sums that share no memory with s.
func (s *LiveSums) Clone() LiveSums {
	c := *s
	c.Classes, c.Outputs = slices.Clone(s.Classes), slices.Clone(s.Outputs)
	c.Scores = [2][]ScoreBin{slices.Clone(s.Scores[0]), slices.Clone(s.Scores[1])}
	return c
}

// merge adds the sums of n other rows.
func (o *OutputSums) merge(other *OutputSums, n float64) {
	o.Residual += other.Residual
	o.SquaredResidual += other.SquaredResidual
	o.AbsoluteResidual += other.AbsoluteResidual
	// Σ(y+d) and Σ(y+d)², for labels y relative to the other origin.
	d := other.Origin - o.Origin
	o.Label += other.Label + float64(n*d)
	o.SquaredLabel += max(0, other.SquaredLabel+float64(2*d*other.Label)+float64(n*d*d))
}

func mergeBins(a, b []ScoreBin) []ScoreBin {
	if len(b) == 0 {
		return a
	}
	merged := make([]ScoreBin, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0][0] < b[0][0]:
			merged, a = append(merged, a[0]), a[1:]
		case a[0][0] > b[0][0]:
			merged, b = append(merged, b[0]), b[1:]
		default:
			merged = append(merged, ScoreBin{a[0][0], a[0][1] + b[0][1]})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(merged, a...), b...)
}

// Validate returns an error for sums that no rows have.
func (s *LiveSums) Validate() error {
	if err := checkName("model", s.Model); err != nil {
		return err
	}
	if err := s.checkShape(); err != nil {
		return err
	}
	switch {
	case s.Rows <= 0 || s.Wrong < 0 || s.Wrong > s.Rows || s.PromisedRows < 0:
		return fmt.Errorf("%d wrong of %d rows, promised on %d", s.Wrong, s.Rows, s.PromisedRows)
	case s.Unknown < 0 || s.Unknown > s.Wrong:
		return fmt.Errorf("%d rows of unknown classes and %d wrong ones", s.Unknown, s.Wrong)
	case !(s.Loss >= 0) || !(s.Squares >= 0) || negative(s.Promised) || negative(s.PromisedError):
		return fmt.Errorf("loss %v and %v", s.Loss, s.Squares)
	}
	if err := s.checkClasses(); err != nil {
		return err
	}
	for class := range s.Scores {
		if err := checkBins(s.Scores[class], s.Rows); err != nil {
			return err
		}
	}
	return nil
}

// checkShape checks the measure against the numbers of outputs and classes.
func (s *LiveSums) checkShape() error {
	switch {
	case !slices.Contains([]string{LiveSquaredError, LiveLogLoss, LiveMisclassification}, s.Measure):
		return fmt.Errorf("unknown measure %q", cutText(s.Measure, 40))
	case (s.Measure == LiveSquaredError) != (len(s.Outputs) > 0) || (len(s.Outputs) == 0) != (len(s.Classes) > 0):
		return fmt.Errorf("%s of %d outputs and %d classes", s.Measure, len(s.Outputs), len(s.Classes))
	case len(s.Column) > maxNameBytes:
		return fmt.Errorf("predictions in a column whose name has %d bytes", len(s.Column))
	}
	return nil
}

func negative(figure *float64) bool { return figure != nil && !(*figure >= 0) }

// checkClasses compares the rows of the classes with their number.
func (s *LiveSums) checkClasses() error {
	left := s.Rows - s.Unknown
	for _, n := range s.Classes {
		if n < 0 || n > left {
			return fmt.Errorf("classes %v of %d rows", s.Classes, s.Rows)
		}
		left -= n
	}
	return nil
}

func checkBins(bins []ScoreBin, rows int64) error {
	last := int64(-1)
	for _, b := range bins {
		if b[0] <= last || b[0] >= ScoreBins || b[1] <= 0 || b[1] > rows {
			return fmt.Errorf("score bin %v after bin %d, of %d rows", b, last, rows)
		}
		last = b[0]
		rows -= b[1]
	}
	return nil
}

// HeaderLive is the header of the features topic with the [LiveSums] of the message's rows, as
// JSON. It is absent if no row had both a prediction and a label.
const HeaderLive = "eerf-live"

// LiveHeader returns the header for sums.
func LiveHeader(s *LiveSums) Header { return Header{Key: HeaderLive, Value: s.appendJSON(nil)} }

// LossRows returns the number of rows of which Loss is the sum.
func (s *LiveSums) LossRows() int64 {
	if s.Measure == LiveLogLoss {
		return s.Rows - s.Unknown
	}
	return s.Rows
}

// appendJSON appends the result of json.Marshal, with other spellings of numbers. Every message of
// features has it, and reflection would take longer than the comparison itself.
func (s *LiveSums) appendJSON(b []byte) []byte {
	b = strconv.AppendQuote(append(b, `{"model":`...), s.Model)
	if s.Column != "" {
		b, _ = jsontext.AppendQuote(append(b, `,"column":`...), s.Column) // the error names bytes that it has replaced
	}
	b = append(append(append(b, `,"measure":"`...), s.Measure...), '"')
	if s.Promised != nil {
		b = appendFigure(b, "promised", *s.Promised)
	}
	if s.PromisedError != nil {
		b = appendFigure(b, "promised_error", *s.PromisedError)
	}
	b = appendCount(appendCount(b, "promised_rows", s.PromisedRows), "rows", s.Rows)
	b = appendFigure(appendFigure(b, "loss", s.Loss), "loss_squares", s.Squares)
	b = appendCount(b, "wrong", s.Wrong)
	if s.Unknown > 0 {
		b = appendCount(b, "unknown", s.Unknown)
	}
	if s.Classes != nil {
		b = appendList(
			append(b, `,"classes":`...),
			s.Classes,
			func(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) },
		)
	}
	if s.Outputs != nil {
		b = appendList(append(b, `,"outputs":`...), s.Outputs, appendOutput)
	}
	if len(s.Scores[0])+len(s.Scores[1]) > 0 {
		b = appendList(
			append(b, `,"scores":`...),
			s.Scores[:],
			func(b []byte, bins []ScoreBin) []byte { return appendList(b, bins, appendBin) },
		)
	}
	return append(b, '}')
}

func appendFigure(b []byte, name string, v float64) []byte {
	return strconv.AppendFloat(append(append(append(b, `,"`...), name...), `":`...), v, 'g', -1, 64)
}

func appendCount(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(append(append(b, `,"`...), name...), `":`...), n, 10)
}

func appendList[T any](b []byte, list []T, element func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = element(b, v)
	}
	return append(b, ']')
}

func appendOutput(b []byte, o OutputSums) []byte {
	first := len(b)
	b = appendFigure(appendFigure(appendFigure(b, "r", o.Residual), "r2", o.SquaredResidual), "abs_r", o.AbsoluteResidual)
	b = appendFigure(appendFigure(appendFigure(b, "y", o.Label), "y2", o.SquaredLabel), "origin", o.Origin)
	b[first] = '{' // for the comma
	return append(b, '}')
}

func appendBin(b []byte, bin ScoreBin) []byte {
	b = strconv.AppendInt(append(b, '['), bin[0], 10)
	return append(strconv.AppendInt(append(b, ','), bin[1], 10), ']')
}

// liveShape is the shape of the header's value.
var liveShape = outside.ShapeOf[LiveSums]()

// maxLiveHeader bounds the JSON in a header: every bin of both classes, and the largest numbers of
// classes and outputs.
const maxLiveHeader = 256 << 10

// ParseLive returns the live sums in the headers of a features message, nil without the header. The
// error wraps [ErrHeaders].
func ParseLive(headers []Header) (*LiveSums, error) {
	r := readHeaders(headers)
	text, ok := r.find(HeaderLive)
	if !ok || r.err != nil {
		return nil, r.err
	}
	s := &LiveSums{}
	if err := liveShape.Check([]byte(text)); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrHeaders, HeaderLive, err)
	}
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrHeaders, HeaderLive, err)
	}
	for class, bins := range s.Scores {
		if len(bins) == 0 {
			s.Scores[class] = nil
		}
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrHeaders, HeaderLive, err)
	}
	return s, nil
}

// LargestPromise bounds the promised figures of [LiveSums].
const LargestPromise = 1e90

// LargestResidual stands for a residual that is not a number or larger.
const LargestResidual = math.MaxFloat32
