package train

import (
	"errors"
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/wire"
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
	squared := func(j wire.Judgement) wire.Judgement {
		j.Measure = training.MeasureUnexplainedVariance
		return j
	}
	always := Promote{Rule: PromoteAlways}
	for name, c := range map[string]struct {
		promote Promote
		pin     wire.Pin
		j       wire.Judgement
		want    wire.Verdict
	}{
		"the first":                            {better, "", wire.Judgement{}, wire.VerdictFirst},
		"lower":                                {better, "", compared(9, 10), wire.VerdictBetter},
		"as low":                               {better, "", compared(10, 10), wire.VerdictBetter},
		"higher":                               {better, "", compared(10.1, 10), wire.VerdictNotBetter},
		"lower, but not by the margin":         {margin(0.05), "", compared(9.6, 10), wire.VerdictNotBetter},
		"lower by the margin":                  {margin(0.05), "", compared(9.5, 10), wire.VerdictBetter},
		"as low, with a margin":                {margin(0.05), "", compared(10, 10), wire.VerdictNotBetter},
		"both without error, with a margin":    {margin(0.05), "", compared(0, 0), wire.VerdictBetter},
		"higher within what is allowed":        {margin(-0.1), "", compared(10.9, 10), wire.VerdictBetter},
		"higher than what is allowed":          {margin(-0.1), "", compared(11.1, 10), wire.VerdictNotBetter},
		"lower, but not by the standard error": {margin(MarginAuto), "", noisy(9.6, 10, .5), wire.VerdictNotBetter},
		"lower by the standard error":          {margin(MarginAuto), "", noisy(9.5, 10, .5), wire.VerdictBetter},
		"as low, with noise":                   {margin(MarginAuto), "", noisy(10, 10, .5), wire.VerdictNotBetter},
		"all predictions alike":                {margin(MarginAuto), "", noisy(10, 10, 0), wire.VerdictBetter},
		"both without error":                   {margin(MarginAuto), "", noisy(0, 0, 0), wire.VerdictBetter},
		"lower, on a single row":               {margin(MarginAuto), "", compared(0, 100), wire.VerdictNotBetter},
		"below rounding": {
			margin(MarginAuto),
			"",
			squared(noisy(100, 100.000001, 1e-30)),
			wire.VerdictNotBetter,
		},
		"below rounding, without a margin": {better, "", squared(noisy(100, 100.000001, 1e-30)), wire.VerdictNotBetter},
		"as low below rounding":            {margin(MarginAuto), "", squared(noisy(100, 100, 1e-60)), wire.VerdictNotBetter},
		"squared losses alike":             {margin(MarginAuto), "", squared(noisy(100, 100, 0)), wire.VerdictBetter},
		"above rounding": {
			margin(MarginAuto),
			"",
			squared(noisy(100, 100.01, 1e-3)),
			wire.VerdictBetter,
		},
		"as low by noise, pinned until beaten": {
			margin(MarginAuto),
			wire.PinBeaten,
			noisy(9.9, 10, .5),
			wire.VerdictPinned,
		},
		"not comparable":                          {better, "", unknown, wire.VerdictUnopposed},
		"higher, always":                          {always, "", compared(99, 10), wire.VerdictAlways},
		"higher, the other set is not in use":     {better, "", across(compared(99, 10)), wire.VerdictNewSet},
		"unknown, the other set is not in use":    {better, "", across(unknown), wire.VerdictNewSet},
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

// A challenger whose error overflows does not replace a model that has one.
func TestCompareRefusesAnErrorThatIsNoNumber(t *testing.T) {
	set := featureSet(t, stagestest.Regression, stagestest.Events(t, stagestest.Regression, 400, 41, stagestest.Faults{}))
	events := []arrow.Record{stagestest.Events(t, stagestest.Regression, 400, 42, stagestest.Faults{})}
	trainer := train(t, set, trainConfig(), featureMessages(t, set, events, whole))
	incumbent := solve(t, trainer)
	ruined := solve(t, trainer)
	for i := range ruined.Judged.Theta {
		ruined.Judged.Theta[i] = 1e300
	}
	var j wire.Judgement
	if err := trainer.compare(&j, ruined, incumbent); !errors.Is(err, errNotMeasurable) {
		t.Errorf("%v, %+v", err, j)
	}
	if err := trainer.compare(&j, incumbent, ruined); err == nil || errors.Is(err, errNotMeasurable) {
		t.Errorf("%v, %+v", err, j)
	}
}

// Both models are measured on the rows that both splits hold out, with weights that have not seen
// them.
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
		if err := trainer.compare(&j, challenger, incumbent); err != nil || !j.Compared() {
			t.Fatalf("%s: %+v, %v", task, j, err)
		}

		rows, others := trainingRows(t, set, now, messages), trainingRows(t, set, before, messages)
		var both []trainingRow
		for i, r := range rows {
			if r.held && others[i].held {
				both = append(both, r)
			}
		}
		if j.Rows != int64(len(both)) || len(both) < 50 {
			t.Errorf("%s: %d rows, want %d", task, j.Rows, len(both))
		}
		for name, c := range map[string]struct {
			model *wire.Model
			have  float64
		}{"challenger": {challenger, *j.ChallengerError}, "incumbent": {incumbent, *j.IncumbentError}} {
			near(t, task+": error of the "+name, c.have, naiveError(both, set.Task, codedModel(set, c.model.Judged)), 1e-3)
		}
		if j.Measure != map[bool]string{
			true:  training.MeasureUnexplainedVariance,
			false: training.MeasureMisclassification, // the squared loss has no probabilities
		}[task == stagestest.Regression] {
			t.Errorf("%s by %s", task, j.Measure)
		}
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
		"an incumbent that was fitted on all those rows": {model, &foreign},
	} {
		var j wire.Judgement
		if err := trainer.compare(&j, c[0], c[1]); err == nil || j.Compared() {
			t.Errorf("%s: %+v", name, j)
		}
	}
}

// A model with an infinite margin could not be published.
func TestMarginOfATinyErrorIsFinite(t *testing.T) {
	tiny, noise := math.SmallestNonzeroFloat64, 1.0
	j := &wire.Judgement{ChallengerError: &noise, IncumbentError: &tiny, StandardError: &noise}
	if settleMargin(MarginAuto, j); math.IsInf(j.Margin, 0) || beats(j) {
		t.Errorf("margin %v", j.Margin)
	}
}
