package encoder

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
)

const (
	// EffectFolds is the number of parts into which row hashes divide the rows of effects.
	EffectFolds = 4
	// maxEffects bounds the values with an effect, times the outputs of the label, over all columns
	// of an encoder, because every message of a feature set has them.
	maxEffects = 4096
	// maxEffectOutputs is the largest number of outputs for which effects take dimensions.
	maxEffectOutputs = 16
	// effectRows is how many calibration rows a value needs for an effect.
	effectRows = 2
	// The bounds of the prior, in rows.
	leastPrior, mostPrior = 1, 1000
)

// Effects are the label's means by the value of a category column with more values than dimensions,
// one dimension for each output of the label: the sum of the label minus its mean over the
// calibration rows with the value, divided by their number plus Prior, which shrinks the means of
// rare values towards 0, and by Scale. Other values have 0.
//
// A row that teaches must not see its own label. Its hash chooses one of EffectFolds folds, and the
// sums and rows of that fold are left out.
type Effects struct {
	// Values are in ascending byte order.
	Values []string `json:"values" bound:"list 65536 of 256"`
	// Rows are the labelled calibration rows of each value by fold.
	Rows []int64 `json:"rows" bound:"list 65536"`
	// Sums are the sums of each output by value and fold. A class counts 1, the others -1.
	Sums []float64 `json:"sums" bound:"list 65536"`
	// Mean is the mean of each output over all labelled calibration rows.
	Mean  []float64 `json:"mean" bound:"list 16"`
	Prior float64   `json:"prior"`
	Scale []float64 `json:"scale" bound:"list 16"`
}

// outputs returns the number of dimensions, 0 for nil.
func (f *Effects) outputs() int {
	if f == nil {
		return 0
	}
	return len(f.Mean)
}

// noFold leaves out no fold.
const noFold = -1

// effectLimit is the size at which effects are cut, as other dimensions.
func (e *Encoder) effectLimit() float64 {
	if e.Clip > 0 && e.Standardize != StandardizeNone {
		return e.Clip
	}
	return MaxMagnitude
}

// at returns dimension k of a value without a fold, cut at a limit.
func (f *Effects) at(value, k, without int, limit float64) float32 {
	rows, sum := 0.0, 0.0
	for fold := range EffectFolds {
		if fold == without {
			continue
		}
		i := value*EffectFolds + fold
		rows += float64(f.Rows[i])
		sum += f.Sums[i*len(f.Mean)+k]
	}
	v := (sum - float64(rows*f.Mean[k])) / (rows + f.Prior) / f.Scale[k]
	return float32(min(max(v, -limit), limit))
}

// EffectsOf returns the effects of all values of a column by output.
func (e *Encoder) EffectsOf(c *Column) [][]float32 {
	f, limit := c.Effects, e.effectLimit()
	dimensions := make([][]float32, f.outputs())
	for k := range dimensions {
		for v := range f.Values {
			dimensions[k] = append(dimensions[k], f.at(v, k, noFold, limit))
		}
	}
	return dimensions
}

// validate returns the first fault of effects for a label with this many outputs.
func (f *Effects) validate(outputs int) error {
	n, k := len(f.Values), len(f.Mean)
	if err := validateCategories(f.Values); err != nil {
		return fmt.Errorf("effects: %w", err)
	}
	if n == 0 || n > MaxDim/EffectFolds || k == 0 || k > maxEffectOutputs || k != outputs || len(f.Scale) != k ||
		len(f.Rows) != n*EffectFolds || len(f.Sums) != n*EffectFolds*k {
		return fmt.Errorf("effects: %d values, %d rows, %d sums, %d means, %d scales for %d outputs",
			n, len(f.Rows), len(f.Sums), k, len(f.Scale), outputs)
	}
	for _, rows := range f.Rows {
		if rows < 0 || rows > maxWhole {
			return fmt.Errorf("effects: %d rows of a value", rows)
		}
	}
	for _, v := range slices.Concat(f.Sums, f.Mean) {
		if !learnableNumber(v) {
			return fmt.Errorf("effects: number %v", v)
		}
	}
	for _, v := range append([]float64{f.Prior}, f.Scale...) {
		if !(v >= 1e-140 && v <= maxLearned) {
			return errors.New("effects: a prior or scale is not above 0")
		}
	}
	return nil
}

// boundEffects are effects prepared for encoding.
type boundEffects struct {
	at      int // first dimension in a row
	outputs int
	codes   codeTable
	all     []float32 // [values·outputs]
	without []float32 // [values·folds·outputs]
}

