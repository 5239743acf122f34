package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// fewer are flags of a quick exploration.
var fewer = []string{"--features", "24", "--candidates", "96", "--criterion", "correlation"}

// prices returns a CSV file with a price that is nonlinear in the age.
func prices(rows int) string {
	var b strings.Builder
	b.WriteString("house,age,size,street,price\n")
	for i := range rows {
		age, size, street := i*7%100, 40+i*31%160, []string{"12", "14b", "3"}[i*5%3]
		price := 1000*(100+60*math.Sin(float64(age)/12)) + 900*float64(size)
		if street == "3" {
			price += 20_000
		}
		fmt.Fprintf(&b, "h%d,%d,%d,%s,%.2f\n", i, age, size, street, price)
	}
	return b.String()
}

// fitted fits a model to a file and returns its path.
func fitted(t *testing.T, data string, args ...string) (model string, summary clitest.Object) {
	t.Helper()
	model = filepath.Join(t.TempDir(), "model.arrow")
	args = slices.Concat([]string{"fit", "--data", data, "--out", model, "--json"}, args)
	return model, tr(t, args...).Want(t, cli.ExitOK).Object(t)
}

// predicted predicts from a file and returns the lines of the CSV file by column.
func predicted(t *testing.T, model, data string, args ...string) map[string][]string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "predictions.csv")
	tr(t, slices.Concat([]string{"predict", "--model", model, "--data", data, "--out", out}, args)...).Want(t, cli.ExitOK)
	file, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string][]string{}
	for i, name := range lines[0] {
		for _, line := range lines[1:] {
			columns[name] = append(columns[name], line[i])
		}
	}
	return columns
}

func numbers(t *testing.T, texts []string) []float64 {
	t.Helper()
	values := make([]float64, len(texts))
	for i, text := range texts {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		values[i] = v
	}
	return values
}

// From a file to predictions: classes with their probabilities.
func TestFilesOfClasses(t *testing.T) {
	const rows = 3000
	data := clitest.File(t, "rows.csv", clitest.Mixed(rows))
	model, summary := fitted(t, data, slices.Concat(fewer, []string{"--label", "churned", "--loss", "logistic"})...)
	if summary.Text(t, "feature_set.source") != data || summary.Number(t, "rows.trained") != rows {
		t.Errorf("%v", summary)
	}
	columns := predicted(t, model, data, "--passthrough", "age")
	wrong := 0.0
	no, yes := numbers(t, columns["probabilities_false"]), numbers(t, columns["probabilities_true"])
	for i, label := range columns["churned"] {
		class := columns["prediction"][i]
		if class != label {
			wrong++
		}
		if math.Abs(no[i]+yes[i]-1) > 1e-6 || (yes[i] > 0.5) != (class == "true") || columns["row"][i] != strconv.Itoa(i) {
			t.Fatalf("row %s is %s with %v and %v", columns["row"][i], class, no[i], yes[i])
		}
	}
	if share := 100 * wrong / rows; len(no) != rows || len(columns["age"]) != rows ||
		share >= summary.Number(t, "model.metrics.constant_error")/2 {
		t.Errorf("%d predictions, %.1f %% wrong; %v", len(no), share, summary.At(t, "model.metrics"))
	}
}

// Predictions are in the units of the label. Rows to predict from need no label, and house numbers
// stay text.
func TestFilesOfNumbers(t *testing.T) {
	const rows = 3000
	data := clitest.File(t, "rows.csv", prices(rows))
	model, summary := fitted(t, data,
		slices.Concat(fewer, []string{"--label", "price", "--sample", "0.5", "--passthrough", "house"})...)
	unexplained := summary.Number(t, "model.metrics.unexplained_variance")
	if unexplained > 30 || summary.Number(t, "feature_set.columns") != 3 {
		t.Errorf("%v", summary)
	}
	var bare strings.Builder
	bare.WriteString("house,street,age,size\n")
	for i := range 200 {
		fmt.Fprintf(&bare, "new%d,3,%d,%d\n", i, i%100, 60+i%100)
	}
	columns := predicted(t, model, clitest.File(t, "new.csv", bare.String()))
	if _, has := columns["price"]; has || len(columns["house"]) != 200 || columns["house"][7] != "new7" {
		t.Fatalf("columns %v", columns)
	}
	sum := 0.0
	for i, v := range numbers(t, columns["prediction"]) {
		want := 1000*(100+60*math.Sin(float64(i%100)/12)) + 900*float64(60+i%100) + 20_000
		sum += math.Abs(v - want)
	}
	if mean := sum / 200; mean > 25_000 {
		t.Errorf("predictions are off by %.0f", mean)
	}
}

// The advice of compare for linear relations works with defaults for other maps.
func TestFitOfALinearModel(t *testing.T) {
	data := clitest.File(t, "rows.csv", prices(1500))
	_, summary := fitted(t, data, "--label", "price", "--map", "linear", "--clip", "0")
	if n := summary.Number(t, "feature_set.features"); n < 1 || n > summary.Number(t, "feature_set.dim") {
		t.Errorf("%v", summary)
	}
}

