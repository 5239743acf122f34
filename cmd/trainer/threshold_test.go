package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// clicks returns a CSV file with a rare class whose probability depends on x.
func clicks(rows int) string {
	var b strings.Builder
	b.WriteString("x,z,clicked\n")
	rng := rand.New(rand.NewPCG(5, 6))
	for range rows {
		x, z, clicked := 10*rng.Float64(), rng.Float64(), "no"
		p := 0.02
		if math.Sin(1.5*x) > 0 && z > 0.3 {
			p = 0.38
		}
		if rng.Float64() < p {
			clicked = "yes"
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%s\n", x, z, clicked)
	}
	return b.String()
}

// Fit shows what thresholds do, predict decides by one, and the model stays the same.
func TestThresholdDecidesBetweenTwoClasses(t *testing.T) {
	data := clitest.File(t, "clicks.csv", clicks(3000))
	quick := with(fewer, "--label", "clicked")
	model, plain := fitted(t, data, quick...)
	_, at := fitted(t, data, with(quick, "--cost", "1:5")...)
	if a, b := plain.Text(t, "model.id"), at.Text(t, "model.id"); a != b {
		t.Errorf("the threshold changes the model: %s, %s", a, b)
	}
	text := tr(t, append([]string{"fit", "--data", data, "--out", filepath.Join(t.TempDir(), "m.arrow"), "--cost", "1:5"},
		quick...)...).Want(t, cli.ExitOK).Out
	for _, want := range []string{
		"predict yes above a probability of", "precision", "recall", "cost 1:5 per 100 rows", "0.1667", "chosen",
		"predictions.csv --cost 1:5",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for _, args := range [][]string{nil, {"--threshold", "0.1"}, {"--cost", "1:5"}} {
		threshold := 0.5
		if args != nil {
			threshold = map[string]float64{"0.1": 0.1, "1:5": 1. / 6}[args[1]]
		}
		columns := predicted(t, model, data, args...)
		p := numbers(t, columns["probabilities_yes"])
		for i, class := range columns["prediction"] {
			if (class == "yes") != (p[i] > threshold) {
				t.Fatalf("%v: row %d is %s with probability %v", args, i, class, p[i])
			}
		}
		if args != nil && !slices.Contains(columns["prediction"], "yes") {
			t.Errorf("%v: no row is predicted as yes", args)
		}
	}
}

// with returns arguments followed by others.
func with(args []string, more ...string) []string { return slices.Concat(args, more) }

func TestThresholdsThatCannotDecideAreRefused(t *testing.T) {
	data := clitest.File(t, "clicks.csv", clicks(1000))
	quick := with(fewer, "--label", "clicked")
	model, _ := fitted(t, data, quick...)
	predict := []string{"predict", "--model", model, "--data", data, "--out", filepath.Join(t.TempDir(), "p.csv")}
	houses := clitest.File(t, "prices.csv", prices(400))
	price, _ := fitted(t, houses, with(fewer, "--label", "price")...)
	squared, _ := fitted(t, data, with(quick, "--loss", "squared")...)
	for _, c := range []struct {
		args []string
		exit int
		want string
	}{
		{with(predict, "--threshold", "1.5"), cli.ExitUsage, "above 0 and below 1"},
		{with(predict, "--threshold", "0"), cli.ExitUsage, "above 0 and below 1"},
		{with(predict, "--cost", "5"), cli.ExitUsage, "FALSE_POSITIVE:FALSE_NEGATIVE"},
		{with(predict, "--cost", "1:5", "--threshold", "0.2"), cli.ExitUsage, "only one of the two"},
		{[]string{"predict", "--model", price, "--data", houses, "--out", filepath.Join(t.TempDir(), "p.csv"),
			"--threshold", "0.2"}, cli.ExitFailure, "the label is a number"},
		{[]string{"predict", "--model", squared, "--data", data, "--out", filepath.Join(t.TempDir(), "p.csv"),
			"--threshold", "0.2"}, cli.ExitFailure, "has no probabilities"},
		{append([]string{"fit", "--data", houses, "--label", "price", "--cost", "1:5"}, fewer...), cli.ExitFailure,
			"the label is a number"},
		{[]string{"export", "--model", price, "--onnx", filepath.Join(t.TempDir(), "p.onnx"), "--threshold", "0.2"},
			cli.ExitFailure, "the label is a number"},
	} {
		if err := tr(t, c.args...).Want(t, c.exit).Err; !strings.Contains(err, c.want) {
			t.Errorf("%v: %q is missing in %s", c.args, c.want, err)
		}
	}
}
