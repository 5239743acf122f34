package train

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/training"
)

// trainingRow is a row of the features topic as read by the reference.
type trainingRow struct {
	z    []float32
	y    []float32 // a regression's label in the coding of the selection, ±1 one-vs-rest for classes
	held bool      // by the hash

	offset int64 // of the event
}

// trainingRows reads the labelled rows of messages without duplicates.
func trainingRows(t testing.TB, set *wire.FeatureSet, config Config, messages []pipeline.Record) []trainingRow {
	t.Helper()
	m := set.Set.Features.Len()
	var rows []trainingRow
	for _, r := range messages {
		out := readOutput(t, r, m)
		for i := range out.rows {
			if y := referenceLabel(set, out.body, i); y != nil {
				offset := out.part.SourceOffset
				held := training.HeldOut(config.HeldOutSeed, out.ids[i], config.HeldOutFraction)
				rows = append(rows, trainingRow{z: out.z[i*m : (i+1)*m], y: y, held: held, offset: offset})
			}
		}
	}
	return rows
}

// unseenHeldOut counts the held-out rows of messages with a class that the set does not know.
func unseenHeldOut(t testing.TB, set *wire.FeatureSet, config Config, messages []pipeline.Record) (rows float64) {
	t.Helper()
	if set.Task == scoring.Regression {
		return 0
	}
	for _, r := range messages {
		out := readOutput(t, r, set.Set.Features.Len())
		label := out.body.Column(out.body.Schema().FieldIndices(set.Encoder.Label.Columns[0])[0])
		for i := range out.rows {
			held := training.HeldOut(config.HeldOutSeed, out.ids[i], config.HeldOutFraction)
			if held && label.IsValid(i) && referenceLabel(set, out.body, i) == nil {
				rows++
			}
		}
	}
	return rows
}

// split separates the held-out rows from the others.
func split(rows []trainingRow, held func(trainingRow) bool) (fit, heldOut []trainingRow) {
	for _, r := range rows {
		if held(r) {
			heldOut = append(heldOut, r)
		} else {
			fit = append(fit, r)
		}
	}
	return fit, heldOut
}

// referenceLabel codes the label of row i; nil = unlabelled.
func referenceLabel(set *wire.FeatureSet, rec arrow.Record, i int) []float32 {
	label := set.Encoder.Label
	column := rec.Column(rec.Schema().FieldIndices(label.Columns[0])[0])
	if column.IsNull(i) {
		return nil
	}
	if set.Task == scoring.Regression {
		return []float32{float32(set.Coding.Gain[0]*(column.(*array.Float64).Value(i)-label.Mean[0]) + set.Coding.Offset[0])}
	}
	class := slices.Index(label.Classes, column.ValueStr(i))
	if class < 0 {
		return nil
	}
	if set.Task == scoring.Binary {
		return []float32{2*float32(class) - 1}
	}
	y := make([]float32, len(label.Classes))
	for k := range y {
		y[k] = 2*float32(stagestest.Bit(k == class)) - 1
	}
	return y
}

// codedModel converts a model in units of the label to coded labels.
func codedModel(set *wire.FeatureSet, model *training.Model) *training.Model {
	coded := *model
	if set.Task == scoring.Regression {
		gain, offset := set.Coding.Gain[0], set.Coding.Offset[0]
		coded.Theta = nil
		for _, v := range model.Theta {
			coded.Theta = append(coded.Theta, gain*v)
		}
		coded.Intercept = []float64{gain*(model.Intercept[0]-set.Encoder.Label.Mean[0]) + offset}
	}
	return &coded
}

// predict returns f(z) of the reference.
func predict(m *training.Model, z []float32) []float32 {
	f := make([]float32, m.Outputs)
	for k := range f {
		sum := m.Intercept[k]
		for j, v := range z {
			sum += m.Theta[k*m.Features+j] * float64(v)
		}
		f[k] = float32(sum)
	}
	return f
}

