package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// rareRows returns a CSV file of 1,000 rows of two classes, and 15 rows of each of 40 others.
func rareRows() string {
	r := rand.New(rand.NewPCG(1, 9))
	var lines []string
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf("%.4f,%.4f,common%d", 3*float64(i%2)+r.NormFloat64()/2, r.NormFloat64(), i%2))
	}
	for k := range 40 {
		for range 15 {
			class := fmt.Sprintf("rare%02d", k)
			if k == 0 {
				class = " Common1."
			}
			lines = append(lines, fmt.Sprintf("%.4f,%.4f,%s", 3*float64(k%2)+r.NormFloat64()/2, r.NormFloat64(), class))
		}
	}
	r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	return "a,b,y\n" + strings.Join(lines, "\n") + "\n"
}

// Rows of classes that are too rare to be learned count as wrong and are named, in text and in
// JSON.
func TestFitCountsClassesThatAreNotLearned(t *testing.T) {
	args := []string{"fit", "--data", clitest.File(t, "rows.csv", rareRows()), "--label", "y",
		"--features", "12", "--refine-steps", "2"}
	o := tr(t, append(args, "--json")...).Want(t, cli.ExitOK).Object(t)
	if o.Number(t, "rows.unseen_class") != 600 || o.Number(t, "rows.trained") != 1000 ||
		o.Number(t, "rows.unlabelled") != 0 {
		t.Errorf("rows %v", o.At(t, "rows"))
	}
	const share = 100 * 600. / 1600
	if wrong := o.Number(t, "model.metrics.misclassification"); math.Abs(wrong-share) > 6 {
		t.Errorf("%.1f %% wrong, and %.1f %% of the rows are of other classes", wrong, share)
	}
	if n := o.Number(t, "model.metrics.unknown_class_rows"); n < 90 || n > 150 {
		t.Errorf("%v held-out rows of other classes", n)
	}
	if classes := fmt.Sprint(o.At(t, "rows.unseen_classes")); !strings.Contains(classes, "rare07") {
		t.Errorf("classes %s", classes)
	}
	out := words(tr(t, args...).Want(t, cli.ExitOK).Out)
	for _, text := range []string{
		"1600 rows: 1000 to train on, 600 of classes that are not learned, 0 unlabelled",
		"of these rows, counted as wrong",
		`600 rows have a class that was too rare in the explored rows or absent from them: "`,
		`differs from class "common1" only in blanks, case or a final period`,
		"misclassification 40.00 %, a constant has 70.00 %", // the headline: a log loss lacks these rows
	} {
		if !strings.Contains(out, text) {
			t.Errorf("lacks %q:\n%s", text, out)
		}
	}
	if strings.Contains(out, "with fewer than 20 rows") {
		t.Errorf("the explored rows have other counts than the file:\n%s", out)
	}
}

// Test rows of classes that are too rare to be learned, or that no training row has, are errors of
// every method.
func TestCompareCountsClassesThatAreNotLearned(t *testing.T) {
	args := []string{"compare", "--data", clitest.File(t, "rows.csv", rareRows()), "--label", "y", "--features", "12",
		"--methods", "plain", "--repeats", "2"}
	o := tr(t, append(args, "--json")...).Want(t, cli.ExitOK).Object(t)
	test, unknown := o.Number(t, "data.test_rows"), o.Number(t, "data.unknown_class_test_rows")
	if o.Number(t, "data.unknown_class") != 600 || unknown < 100 {
		t.Errorf("data %v", o.At(t, "data"))
	}
	first := o.At(t, "runs").([]any)[0].(map[string]any)["measures"].(map[string]any)
	if wrong := first["misclassification"].(float64); wrong < 100*unknown/(unknown+test) ||
		wrong > 100*unknown/(unknown+test)+5 {
		t.Errorf("%.1f %% wrong; %v of %v test rows are of classes that are not learned", wrong, unknown, unknown+test)
	}
	out := words(tr(t, append(args, "--measure", "misclassification")...).Want(t, cli.ExitOK).Out)
	for _, text := range []string{
		"unusable rows: 600 of classes that are not learned",
		fmt.Sprintf("%v of %v test rows have a class that is not learned", unknown, unknown+test),
		"600 rows of classes with fewer than 20 rows teach nothing and count as errors",
	} {
		if !strings.Contains(out, text) {
			t.Errorf("lacks %q:\n%s", text, out)
		}
	}
	if strings.Contains(out, "is not among") {
		t.Errorf("two notes on the same rows:\n%s", out)
	}
	header, rows, _ := strings.Cut(rareRows(), "\n")
	late := header + "\n" + rows + strings.Repeat("1,0.5,late\n", 30)
	args[2] = clitest.File(t, "late.csv", late)
	out = words(tr(t, append(args, "--split", "time", "--test-fraction", "0.1")...).Want(t, cli.ExitOK).Out)
	if !strings.Contains(out, `every prediction for them is wrong: "late" in 30 rows`) {
		t.Error(out)
	}
}

