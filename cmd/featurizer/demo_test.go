package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/stages/meter"
)

// emptyTemp gives the test a directory for temporary files, which must be empty at the end.
func emptyTemp(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind in the directory of temporary files: %v, %v", left, err)
		}
	})
}

// reconciles fails the test unless the rows of a demo add up.
func reconciles(t *testing.T, o clitest.Object) {
	t.Helper()
	rows := func(name string) float64 { return o.Number(t, "rows."+name) }
	if in := rows("scored") + rows("not_sampled") + rows("unlabelled") + rows("rejected"); rows("in") != in || in == 0 {
		t.Errorf("rows in are not the sum of the others: %v", o.At(t, "rows"))
	}
	if rows("scored") != o.Number(t, "exploration.sample_rows") {
		t.Errorf("%v rows scored, a sample of %v", rows("scored"), o.Number(t, "exploration.sample_rows"))
	}
}

func TestDemo(t *testing.T) {
	emptyTemp(t)
	o := fz(t, "demo", "--json", "--rows", "20000").Want(t, cli.ExitOK).Object(t)
	reconciles(t, o)
	for _, path := range []string{
		"rows.in", "rows.scored", "rows.not_sampled", "rows.unlabelled", "rows.rejected", "rows.test",
		"exploration.candidates", "exploration.features", "exploration.sample_rows", "exploration.sigma",
		"exploration.confidence_radius", "model.lambda", "model.error", "model.baseline_error",
	} {
		o.Number(t, path)
	}
	for _, path := range []string{"exploration.id", "exploration.criterion", "feature_set.id", "model.loss", "model.metric"} {
		o.Text(t, path)
	}
	for _, part := range append(meter.Stages(), "produce") {
		o.Number(t, "seconds."+part)
	}
	if c := o.Number(t, "model.constant_error"); c != 100 { // the variance left by the mean
		t.Errorf("constant error %v", c)
	}
	if rejected, in, test := o.Number(t, "rows.rejected"), o.Number(t, "rows.in"), o.Number(t, "rows.test"); rejected != 0 || in+test != 20000 {
		t.Errorf("%v rejected, %v in, %v for testing", rejected, in, test)
	}
	selected, plain := o.Number(t, "model.error"), o.Number(t, "model.baseline_error")
	t.Logf("unexplained variance: %.1f %% with selected features, %.1f %% with plain ones", selected, plain)
	if selected > 0.6*plain {
		t.Errorf("selected features: %.2f %% unexplained, plain ones %.2f %%", selected, plain)
	}
	kept, drawn := 0.0, 0.0
	for _, planted := range o.At(t, "spectrum").([]any) {
		kept += planted.(map[string]any)["kept_within_1"].(float64)
		drawn += planted.(map[string]any)["plain_within_1"].(float64)
	}
	if kept < 3*(drawn+1) {
		t.Errorf("%v kept features are near the planted frequencies, %v plain ones", kept, drawn)
	}
}

func TestDemoAnswersTheSameEveryTime(t *testing.T) {
	emptyTemp(t)
	args := []string{"demo", "--json", "--rows", "4000", "--features", "20", "--candidates", "100"}
	first, second := fz(t, args...).Want(t, cli.ExitOK).Object(t), fz(t, args...).Want(t, cli.ExitOK).Object(t)
	if a, b := first.Text(t, "feature_set.id"), second.Text(t, "feature_set.id"); a != b {
		t.Errorf("feature sets %s and %s", a, b)
	}
	if a, b := first.Number(t, "model.error"), second.Number(t, "model.error"); a != b {
		t.Errorf("errors %v and %v", a, b)
	}
	other := fz(t, append(args, "--seed", "2")...).Want(t, cli.ExitOK).Object(t)
	if other.Text(t, "feature_set.id") == first.Text(t, "feature_set.id") {
		t.Error("the seed changes nothing")
	}
}

func TestDemoPrintsForPeople(t *testing.T) {
	emptyTemp(t)
	r := fz(t, "demo", "--criterion", "residual", "--rows", "2000", "--features", "20", "--candidates", "100").Want(t, cli.ExitOK)
	mustSay(t, r.Out, "rows in", "not sampled", "bandwidth σ", "candidates M0", "features kept M", "by residual", "noise level",
		"with selected features", "plain random features", "rows/s", "frequencies", "Next:")
	if r.Err != "" {
		t.Errorf("standard error %q", r.Err)
	}
}

func mustSay(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("lacks %q:\n%s", text, out)
		}
	}
}

func TestDemoLogsOnlyWhenAsked(t *testing.T) {
	emptyTemp(t)
	r := fz(t, "demo", "--verbose", "--json", "--rows", "2000", "--features", "20").Want(t, cli.ExitOK, "feature set published")
	r.Object(t)
}

func TestDemoKeepsWhatItIsAskedFor(t *testing.T) {
	emptyTemp(t)
	dir := filepath.Join(t.TempDir(), "kept")
	r := fz(t, "demo", "--keep", dir, "--rows", "2000", "--features", "20").Want(t, cli.ExitOK)
	if !strings.Contains(r.Out, dir) {
		t.Errorf("does not say where the data are:\n%s", r.Out)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) == 0 {
		t.Errorf("%v, %v", left, err)
	}
	fz(t, "demo", "--keep", dir).Want(t, cli.ExitUsage, "not empty")
}

func TestDemoOnAFileWithStringsAndNulls(t *testing.T) {
	emptyTemp(t)
	data := clitest.File(t, "rows.csv", clitest.Mixed(3000))
	o := fz(t, "demo", "--json", "--data", data, "--label", "churned", "--features", "40", "--sample", "1").Want(t, cli.ExitOK).Object(t)
	reconciles(t, o)
	if o.Text(t, "model.loss") != "logistic" || !(o.Number(t, "model.test.log_loss") < o.Number(t, "model.test.constant_log_loss")) {
		t.Errorf("by default classes are trained with %s loss: %v", o.Text(t, "model.loss"), o.At(t, "model.test"))
	}
	if o.Text(t, "model.metric") != "misclassification" || o.Number(t, "model.error") >= o.Number(t, "model.constant_error") {
		t.Errorf("%v", o.At(t, "model"))
	}
}

func TestDemoSaysWhatIsWrongWithTheData(t *testing.T) {
	emptyTemp(t)
	constant := clitest.File(t, "constant.csv", "x,y\n"+strings.Repeat("1,2\n2,2\n3,2\n", 200))
	fz(t, "demo", "--data", constant, "--label", "y").Want(t, cli.ExitFailure, `label "y" has one value (2)`)
	header := clitest.File(t, "header.csv", "x,y\n")
	fz(t, "demo", "--data", header, "--label", "y").Want(t, cli.ExitFailure, "no rows")
}
