package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/cmd/internal/demo"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/train"
	"github.com/eerf-stream/eerf/training"
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

func TestDemoPrintsWhatWasLearned(t *testing.T) {
	emptyTemp(t)
	r := fz(t, "demo", "--criterion", "adaptive", "--rows", "2000", "--features", "20", "--candidates", "100").Want(t, cli.ExitOK)
	mustSay(t, r.Out, "learned from", "held-out rows", "its held-out loss", "contribution to the model", "step 4", "the set", "importance of columns")
	if strings.Contains(r.Out, "noise level") {
		t.Errorf("of learned features the demo speaks of noise:\n%s", r.Out)
	}
}

func TestDemoPrintsTheCutOffOfRankedCandidates(t *testing.T) {
	emptyTemp(t)
	r := fz(t, "demo", "--criterion", "correlation", "--rows", "2000", "--features", "20", "--candidates", "100").Want(t, cli.ExitOK)
	mustSay(t, r.Out, "by correlation", "(best)", "(cut-off)")
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

// A demo samples about as many rows as configured, or all if there are fewer.
func TestDemoSamplesAsManyRowsAsAreSet(t *testing.T) {
	emptyTemp(t)
	path := clitest.File(t, "eerf.yaml", "exploration: {sample_rows: 400, sample_rate: auto}\n")
	o := fz(t, "demo", "--json", "-c", path, "--rows", "2000", "--rows-per-message", "50", "--features", "20").Want(t, cli.ExitOK).Object(t)
	if scored := o.Number(t, "rows.scored"); scored < 300 || scored > 500 {
		t.Errorf("%v rows scored", scored)
	}
	o = fz(t, "demo", "--json", "-c", path, "--rows", "300", "--features", "20").Want(t, cli.ExitOK).Object(t)
	if scored, in := o.Number(t, "rows.scored"), o.Number(t, "rows.in"); scored != in {
		t.Errorf("%v of %v rows scored", scored, in)
	}
}

func TestDemoSaysWhatIsWrongWithTheData(t *testing.T) {
	emptyTemp(t)
	constant := clitest.File(t, "constant.csv", "x,y\n"+strings.Repeat("1,2\n2,2\n3,2\n", 200))
	fz(t, "demo", "--data", constant, "--label", "y").Want(t, cli.ExitFailure, `label "y" has one value (2)`)
	header := clitest.File(t, "header.csv", "x,y\n")
	fz(t, "demo", "--data", header, "--label", "y").Want(t, cli.ExitFailure, "no rows")
}

func TestDemoTable(t *testing.T) {
	percent := func(v float64) *float64 { return &v }
	result := &demo.Result{
		Rows:    demo.RowCounts{In: 45000, Scored: 11000, NotSampled: 33990, Unlabelled: 7, Rejected: 3, Featurized: 44997, Trained: 44990, Test: 15000},
		Encoder: demo.EncoderInfo{Columns: 6, Dim: 8, LeftOut: []string{"id: nearly every value is different"}},
		Exploration: demo.Exploration{
			ID: "default.1.0123456789ab", Map: "cosine", Distribution: "gaussian", Criterion: "correlation", Candidates: 2000,
			Features: 100, SampleRows: 11000, Sigma: 1.953, BandwidthRule: "mean distance to the 50th nearest neighbour",
			BestScore: 0.0415, CutoffScore: 0.00904, ConfidenceRadius: 0.0448, AboveNoise: 98,
		},
		FeatureSet: demo.FeatureSet{ID: "fs-0123456789abcdef0123456789abcdef"},
		Model: demo.Model{
			Loss: "squared", Lambda: 3.9e-6, Metric: "unexplained variance", Error: 17.87, BaselineError: 47.84,
			ConstantError: percent(100),
			Test: train.TestErrors{Rows: 15000, Measures: training.Measures{UnexplainedVariance: percent(17.87), RelativeSquaredError: percent(16.5),
				RMSE: []float64{0.423}, MAE: []float64{0.31}, ConstantRMSE: []float64{1}}},
			BaselineTest: train.TestErrors{Rows: 15000, Measures: training.Measures{UnexplainedVariance: percent(47.84), RelativeSquaredError: percent(44.2),
				RMSE: []float64{0.6917}, MAE: []float64{0.5}, ConstantRMSE: []float64{1}}},
		},
		Spectrum:      []demo.Recovered{{Amplitude: 1, NearestKept: 0.7, NearestPlain: 1.18, KeptWithinOne: 9}},
		Seconds:       map[string]float64{"produce": 0.07, "calibrate": 0.17, "subsample": 0.2, "select": 0.001, "featurize": 0.38, "train": 0.3},
		RowsPerSecond: map[string]float64{"produce": 642857, "subsample": 225000, "featurize": 118421, "train": 150000},
		Warnings:      []string{"a bandwidth of 0 was replaced"},
	}
	var out bytes.Buffer
	printDemo(&out, result, true)
	golden(t, "demo_generated.txt", out.String())

	result.Spectrum, result.Kept = nil, "/data/kept"
	result.Exploration.Criterion = "energy"
	result.Model.Metric, result.Model.ConstantError = "misclassification", percent(23.6)
	result.Model.Loss = "logistic"
	result.Model.Test = train.TestErrors{Rows: 15000, Measures: training.Measures{Misclassification: percent(17.87), ConstantError: percent(5),
		LogLoss: percent(0.41), ConstantLogLoss: percent(0.4), AUC: percent(0.9123), AveragePrecision: percent(0.5), RareClass: "yes"}}
	result.Model.BaselineTest = result.Model.Test
	out.Reset()
	printDemo(&out, result, false)
	golden(t, "demo_classes.txt", out.String())
}