// newBoundEffects prepares the effects of a column, whose first dimension is dimension at of a row.
func newBoundEffects(e *Encoder, c *Column, at int, nulls *nullWords) *boundEffects {
	f := c.Effects
	if f == nil {
		return nil
	}
	limit := e.effectLimit()
	b := &boundEffects{at: at + c.effectsFrom(), outputs: f.outputs(), codes: codeTable{numbered(f.Values), nulls}}
	for v := range f.Values {
		for k := range b.outputs {
			b.all = append(b.all, f.at(v, k, noFold, limit))
		}
		for fold := range EffectFolds {
			for k := range b.outputs {
				b.without = append(b.without, f.at(v, k, fold, limit))
			}
		}
	}
	return b
}

// setEffects writes the effects of values with these codes. hash is of the rows that teach; nil if
// they do not.
func (b *block) setEffects(codes []int32, f *boundEffects, hash func(row int32) uint64) {
	for i, code := range codes[:b.rows.len()] {
		to := b.x[i*b.dim+f.at:][:f.outputs]
		switch {
		case code < 0:
			clear(to)
		case hash == nil:
			copy(to, f.all[int(code)*f.outputs:])
		default:
			fold := int(hash(int32(b.rows.row(i))) % EffectFolds)
			copy(to, f.without[(int(code)*EffectFolds+fold)*f.outputs:])
		}
	}
}

// addEffects gives effects, without rows so far, to the category columns that have more values than
// dimensions.
func (c *Calibrator) addEffects(e *Encoder) {
	outputs := e.Outputs()
	if outputs == 0 || outputs > maxEffectOutputs {
		return
	}
	texts := make(map[string]*learnedTexts)
	for _, l := range c.columns {
		texts[l.name] = l.texts
	}
	var rich []*Column
	for i := range e.Columns {
		if column := &e.Columns[i]; column.Kind == Category && column.Other {
			rich = append(rich, column)
		}
	}
	for _, column := range rich {
		values := texts[column.Name].values.commonest(min(maxEffects/(len(rich)*outputs), maxSketchTexts))
		values = slices.DeleteFunc(values, func(v string) bool {
			return texts[column.Name].values.count(v) < effectRows
		})
		if len(values) <= len(column.Categories) {
			continue
		}
		column.Effects = newEffects(values, outputs)
		if e.Standardize == StandardizeAll { // effects are scaled already
			for range outputs {
				column.Mean = slices.Insert(column.Mean, column.effectsFrom(), 0)
				column.Scale = slices.Insert(column.Scale, column.effectsFrom(), 1)
			}
		}
		column.Width += outputs
		e.Dim += outputs
	}
}

// newEffects returns effects of 0.
func newEffects(values []string, outputs int) *Effects {
	f := &Effects{
		Values: values,
		Rows:   make([]int64, len(values)*EffectFolds),
		Sums:   make([]float64, len(values)*EffectFolds*outputs),
		Mean:   make([]float64, outputs),
		Prior:  mostPrior,
		Scale:  make([]float64, outputs),
	}
	for k := range f.Scale {
		f.Scale[k] = 1
	}
	return f
}

// EffectSums sums the label by category over the calibration rows, in a second pass with the
// encoder that was learned from them. It belongs to one goroutine.
type EffectSums struct {
	encoder *Encoder
	columns []int // with effects
	rows    Rows
	n       int64
	sum     []float64 // [outputs]
	square  float64   // of all outputs, relative to 0
	codes   []int32
	entries []int32
	target  []float64
}

// NewEffectSums returns sums without rows; nil if the encoder has no effects.
func NewEffectSums(e *Encoder) *EffectSums {
	s := &EffectSums{sum: make([]float64, e.Outputs()), target: make([]float64, e.Outputs())}
	copied := *e
	copied.Columns = slices.Clone(e.Columns)
	for i := range copied.Columns {
		if f := copied.Columns[i].Effects; f != nil {
			copied.Columns[i].Effects = newEffects(f.Values, f.outputs())
			s.columns = append(s.columns, i)
		}
	}
	if s.columns == nil {
		return nil
	}
	s.encoder = &copied
	return s
}