// naiveError returns the error by which models are compared, in plain arithmetic, of a model of
// coded labels.
func naiveError(rows []trainingRow, task scoring.Task, model *training.Model) (percent float64) {
	var wrong, squared, sum, squares float64
	for _, r := range rows {
		f := predict(model, r.z)
		wrong += float64(stagestest.Bit(training.DecideClass(f, len(f)) != training.DecideClass(r.y, len(r.y))))
		y := float64(r.y[0])
		squared += (float64(f[0]) - y) * (float64(f[0]) - y)
		sum += y
		squares += y * y
	}
	if task == scoring.Regression {
		return 100 * squared / (squares - sum*sum/float64(len(rows)))
	}
	return 100 * wrong / float64(len(rows))
}

// errorOf returns that error from the measures of a model.
func errorOf(m training.Measures) float64 { return TestErrors{Measures: m}.Error() }

// sumsOf returns the sums of rows.
func sumsOf(rows []trainingRow) *training.Sums {
	sums := training.NewSums(len(rows[0].z), len(rows[0].y))
	for _, r := range rows {
		sums.Add(r.z, 1, r.y)
	}
	return sums
}

// checkModel compares a model with the result of package training for the rows of the reference:
// its weights, its judged weights, the choice of λ, and its error on the held-out rows.
func checkModel(
	t testing.TB,
	set *wire.FeatureSet,
	config Config,
	model *wire.Model,
	fit []trainingRow,
	held []trainingRow,
	unseen float64, // held-out rows of unknown classes, which are wrong
) {
	t.Helper()
	want, err := training.Train(sumsOf(fit), sumsOf(held), training.Options{
		Intercept: config.Intercept, Grid: stagestest.Must(training.ParseGrid(config.LambdaGrid)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if model.TrainRows != want.TrainRows || model.HeldOutRows != want.HeldOutRows || len(held) < 100 {
		t.Fatalf("%d rows, %d held out; want %d, %d", model.TrainRows, model.HeldOutRows, want.TrainRows, want.HeldOutRows)
	}
	for name, pair := range map[string][2]*training.Model{
		"model":        {model.Model, want.Model},
		"judged model": {model.Judged, want.OnFit},
	} {
		got := codedModel(set, pair[0])
		for i, v := range pair[1].Theta {
			near(t, name+": a weight", got.Theta[i], v, 1e-4*max(1, v, -v))
		}
		for k, v := range pair[1].Intercept {
			near(t, name+": an intercept", got.Intercept[k], v, 1e-4)
		}
	}
	near(t, "lambda", model.Model.Lambda, want.Model.Lambda, 1e-9*want.Model.Lambda)
	if model.Metrics.LambdaRule != string(training.RuleHeldOut) || len(model.Metrics.LambdaPath) != len(want.Lambdas) {
		t.Fatalf("lambda by %s from %+v", model.Metrics.LambdaRule, model.Metrics.LambdaPath)
	}
	for i, point := range model.Metrics.LambdaPath {
		near(t, "held-out loss", *point.HeldOutLoss, want.HeldOutLoss[i], 1e-4*want.HeldOutLoss[i])
	}
	known := float64(len(held))
	percent := (naiveError(held, set.Task, want.OnFit)*known + 100*unseen) / (known + unseen)
	near(t, "error", errorOf(model.Metrics.Measures), percent, 0.01)
}

// The rows of features messages are summed with coded labels, and the hash decides which are held
// out.
func TestModelsEqualTheReference(t *testing.T) {
	for _, task := range stagestest.Tasks {
		for _, intercept := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, intercept %v", task, intercept), func(t *testing.T) {
				events := stagestest.Events(t, task, 900, 50, stagestest.Faults{BadFeature: 0.05, NoLabel: 0.1, UnseenClass: 0.05})
				set := featureSet(t, task, events)
				config := trainConfig()
				config.Intercept, config.LambdaGrid = intercept, "0.0001,0.001,0.01,0.1"
				messages := featureMessages(t, set, stagestest.Cut(t, events, stagestest.Every(80)), whole)
				model := solve(t, train(t, set, config, messages))
				fit, held := split(trainingRows(t, set, config, messages), func(r trainingRow) bool { return r.held })
				checkModel(t, set, config, model, fit, held, unseenHeldOut(t, set, config, messages))
			})
		}
	}
}
