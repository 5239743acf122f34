package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/cmd/internal/demo"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/live"
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

// A minute after the relation changed, live errors are at most twice the earlier ones, with the
// settings of a stream, and the state is not "well" while they are higher.
func TestDemoFlipRecovers(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a stream of 220 simulated seconds")
	}
	var flipped demo.Flipped
	if err := json.Unmarshal([]byte(fz(t, "demo", "--flip", "--json").Want(t, cli.ExitOK).Out), &flipped); err != nil {
		t.Fatal(err)
	}
	before, after := flipped.At(0), flipped.At(40)
	if before == nil || after == nil || before.State != live.Well || *after.Error > 2**before.Error {
		t.Fatalf("before %+v, 40 seconds after %+v", before, after)
	}
	worst := 0.0
	for _, m := range flipped.Moments {
		if m.Error == nil { // no block yet
			continue
		}
		worst = max(worst, *m.Error)
		if m.Second >= 10 && m.State == live.Well && *m.Error > 2**before.Error {
			t.Errorf("after %d seconds the state is well, with %.2f %% instead of %.2f", m.Second, *m.Error, *before.Error)
		}
	}
	if worst < 100 {
		t.Errorf("the largest error is %.1f %%: the relation has not changed", worst)
	}
}

// reconciles fails the test unless the rows of a demo add up.
func reconciles(t *testing.T, o clitest.Object) {
	t.Helper()
	rows := func(name string) float64 { return o.Number(t, "rows."+name) }
	if in := rows("scored") + rows("not_sampled") + rows("unlabelled") + rows("rejected"); rows("rows") != in || in == 0 {
		t.Errorf("rows in are not the sum of the others: %v", o.At(t, "rows"))
	}
	if rows("scored") != o.Number(t, "exploration.sample_rows") {
		t.Errorf("%v rows scored, a sample of %v", rows("scored"), o.Number(t, "exploration.sample_rows"))
	}
}

func TestDemo(t *testing.T) {
	emptyTemp(t)
	o := fz(t, "demo", "--json", "--rows", "8000").Want(t, cli.ExitOK).Object(t)
	reconciles(t, o)
	for _, part := range append(stages.Names(), "produce") {
		o.Number(t, "seconds."+string(part))
	}
	if c := o.Number(t, "model.constant_error"); c != 100 { // the variance left by the mean
		t.Errorf("constant error %v", c)
	}
	rejected := o.Number(t, "rows.rejected")
	in, test := o.Number(t, "rows.rows"), o.Number(t, "model.test.rows")
	if rejected != 0 || in+test != 8000 {
		t.Errorf("%v rejected, %v in, %v for testing", rejected, in, test)
	}
	selected, plain := o.Number(t, "model.error"), o.Number(t, "model.baseline_error")
	t.Logf("unexplained variance: %.1f %% with selected features, %.1f %% with plain ones", selected, plain)
	if selected > 0.6*plain {
		t.Errorf("selected features: %.2f %% unexplained, plain ones %.2f %%", selected, plain)
	}
}

func TestDemoKeepsData(t *testing.T) {
	emptyTemp(t)
	dir := filepath.Join(t.TempDir(), "kept")
	r := fz(t, "demo", "--keep", dir, "--rows", "2000", "--features", "20", "--criterion", "correlation").
		Want(t, cli.ExitOK)
	if !strings.Contains(r.Out, dir) {
		t.Errorf("does not name the data folder:\n%s", r.Out)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) == 0 {
		t.Errorf("%v, %v", left, err)
	}
	fz(t, "demo", "--keep", dir).Want(t, cli.ExitUsage, "not empty")
}

func TestDemoOnFileWithStringsAndNulls(t *testing.T) {
	emptyTemp(t)
	data := clitest.File(t, "rows.csv", clitest.Mixed(1500))
	o := fz(t, "demo", "--json", "--data", data, "--label", "churned", "--features", "20", "--sample", "1").
		Want(t, cli.ExitOK).Object(t)
	reconciles(t, o)
	if o.Text(t, "model.loss") != "logistic" ||
		!(o.Number(t, "model.test.log_loss") < o.Number(t, "model.test.constant_log_loss")) {
		t.Errorf("default loss of classes is %s: %v", o.Text(t, "model.loss"), o.At(t, "model.test"))
	}
	if o.Text(t, "model.metric") != "misclassification" ||
		o.Number(t, "model.error") >= o.Number(t, "model.constant_error") {
		t.Errorf("%v", o.At(t, "model"))
	}
}