// The set of an earlier exploration is accepted; other columns are refused.
func TestFitUsesAFeatureSet(t *testing.T) {
	data := clitest.File(t, "rows.csv", clitest.Mixed(2000))
	model, first := fitted(t, data, slices.Concat(fewer, []string{"--label", "churned"})...)
	other, again := fitted(t, data, "--feature-set", model) // a model's file has its set
	if first.Text(t, "model.id") != again.Text(t, "model.id") {
		t.Errorf("model %s, with the set given %s", first.Text(t, "model.id"), again.Text(t, "model.id"))
	}
	if a, b := predicted(t, model,
		data), predicted(t, other, data, "--feature-set", model); !slices.Equal(a["prediction"], b["prediction"]) {
		t.Error("predictions differ")
	}
	tr(t, "fit", "--data", data, "--feature-set", model, "--label", "churned", "--seed", "3").Want(t, cli.ExitUsage,
		"--label, --seed", "already explored")
	numbers := clitest.File(t, "prices.csv", prices(300))
	tr(t, "fit", "--data", numbers, "--feature-set", model).Want(t, cli.ExitFailure, "prices.csv",
		`the label, column "churned", is missing`)
	tr(t, "predict", "--model", model, "--data", numbers, "--out", "x.csv").Want(t, cli.ExitFailure,
		"prices.csv does not fit the model", `column "city" is missing`)
	kinds := clitest.File(t, "kinds.csv",
		"age,city,member,income,churned\nold,Rome,true,900,true\nyoung,Oslo,false,1000,false\n")
	tr(t, "predict", "--model", model, "--data", kinds, "--out", "x.csv").Want(t, cli.ExitFailure,
		"kinds.csv does not fit the model", `column "age" is utf8, want numeric`)
	regression, _ := fitted(t, numbers, slices.Concat(fewer, []string{"--label", "price"})...)
	tr(t, "predict", "--model", model, "--feature-set", regression, "--data", data, "--out", "x.csv").
		Want(t, cli.ExitFailure, "the model is of another feature set")
}

// Few rows reveal little about types, so columns keep the types of the model.
func TestPredictKeepsTheColumnTypesOfTheModel(t *testing.T) {
	model, _ := fitted(t, clitest.File(t, "rows.csv", prices(600)), "--label", "price", "--features", "8",
		"--refine-steps", "0")
	few := clitest.File(t, "few.csv", "house,age,size,street\nh1,,50,Lane\nh2,,-,Lane\nh3,,70,Road\n")
	done := tr(t, "predict", "--model", model, "--data", few, "--out", filepath.Join(t.TempDir(), "p.csv")).Want(t,
		cli.ExitOK)
	for _, want := range []string{"3 predictions", "size: missing and imputed in 33 %"} {
		if !strings.Contains(done.Out, want) {
			t.Errorf("predict does not say %q: %s", want, done.Out)
		}
	}
}

func TestFitOfAFileDescribesTheModel(t *testing.T) {
	data := clitest.File(t, "rows.csv", prices(1200))
	done := tr(t, "fit", "--data", data, "--label", "price", "--features", "12", "--refine-steps", "4").Want(t, cli.ExitOK)
	for _, want := range []string{
		"left out: house",
		"12 features of 3 columns for regression [price]",
		"1200 rows: 1200 to train on",
		"unexplained variance",
		"chosen by adaptive on 960 rows",
		"240 held-out rows that taught nothing: 20 % of the rows, by hash of content",
		"add --out model.arrow",
	} {
		if !strings.Contains(done.Out, want) {
			t.Errorf("fit does not say %q:\n%s", want, done.Out)
		}
	}
}

func TestUnusableFilesAreRefused(t *testing.T) {
	data := clitest.File(t, "rows.csv", clitest.Mixed(300))
	model, _ := fitted(t, data, slices.Concat(fewer, []string{"--label", "churned"})...)
	content, err := os.ReadFile(model)
	if err != nil {
		t.Fatal(err)
	}
	cut := clitest.File(t, "cut.arrow", string(content[:len(content)-300]))
	text := clitest.File(t, "text.arrow", "no model\n")
	absent, quick := filepath.Join(t.TempDir(), "absent", "model.arrow"), " "+strings.Join(fewer, " ")
	for args, c := range map[string]struct {
		code int
		says []string
	}{
		"fit --data " + data: {cli.ExitUsage, []string{"--label is required"}},
		"fit --data " + data + " --label churned --out " + absent + quick: {
			cli.ExitFailure,
			[]string{absent, "no such file"},
		},
		"fit --data " + data + " --label income --loss logistic" + quick: {
			cli.ExitFailure,
			[]string{"loss logistic needs classes"},
		},
		"fit --label churned --out " + absent: {
			cli.ExitUsage,
			[]string{"--label, --out needs --data"},
		},
		"fit --data " + data + " --feature-set " + text: {
			cli.ExitFailure,
			[]string{"text.arrow", "not an arrow stream"},
		},
		"fit --data " + data + " --label churned --timeout 1ns": {
			cli.ExitFailure,
			[]string{"gave up after 1ns"},
		},
		"predict --model " + model: {
			cli.ExitUsage,
			[]string{"--model, --data and --out are required"},
		},
		"predict --model " + cut + " --out x.csv --data " + data: {
			cli.ExitFailure,
			[]string{"cut.arrow", "truncated"},
		},
		"predict --model " + model + " --out predictions --data " + data: {
			cli.ExitUsage,
			[]string{"--out-format"},
		},
		"predict --model " + model + " --out " + absent + " --data " + data: {cli.ExitFailure, []string{absent}},
		"predict --model " + model + " --out x.csv --passthrough name --data " + data: {
			cli.ExitUsage,
			[]string{"--passthrough", `no column "name"`},
		},
	} {
		tr(t, strings.Fields(args)...).Want(t, c.code, c.says...)
	}
	if _, err := os.Stat("x.csv"); err == nil {
		t.Error("an output was left")
	}
}
