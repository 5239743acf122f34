package train

import (
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/stagestest"
	"github.com/eerf-stream/eerf/training"
)

func TestVerdictOf(t *testing.T) {
	compared := func(ours, theirs float64) wire.Judgement {
		return wire.Judgement{Incumbent: "m-1", ChallengerError: &ours, IncumbentError: &theirs}
	}
	across := func(j wire.Judgement) wire.Judgement {
		j.IncumbentSet = "fs-1"
		return j
	}
	unknown := wire.Judgement{Incumbent: "m-1", NotCompared: "gone"}
	better := Promote{Rule: PromoteBetter}
	margin := func(m Margin) Promote { return Promote{PromoteBetter, m} }
	noisy := func(ours, theirs, standardError float64) wire.Judgement {
		j := compared(ours, theirs)
		j.StandardError = &standardError
		return j
	}
	always, sets := Promote{Rule: PromoteAlways}, Promote{Rule: PromoteBetterAcrossSets}
	for name, c := range map[string]struct {
		promote Promote
		pin     wire.Pin
		j       wire.Judgement
		want    wire.Verdict
	}{
		"the first":                               {better, "", wire.Judgement{}, wire.VerdictFirst},
		"lower":                                   {better, "", compared(9, 10), wire.VerdictBetter},
		"as low":                                  {better, "", compared(10, 10), wire.VerdictBetter},
		"higher":                                  {better, "", compared(10.1, 10), wire.VerdictWorse},
		"lower, but not by the margin":            {margin(0.05), "", compared(9.6, 10), wire.VerdictWorse},
		"lower by the margin":                     {margin(0.05), "", compared(9.5, 10), wire.VerdictBetter},
		"as low, with a margin":                   {margin(0.05), "", compared(10, 10), wire.VerdictWorse},
		"both without error, with a margin":       {margin(0.05), "", compared(0, 0), wire.VerdictBetter},
		"higher within what is allowed":           {margin(-0.1), "", compared(10.9, 10), wire.VerdictBetter},
		"higher than what is allowed":             {margin(-0.1), "", compared(11.1, 10), wire.VerdictWorse},
		"lower, but not by the standard error":    {margin(MarginAuto), "", noisy(9.6, 10, .5), wire.VerdictWorse},
		"lower by the standard error":             {margin(MarginAuto), "", noisy(9.5, 10, .5), wire.VerdictBetter},
		"as low, with noise":                      {margin(MarginAuto), "", noisy(10, 10, .5), wire.VerdictWorse},
		"all predictions alike":                   {margin(MarginAuto), "", noisy(10, 10, 0), wire.VerdictBetter},
		"both without error":                      {margin(MarginAuto), "", noisy(0, 0, 0), wire.VerdictBetter},
		"lower, on a single row":                  {margin(MarginAuto), "", compared(0, 100), wire.VerdictWorse},
		"as low by noise, pinned until beaten":    {margin(MarginAuto), wire.PinBeaten, noisy(9.9, 10, .5), wire.VerdictPinned},
		"not comparable":                          {better, "", unknown, wire.VerdictUnopposed},
		"higher, always":                          {always, "", compared(99, 10), wire.VerdictAlways},
		"higher, the other set is not in use":     {better, "", across(compared(99, 10)), wire.VerdictNewSet},
		"unknown, the other set is not in use":    {better, "", across(unknown), wire.VerdictNewSet},
		"higher across sets":                      {sets, "", across(compared(99, 10)), wire.VerdictWorse},
		"lower across sets":                       {sets, "", across(compared(9, 10)), wire.VerdictBetter},
		"unknown across sets":                     {sets, "", across(unknown), wire.VerdictUnopposed},
		"lower than a pinned one":                 {better, wire.PinHold, compared(1, 10), wire.VerdictPinned},
		"always, and pinned":                      {always, wire.PinHold, compared(1, 10), wire.VerdictPinned},
		"of another set than a pinned one":        {better, wire.PinHold, across(compared(1, 10)), wire.VerdictPinned},
		"lower than one pinned until then":        {better, wire.PinBeaten, compared(9, 10), wire.VerdictBetter},
		"as low as one pinned until beaten":       {better, wire.PinBeaten, compared(10, 10), wire.VerdictPinned},
		"higher, always, pinned until beaten":     {always, wire.PinBeaten, compared(11, 10), wire.VerdictPinned},
		"higher within limits, pinned until then": {margin(-0.1), wire.PinBeaten, compared(10.5, 10), wire.VerdictPinned},
		"other set, pinned until beaten":          {better, wire.PinBeaten, across(compared(11, 10)), wire.VerdictPinned},
		"unknown, pinned until beaten":            {better, wire.PinBeaten, unknown, wire.VerdictPinned},
	} {
		settleMargin(c.promote.Margin, &c.j)
		if got := verdictOf(c.promote, c.pin, &c.j); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// naiveError is the error of a model on the rows that both splits hold out, in plain arithmetic, with coded labels.
func naiveError(rows []trainingRow, model *training.Model, held func(i int) bool) (percent float64, n int64) {
	var wrong, squared, mean, centred float64
	for i, r := range rows {
		if !held(i) {
			continue
		}
		n++
		f := make([]float32, len(r.y))
		y := make([]float32, len(r.y))
		for k := range f {
			f[k] = float32(predict(model.Theta[k*model.Features:(k+1)*model.Features], model.Intercept[k], r.z))
			y[k] = float32(r.y[k])
		}
		if training.DecideClass(f, len(f)) != training.DecideClass(y, len(y)) {
			wrong++
		}
		squared += (float64(f[0]) - r.y[0]) * (float64(f[0]) - r.y[0])
		mean += r.y[0]
		centred += r.y[0] * r.y[0]
	}
	if model.Loss == "regression" {
		return 100 * squared / (centred - mean*mean/float64(n)), n
	}
	return 100 * wrong / float64(n), n
}

// Both are measured by weights that did not see the rows, on the rows that both splits hold out.
func TestCompareOnTheSameRows(t *testing.T) {
	for _, task := range stagestest.Tasks {
		events := stagestest.Events(t, task, 1200, 71, stagestest.Faults{BadFeature: 0.05, NoLabel: 0.1})
		set := featureSet(t, task, events)
		messages := featureMessages(t, set, stagestest.Cut(t, events, stagestest.Every(40)), whole)
		before, now := trainConfig(), trainConfig()
		before.HeldOutFraction, before.HeldOutSeed = 0.5, 3
		now.HeldOutFraction = 0.4
		incumbent := solve(t, train(t, set, before, messages[:len(messages)/2]))
		trainer := train(t, set, now, messages)
		challenger := solve(t, trainer)
		var j wire.Judgement
		if err := trainer.compare(&j, challenger, incumbent, trainer.sameSet(incumbent), 0); err != nil || !j.Compared() {
			t.Fatalf("%s: %+v, %v", task, j, err)
		}

		rows, others := trainingRows(t, set, now, messages), trainingRows(t, set, before, messages)
		both := func(i int) bool { return rows[i].held && others[i].held }
		for name, c := range map[string]struct {
			model *wire.Model
			have  float64
		}{"challenger": {challenger, *j.ChallengerError}, "incumbent": {incumbent, *j.IncumbentError}} {
			coded := codedModel(set, c.model.Judged)
			if task == stagestest.Regression {
				coded.Loss = stagestest.Regression
			}
			want, n := naiveError(rows, coded, both)
			near(t, task+": error of the "+name, c.have, want, 1e-3)
			if n != j.Rows || n < 50 {
				t.Errorf("%s: %d rows, want %d", task, j.Rows, n)
			}
		}
		if j.Measure != map[bool]string{true: training.MeasureUnexplainedVariance, false: training.MeasureMisclassification}[task == stagestest.Regression] {
			t.Errorf("%s by %s", task, j.Measure)
		}
	}
}

// The errors in a model's record are those of its comparisons: against itself, on all held-out rows, it is as good.
func TestCompareAgreesWithTheMetrics(t *testing.T) {
	for _, task := range stagestest.Tasks {
		events := stagestest.Events(t, task, 900, 72, stagestest.Faults{})
		set := featureSet(t, task, events)
		trainer := train(t, set, trainConfig(), featureMessages(t, set, []arrow.Record{events}, whole))
		model := solve(t, trainer)
		var j wire.Judgement
		if err := trainer.compare(&j, model, model, trainer.sameSet(model), 0); err != nil {
			t.Fatal(err)
		}
		metric := model.Metrics.Misclassification
		if task == stagestest.Regression {
			metric = model.Metrics.UnexplainedVariance
		}
		if *j.ChallengerError != *j.IncumbentError || j.Rows != model.HeldOutRows {
			t.Errorf("%s: %+v, %d rows were held out", task, j, model.HeldOutRows)
		}
		near(t, task, *j.ChallengerError, *metric, 1e-3)
	}
}

func TestCompareWithoutRows(t *testing.T) {
	events := stagestest.Events(t, stagestest.Regression, 600, 73, stagestest.Faults{})
	set := featureSet(t, stagestest.Regression, events)
	messages := featureMessages(t, set, []arrow.Record{events}, whole)
	trainer := train(t, set, trainConfig(), messages)
	model := solve(t, trainer)
	early, foreign := *model, *model
	early.Judged = nil
	foreign.HeldOutFraction = 1e-9
	for name, c := range map[string][2]*wire.Model{
		"a challenger of which nothing was held out":     {&early, model},
		"an incumbent of a build that did not compare":   {model, &early},
		"an incumbent that was fitted on all those rows": {model, &foreign},
	} {
		var j wire.Judgement
		if err := trainer.compare(&j, c[0], c[1], trainer.sameSet(c[1]), 0); err != nil || j.Compared() || j.NotCompared == "" {
			t.Errorf("%s: %+v, %v", name, j, err)
		}
	}
}

// The weights used for judging are fitted to the rows that are not held out, in units of the label.
func TestSolveKeepsWhatAModelIsJudgedBy(t *testing.T) {
	events := stagestest.Events(t, stagestest.Regression, 600, 74, stagestest.Faults{})
	set := featureSet(t, stagestest.Regression, events)
	config := trainConfig()
	messages := featureMessages(t, set, []arrow.Record{events}, whole)
	model := solve(t, train(t, set, config, messages))
	var fit []trainingRow
	for _, r := range trainingRows(t, set, config, messages) {
		if !r.held {
			fit = append(fit, r)
		}
	}
	theta, theta0 := ridge(fit, 0, model.Judged.Lambda, true)
	coded := codedModel(set, model.Judged)
	for i := range fit[:20] {
		near(t, "prediction", predict(coded.Theta, coded.Intercept[0], fit[i].z), predict(theta, theta0, fit[i].z), 1e-5)
	}
	if model.Model.Theta[0] == model.Judged.Theta[0] || model.ConfigHash != config.hash() {
		t.Error("the weights are those of all rows, or the configuration is not named")
	}
	config.Promote.Margin = 0.5
	if config.hash() == model.ConfigHash {
		t.Error("a margin does not change the hash")
	}
	value, err := wire.EncodeModel(model)
	if err != nil {
		t.Fatal(err)
	}
	if m := wire.ModelID(model); m != model.ID || len(value) == 0 {
		t.Error(m)
	}
	var none []pipeline.Record
	config.HeldOutFraction = 1e-12
	if m := solve(t, train(t, set, config, append(none, messages...))); m.Judged != nil {
		t.Error("nothing is held out, and there are weights without it")
	}
}

// Equally good models, each measured on the rows available by then: without a margin half of the comparisons change the model in
// use, with the standard error a sixth. One that is better by more than noise is still put in use.
func TestNoiseChangesTheModelSeldom(t *testing.T) {
	const rows, challengers = 500, 400
	random := rand.New(rand.NewPCG(5, 6))
	promoted := func(margin Margin, noise float64) (share float64) {
		for range challengers {
			y, ours, theirs := make([]float32, rows), make([]float32, rows), make([]float32, rows)
			for i := range y {
				v := random.NormFloat64()
				y[i], ours[i], theirs[i] = float32(v), float32(v+noise*random.NormFloat64()), float32(v+.5*random.NormFloat64())
			}
			errors := training.PairedUnexplainedVariance(ours, theirs, y, 1)
			j := wire.Judgement{Incumbent: "m-1", ChallengerError: &errors.First, IncumbentError: &errors.Second, StandardError: &errors.StandardError}
			settleMargin(margin, &j)
			if verdictOf(Promote{Rule: PromoteBetter, Margin: margin}, "", &j).Promoted() {
				share += 1. / challengers
			}
		}
		return share
	}
	for name, c := range map[string]struct {
		margin    Margin
		noise     float64
		low, high float64
	}{
		"no margin, equally good": {0, .5, .4, .6}, "auto, equally good": {MarginAuto, .5, .1, .22}, "auto, better": {MarginAuto, .4, .99, 1.001},
		"auto, worse": {MarginAuto, .6, -.001, .01},
	} {
		if share := promoted(c.margin, c.noise); share < c.low || share > c.high {
			t.Errorf("%s: %.3f of the challengers are put in use, want %v to %v", name, share, c.low, c.high)
		}
	}
}