// healthyRows returns a CSV file of 600 rows with the classes None, Apnea and Insomnia, and a
// number that tells them apart. The column city has the word None too.
func healthyRows() string {
	r := rand.New(rand.NewPCG(3, 9))
	lines := []string{"a,city,y"}
	for range 600 {
		k := r.IntN(4)
		lines = append(lines, fmt.Sprintf("%.4f,%s,%s", 3*float64(k)+r.NormFloat64()/2,
			[]string{"Rome", "None"}[r.IntN(2)], []string{"None", "Apnea", "None", "Insomnia"}[k]))
	}
	return strings.Join(append(lines, "1,Rome,NA", "2,Rome,NA", "3,Rome,"), "\n") + "\n"
}

// A word for missing values is a class of the label if enough rows have it beside other classes,
// for every command, and where a model is used. --null-values overrules.
func TestWordForMissingValuesIsAClass(t *testing.T) {
	data := clitest.File(t, "rows.csv", healthyRows())
	args := []string{"fit", "--data", data, "--label", "y", "--features", "8", "--refine-steps", "2"}
	model, o := fitted(t, data, args[3:]...)
	if o.Number(t, "rows.unlabelled") != 3 || o.Number(t, "model.metrics.misclassification") > 10 {
		t.Errorf("rows %v, %v %% wrong", o.At(t, "rows"), o.At(t, "model.metrics.misclassification"))
	}
	if y := predicted(t, model, data)["prediction"]; !slices.Contains(y, "None") || !slices.Contains(y, "Apnea") {
		t.Error("None is never predicted")
	}
	compare := []string{"compare", "--data", data, "--label", "y", "--features", "8", "--repeats", "2",
		"--methods", "plain"}
	for _, args := range [][]string{args, compare} {
		out := words(tr(t, args...).Want(t, cli.ExitOK).Out)
		if !strings.Contains(out, `label y: "None" in `) || strings.Contains(out, `"NA" in 2 rows`) {
			t.Errorf("no note on the class:\n%s", out)
		}
		args = append(args, "--null-values", "None,NA,")
		if out := words(tr(t, args...).Want(t, cli.ExitOK).Out); strings.Contains(out, `label y:`) {
			t.Errorf("None is a class, although --null-values has it:\n%s", out)
		}
	}
	o = tr(t, append(args, "--null-values", "None,NA,", "--json")...).Want(t, cli.ExitOK).Object(t)
	if n := o.Number(t, "rows.unlabelled"); n < 200 {
		t.Errorf("%v rows without a label, although --null-values has None", n)
	}
	given := tr(t, "fit", "--data", data, "--feature-set", model, "--json").Want(t, cli.ExitOK).Object(t)
	if given.Number(t, "rows.unlabelled") != 3 {
		t.Errorf("with the set given: rows %v", given.At(t, "rows"))
	}
}
