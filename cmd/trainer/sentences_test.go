package main

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/stages/live"
	"github.com/eerf-stream/eerf/training"
)

// shown returns the number after some words in a text.
func shown(t *testing.T, text, words string) float64 {
	t.Helper()
	found := regexp.MustCompile(regexp.QuoteMeta(words) + ` ?([-+0-9.,e]*[0-9])`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no number after %q in %q", words, text)
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(found[1], ",", ""), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// nearlyEqual returns two numbers of any size that are often nearly or exactly equal.
func nearlyEqual(r *rand.Rand) (a, b float64) {
	a = math.Exp(4*r.NormFloat64() - 2)
	b = a * (1 + math.Pow(10, -9*r.Float64())*r.NormFloat64())
	if r.IntN(10) == 0 {
		b = a
	}
	return a, max(b, 0)
}

// A live error that is worse than promised is a larger number, in the measure that the sentence
// names, also after rounding.
func TestWorseThanPromisedIsALargerNumber(t *testing.T) {
	wrong := 0
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 2))
		loss, promised := nearlyEqual(r)
		percent, promisedPercent := nearlyEqual(r)
		f := &live.Figures{Rows: 1024, Loss: loss, Promised: &promised, Error: percent, PromisedError: &promisedPercent,
			Measure: []string{wire.LiveLogLoss, wire.LiveSquaredError, wire.LiveMisclassification}[seed%3]}
		excess := 4.0
		report := live.Report{
			State:         live.Wrong,
			Short:         f,
			Excess:        &excess,
			ExcessMeasure: f.Measure,
			WrongSince:    time.Unix(0, 0),
		}
		words := map[string]string{wire.LiveLogLoss: "log loss", wire.LiveSquaredError: "squared error"}[f.Measure]
		worse := loss > promised
		if f.Measure == wire.LiveMisclassification || f.Measure == wire.LiveLogLoss && seed%2 == 0 {
			report.ExcessMeasure = wire.LiveMisclassification
			words = ""
			worse = percent > promisedPercent
		}
		if !worse {
			continue
		}
		wrong++
		text := liveText(report)
		mine, other, _ := strings.Cut(text, "; promised ")
		if words == "" { // the number before "% wrong"
			before := regexp.MustCompile(`([-+0-9.e]+) % wrong`)
			mine, other = "x "+before.FindStringSubmatch(mine)[1], "x "+before.FindStringSubmatch(other)[1]
			words = "x"
		}
		if a, b := shown(t, mine, words), shown(t, other, words); !(a > b) {
			t.Fatalf("%d: %s", seed, text)
		}
		if name := training.MeasureTitle(report.ExcessMeasure); !strings.Contains(text, ", "+name+" by 4.0 standard errors") {
			t.Fatalf("%d: the measure %s is not named: %s", seed, name, text)
		}
	}
	if wrong < 1000 {
		t.Errorf("only %d reports are worse", wrong)
	}
}

// A model that "beat the incumbent" shows a smaller number, and a verdict without a smaller number
// does not say so.
func TestBeatIsASmallerNumber(t *testing.T) {
	beaten := 0
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 3))
		a, b := nearlyEqual(r)
		j := &wire.Judgement{
			Verdict:         wire.VerdictBetter,
			Rows:            100,
			ChallengerError: &a,
			IncumbentError:  &b,
			Measure:         []string{training.MeasureLogLoss, training.MeasureUnexplainedVariance}[seed%2],
		}
		_, compared, _ := errorsOf(wire.Metrics{}, j)
		one, other, _ := strings.Cut(compared, " vs ")
		says := strings.Contains(verdictText(j), "beat the incumbent")
		if says != (a < b) {
			t.Fatalf("%d: %q of errors %v and %v", seed, verdictText(j), a, b)
		}
		if !says {
			continue
		}
		beaten++
		if x, y := shown(t, "x "+one, "x"), shown(t, "x "+other, "x"); !(x < y) {
			t.Fatalf("%d: %q next to %q", seed, verdictText(j), compared)
		}
	}
	if beaten < 1000 {
		t.Errorf("only %d models beat another", beaten)
	}
}
