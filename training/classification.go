package training

import (
	"fmt"
	"math"
	"strconv"
)

// Classification measures decisions between classes. Use [NewClassification]. The order of the rows
// only affects the last bits of the log loss.
type Classification struct {
	Rows  int64 // rows added
	Wrong int64 // rows for which another class was decided
	// Unknown is the number of rows of [UnknownClass]. They are among the wrong ones, but have no
	// probability.
	Unknown int64
	// Logits marks predictions as outputs of the logistic loss, so that log loss and calibration
	// are measured. It must be set before rows are added.
	Logits bool

	outputs  int
	majority int32
	classes  []ClassRecall
	ranking  ranking    // only for two classes
	losses   []lossSums // log losses by class
	bins     [calibrationBins]bin
}

// lossSums are sums over the rows of a class.
type lossSums struct{ loss, squares float64 }

// calibrationBins is the number of bins of the probabilities.
const calibrationBins = 10

// rareShare is the share of rows below which one of two classes counts as rare.
const rareShare = 0.1

// bin sums the probabilities of a bin.
type bin struct {
	rows, hits int64
	predicted  float64
}

// CommonestOfRows is the class of a constant predictor that knows the rows measured.
const CommonestOfRows = -1

// NewClassification returns the metric of no rows, for 1 output (two classes) or as many outputs as
// classes. majority is the class of the constant predictor: the commonest class of the training
// rows ([Sums.MajorityClass]), or [CommonestOfRows].
func NewClassification(outputs int, majority int32) *Classification {
	if outputs <= 0 {
		panic(fmt.Sprintf("training: classification metric of %d outputs", outputs))
	}
	classes := max(2, outputs)
	return &Classification{
		outputs:  outputs,
		majority: majority,
		classes:  make([]ClassRecall, classes),
		losses:   make([]lossSums, classes),
	}
}

// Add adds rows of predictions (len(class)×K, row-major) with the true classes.
func (c *Classification) Add(pred []float32, class []int32) {
	if len(pred) != len(class)*c.outputs {
		panic(fmt.Sprintf("training: %d rows of %d outputs, given %d predictions", len(class), c.outputs, len(pred)))
	}
	for n, want := range class {
		c.add(pred[n*c.outputs:(n+1)*c.outputs], want)
	}
}

// AddCoded adds rows of predictions with true outputs as written by [CodeClasses], both rows×K.
func (c *Classification) AddCoded(pred, y []float32, rows int) {
	if rows < 0 || len(pred) != rows*c.outputs || len(y) != rows*c.outputs {
		panic(fmt.Sprintf("training: %d rows of %d outputs, given %d predictions and %d outputs",
			rows, c.outputs, len(pred), len(y)))
	}
	for n := range rows {
		row := y[n*c.outputs : (n+1)*c.outputs]
		c.add(pred[n*c.outputs:(n+1)*c.outputs], CodedClass(row))
	}
}

func (c *Classification) add(pred []float32, want int32) {
	if want == UnknownClass {
		c.AddUnknown(1)
		return
	}
	c.Rows++
	decided := DecideClass(pred, c.outputs)
	c.classes[want].Rows++
	if decided == want {
		c.classes[want].Right++
	} else {
		c.Wrong++
	}
	if len(c.classes) == 2 && c.outputs == 1 {
		c.ranking.add(pred[0], want)
	}
	if c.Logits {
		c.addProbability(pred, decided, want)
	}
}

// AddUnknown adds rows of [UnknownClass].
func (c *Classification) AddUnknown(rows int64) {
	c.Rows += rows
	c.Wrong += rows
	c.Unknown += rows
}

// addProbability adds the probabilities of a row.
func (c *Classification) addProbability(pred []float32, decided, want int32) {
	loss := NegativeLog(pred, want)
	c.losses[want].loss += loss
	c.losses[want].squares += float64(loss * loss)
	watched := decided
	if c.outputs == 1 {
		watched = 1
	}
	p := math.Exp(-NegativeLog(pred, watched))
	if math.IsNaN(p) { // outputs beyond float32, which also make the log loss NaN
		return
	}
	b := &c.bins[min(int(p*calibrationBins), calibrationBins-1)]
	b.rows++
	b.predicted += p
	if want == watched {
		b.hits++
	}
}