// Add adds the rows of a record that take numbers, nil = all. hash is the hash of a row. The only
// error is a wrong schema.
func (s *EffectSums) Add(rec arrow.Record, take []int32, hash func(row int32) uint64) error {
	if err := s.encoder.Encode(&s.rows, rec, take); err != nil {
		return err
	}
	s.codes = resize(s.codes, s.rows.N)
	for number, i := range s.columns {
		f, at := s.encoder.Columns[i].Effects, s.rows.binding.features[i]
		table := &s.rows.binding.columns[i].effects.codes
		s.entries = loadCodes(s.codes, rec.Column(at), picked{list: s.rows.Row}, table, s.entries)
		for row := range s.rows.N {
			if !s.rows.Labelled[row] {
				continue
			}
			s.load(row)
			if number == 0 {
				s.count()
			}
			if code := s.codes[row]; code >= 0 {
				f.add(int(code), int(hash(s.rows.Row[row])%EffectFolds), s.target)
			}
		}
	}
	return nil
}

// load sets target to the outputs of a row.
func (s *EffectSums) load(row int) {
	k := len(s.target)
	if class := s.rows.Targets.Class; class != nil {
		for j := range s.target {
			s.target[j] = -1
		}
		s.target[class[row]] = 1
		return
	}
	for j, v := range s.rows.Targets.Values[row*k : (row+1)*k] {
		s.target[j] = float64(v)
	}
}

// count adds the loaded outputs to the totals.
func (s *EffectSums) count() {
	s.n++
	for k, y := range s.target {
		s.sum[k] += y
		s.square += float64(y * y)
	}
}

// add adds a row of a value.
func (f *Effects) add(value, fold int, target []float64) {
	i := value*EffectFolds + fold
	f.Rows[i]++
	for k, y := range target {
		f.Sums[i*len(target)+k] += y
	}
}

// Encoder returns the encoder with the effects of the rows added.
func (s *EffectSums) Encoder() *Encoder {
	for _, i := range s.columns {
		f := s.encoder.Columns[i].Effects
		for k, sum := range s.sum {
			f.Mean[k] = sum / float64(max(s.n, 1))
		}
		f.Prior = f.shrinkage(s.square)
		if s.encoder.Standardize != StandardizeNone {
			f.standardize(s.n)
		}
	}
	finished := *s.encoder // lookup tables belong to a pointer
	return &finished
}

// shrinkage estimates the variance of labels within values, in units of the variance between values
// (analysis of variance). square is the sum of the squared outputs of all rows.
func (f *Effects) shrinkage(square float64) float64 {
	n, squares, values, between := 0.0, 0.0, 0.0, 0.0
	for v := range f.Values {
		rows := 0.0
		for fold := range EffectFolds {
			rows += float64(f.Rows[v*EffectFolds+fold])
		}
		if rows == 0 {
			continue
		}
		n += rows
		squares += float64(rows * rows)
		values++
		for k, mean := range f.Mean {
			sum := 0.0
			for fold := range EffectFolds {
				sum += f.Sums[(v*EffectFolds+fold)*len(f.Mean)+k]
			}
			sum -= float64(rows * mean)
			between += sum * sum / rows
		}
	}
	total := square
	for _, mean := range f.Mean {
		total -= float64(n * mean * mean)
	}
	if values < 2 || n <= values {
		return mostPrior
	}
	within := (total - between) / (n - values)
	typical := (n - squares/n) / (values - 1)
	varies := (between/(values-1) - within) / typical
	if !(within > 0) {
		return leastPrior
	}
	if !(varies > 0) {
		return mostPrior
	}
	return min(max(within/varies, leastPrior), mostPrior)
}

// standardize sets the scales so that the effects of rows that teach have variance 1 over all n
// labelled rows.
func (f *Effects) standardize(n int64) {
	for k := range f.Scale {
		var m moment
		for v := range f.Values {
			for fold := range EffectFolds {
				effect := float64(f.at(v, k, fold, MaxMagnitude))
				for range f.Rows[v*EffectFolds+fold] {
					m.add(effect)
				}
			}
		}
		for range n - m.n {
			m.add(0)
		}
		f.Scale[k] = m.scale()
	}
}

// effectsFrom returns the first dimension of effects within the column.
func (c *Column) effectsFrom() int { return c.values() + int(count(c.Other)) }

// EffectDimension returns the dimension, within the column, of the effect on output k.
func (c *Column) EffectDimension(k int) int { return c.effectsFrom() + k }

// isEffect reports whether dimension j of the column is an effect, and of which output.
func (c *Column) isEffect(j int) (output int, ok bool) {
	k := j - c.effectsFrom()
	return k, k >= 0 && k < c.Effects.outputs()
}

// effectName returns the name of the effect on an output.
func (c *Column) effectName(output int) string {
	if c.Effects.outputs() == 1 {
		return c.Name + ", effect on the label"
	}
	return fmt.Sprintf("%s, effect on output %d", c.Name, output+1)
}