// NegativeLog returns −log p of a class under the logistic loss, in nats, from the outputs of a
// row.
func NegativeLog(pred []float32, class int32) float64 {
	if len(pred) == 1 {
		f := float64(pred[0])
		if class == 1 {
			f = -f
		}
		return max(f, 0) + math.Log1p(math.Exp(-math.Abs(f)))
	}
	largest := pred[0]
	for _, v := range pred[1:] {
		largest = max(largest, v)
	}
	var sum float64
	for _, v := range pred {
		sum += math.Exp(float64(v) - float64(largest))
	}
	return math.Log(sum) - (float64(pred[class]) - float64(largest))
}

// Misclassification returns the share of wrong decisions in percent, 0 without rows.
func (c *Classification) Misclassification() float64 {
	return percent(float64(c.Wrong), float64(c.Rows))
}

// ConstantError returns the Misclassification of the constant predictor.
func (c *Classification) ConstantError() float64 {
	var right int64
	if c.majority != CommonestOfRows {
		right = c.classes[c.majority].Rows
	} else {
		for _, class := range c.classes {
			right = max(right, class.Rows)
		}
	}
	return percent(float64(c.Rows-right), float64(c.Rows))
}

// Measures returns every figure. Classes are named by number until [Measures.NameClasses].
func (c *Classification) Measures() Measures {
	if c.Rows == 0 {
		return Measures{}
	}
	m := Measures{
		Misclassification: measured(c.Misclassification()),
		ConstantError:     measured(c.ConstantError()),
		UnknownClassRows:  c.Unknown,
	}
	for k, class := range c.classes {
		class.Class = strconv.Itoa(k)
		m.Recall = append(m.Recall, class)
	}
	m.ConstantNoise = measured(c.constantNoise())
	if c.outputs == 1 {
		c.rank(&m)
	}
	if c.Logits {
		m.LogLoss = measured(c.logLoss())
		m.ConstantLogLoss = measured(c.entropy())
		m.Calibration = c.calibration()
		if c.outputs == 1 {
			m.Decisions = c.ranking.decisions()
			m.ranking = &c.ranking
		}
	}
	return m
}

// rank fills in the measures of how well the outputs separate two classes.
func (c *Classification) rank(m *Measures) {
	m.AUC = measured(c.ranking.auc())
	rare := 1
	if c.classes[0].Rows < c.classes[1].Rows {
		rare = 0
	}
	if n := c.classes[rare].Rows; n > 0 && float64(n) < rareShare*float64(c.Rows) {
		m.AveragePrecision, m.RareClass = measured(c.ranking.averagePrecision(rare)), strconv.Itoa(rare)
	}
}

func (c *Classification) logLoss() float64 {
	sum := 0.0
	for _, class := range c.losses {
		sum += class.loss
	}
	return sum / float64(c.Rows-c.Unknown)
}

// constantNoise returns the standard error of the difference of the log loss, or with other
// predictions of the misclassification, from a constant's. The loss of a constant only depends on
// the class.
func (c *Classification) constantNoise() float64 {
	n := float64(c.Rows - c.Unknown)
	var mean, squares float64 // of the difference by row
	for k, class := range c.classes {
		rows := float64(class.Rows)
		of, constant := c.losses[k], -math.Log(rows/n)
		if !c.Logits {
			wrong := 100 * float64(class.Rows-class.Right)
			of, constant = lossSums{wrong, 100 * wrong}, 100
			if int32(k) == c.decidedConstant() {
				constant = 0
			}
		}
		if rows > 0 {
			mean += (of.loss - float64(rows*constant)) / n
			squares += (of.squares - float64(2*constant*of.loss) + float64(rows*constant*constant)) / n
		}
	}
	return math.Sqrt(max(0, squares-float64(mean*mean)) / n)
}

// decidedConstant returns the class of the constant predictor.
func (c *Classification) decidedConstant() int32 {
	if c.majority != CommonestOfRows {
		return c.majority
	}
	best := 0
	for k, class := range c.classes {
		if class.Rows > c.classes[best].Rows {
			best = k
		}
	}
	return int32(best)
}

// entropy returns the entropy of the shares of the classes.
func (c *Classification) entropy() float64 {
	var sum float64
	for _, class := range c.classes {
		if class.Rows > 0 {
			p := float64(class.Rows) / float64(c.Rows-c.Unknown)
			sum -= float64(p * math.Log(p))
		}
	}
	return sum
}

func (c *Classification) calibration() []CalibrationBin {
	bins := make([]CalibrationBin, calibrationBins)
	for i, b := range c.bins {
		bins[i].Rows = b.rows
		if b.rows > 0 {
			bins[i].Predicted, bins[i].Observed = b.predicted/float64(b.rows), float64(b.hits)/float64(b.rows)
		}
	}
	return bins
}
