package serve

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/arrowio/formats/formatstest"
	"github.com/eerf-stream/eerf/arrowio/onnx"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// answers holds the results for rows: features, and predictions as numbers (for classes their
// probabilities) and as classes.
type answers struct {
	features []float32
	numbers  []float64
	classes  []string
}

// question holds rows and the pair that answers.
type question struct {
	t    testing.TB
	pair *featurize.Pair
	rows arrow.Record
}

// way is an interface that gives answers; nil answers = not available on this machine.
type way struct {
	name string
	ask  func(q *question) *answers
	// features and numbers bound the difference of the answers from those on the topic; 0 =
	// identical.
	features, numbers float64
}

// ways lists all interfaces. ONNX and Python run if EERF_TEST_PYTHON names a python3 with numpy,
// pyarrow and onnxruntime.
var ways = []way{
	{name: "topic", ask: byTopic},
	{name: "HTTP, JSON", ask: byJSON},
	{name: "HTTP, Arrow", ask: byArrow},
	{name: "HTTP, tensors in JSON", ask: func(q *question) *answers { return byTensors(q, false) }},
	{name: "HTTP, tensors in binary", ask: func(q *question) *answers { return byTensors(q, true) }},
	{name: "ONNX", ask: byONNX, features: 2e-5, numbers: 1e-5},
	{name: "Python", ask: byPython, features: 2e-5, numbers: 1e-5},
}

// The same rows get the same answers from every interface, as the table in docs/serving.md states.
func TestAllInterfacesGiveSameAnswers(t *testing.T) {
	var table strings.Builder
	out := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "task\tway\tgreatest difference of features\tof predictions\tother classes")
	for _, task := range []string{
		stagestest.Regression,
		farFromZero,
		stagestest.Binary,
		atThreshold,
		stagestest.Classes,
	} {
		kind, _, _ := strings.Cut(task, ",")
		pair, all := pairOf(t, kind)
		origin := 0.0
		switch task {
		case farFromZero:
			origin = 1.7e9
			pair = shifted(t, pair, origin)
		case atThreshold:
			pair = stagestest.Must(pair.At(0.2))
		}
		q := newQuestion(t, pair, all)
		want := ways[0].ask(q)
		want.checkClasses(t, pair)
		for _, w := range ways {
			got := w.ask(q)
			if got == nil {
				fmt.Fprintf(out, "%s\t%s\tnot run\t\t\n", task, w.name)
				continue
			}
			features, numbers := greatest(got.features, want.features, 0), greatest(got.numbers, want.numbers, origin)
			others := differing(got.classes, want.classes)
			fmt.Fprintf(out, "%s\t%s\t%.2g\t%.2g\t%d\n", task, w.name, features, numbers, others)
			if !(features <= w.features && numbers <= w.numbers) || others > 0 {
				t.Errorf("%s by %s: features differ by %v, predictions by %v, %d classes", task, w.name, features, numbers, others)
			}
		}
	}
	_ = out.Flush()
	t.Logf("\n%s", &table)
}

const (
	farFromZero = stagestest.Regression + ", far from zero"
	atThreshold = stagestest.Binary + ", at a threshold"
)

// checkClasses fails the test if the classes are not those of the probabilities at the threshold.
func (a *answers) checkClasses(t *testing.T, pair *featurize.Pair) {
	t.Helper()
	if len(pair.Classes()) != 2 {
		return
	}
	between := 0
	for i, class := range a.classes {
		p := a.numbers[2*i+1]
		if p <= 0.5 && p > cmp.Or(pair.Threshold, 0.5) {
			between++
		}
		if want := pair.Classes()[0]; (class == want) == (p > cmp.Or(pair.Threshold, 0.5)) {
			t.Errorf("row %d: %s with probability %v of %s, threshold %v", i, class, p, pair.Classes()[1], pair.Threshold)
		}
	}
	if pair.Threshold != 0 && between == 0 {
		t.Error("no row is between the threshold and 0.5")
	}
}

// shifted returns a pair whose predictions are larger by a number.
func shifted(t testing.TB, pair *featurize.Pair, by float64) *featurize.Pair {
	t.Helper()
	weights, model := *pair.Model.Model, *pair.Model
	weights.Intercept = slices.Clone(weights.Intercept)
	for k := range weights.Intercept {
		weights.Intercept[k] += by
	}
	model.Model = &weights
	model.ID = wire.ModelID(&model)
	shifted, err := featurize.NewPair(pair.Set, &model)
	must(t, err)
	return shifted
}

func newQuestion(t testing.TB, pair *featurize.Pair, all arrow.Record) *question {
	t.Helper()
	part := all.NewSlice(0, 200)
	defer part.Release()
	rows := withMissing(part)
	t.Cleanup(rows.Release)
	return &question{t: t, pair: pair, rows: rows}
}

// withMissing drops the columns that answers do not depend on, and every seventh value of column a.
func withMissing(rows arrow.Record) arrow.Record {
	needed := events.WithoutColumns(rows, "y", "id")
	defer needed.Release()
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	defer b.Release()
	for i, v := range needed.Column(0).(*array.Float64).Float64Values() {
		if i%7 == 3 {
			b.AppendNull()
		} else {
			b.Append(v)
		}
	}
	a := b.NewArray()
	defer a.Release()
	columns := slices.Clone(needed.Columns())
	columns[0] = a
	return array.NewRecord(needed.Schema(), columns, needed.NumRows())
}

// greatest returns the largest difference, relative for numbers that are more than 1 from an
// origin; infinite for lists of different lengths.
func greatest[T float32 | float64](got, want []T, origin float64) (most float64) {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	for i := range got {
		most = max(most, math.Abs(float64(got[i])-float64(want[i]))/max(1, math.Abs(float64(want[i])-origin)))
	}
	return most
}

func differing(got, want []string) (n int) {
	if len(got) != len(want) {
		return max(len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			n++
		}
	}
	return n
}

// byTopic returns the messages that the stage writes to the features topic.
func byTopic(q *question) *answers {
	f, err := featurize.New(q.pair.Set, featurize.Settings{
		Source:         events.Source{Limits: arrowio.DefaultLimits()},
		MaxOutputBytes: 1 << 20,
		Predictions:    true,
		Threshold:      q.pair.Threshold,
	})
	if err != nil {
		q.t.Fatal(err)
	}
	f.UseModel(q.pair.Model, "")
	var got answers
	message := pipeline.Record{Value: stagestest.Message(q.t, q.rows)}
	err = f.Process(message, 0, stagestest.Noon, func(p featurize.Part) error {
		if p.Output != nil {
			got.addMessage(q, p.Output.Value)
		}
		return nil
	})
	if err != nil {
		q.t.Fatal(err)
	}
	return &got
}

// addMessage adds the features and predictions of an Arrow message.
func (a *answers) addMessage(q *question, value []byte) {
	for _, rec := range stagestest.Decode(q.t, value) {
		a.addRecord(rec)
	}
}

// addRecord adds the features and predictions of a record.
func (a *answers) addRecord(rec arrow.Record) {
	for i, field := range rec.Schema().Fields() {
		switch column := rec.Column(i).(type) {
		case *array.FixedSizeList:
			values := column.ListValues().(*array.Float32).Float32Values()
			if field.Name == wire.ColumnFeatures {
				a.features = append(a.features, values...)
			} else {
				a.numbers = append(a.numbers, widened(values)...)
			}
		case *array.Float64:
			a.numbers = append(a.numbers, column.Float64Values()...)
		case *array.Dictionary:
			for row := range column.Len() {
				a.classes = append(a.classes, column.Dictionary().(*array.String).Value(column.GetValueIndex(row)))
			}
		}
	}
}

func widened(values []float32) []float64 {
	wide := make([]float64, len(values))
	for i, v := range values {
		wide[i] = float64(v)
	}
	return wide
}

func narrowed(values []float64) []float32 {
	short := make([]float32, len(values))
	for i, v := range values {
		short[i] = float32(v)
	}
	return short
}

// reply is a JSON answer.
type reply struct {
	Features      [][]float32     `json:"features"`
	Predictions   json.RawMessage `json:"predictions"`
	Probabilities [][]float32     `json:"probabilities"`
}

func (a *answers) addJSON(q *question, d reply) {
	a.features = append(a.features, slices.Concat(d.Features...)...)
	if len(d.Predictions) == 0 {
		return
	}
	if q.pair.Classes() == nil {
		must(q.t, json.Unmarshal(d.Predictions, &a.numbers))
		return
	}
	must(q.t, json.Unmarshal(d.Predictions, &a.classes))
	a.numbers = append(a.numbers, widened(slices.Concat(d.Probabilities...))...)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func byJSON(q *question) *answers {
	d, body := newTestServer(q.t, q.pair, nil), formatstest.JSON(q.t, q.rows)
	var got answers
	for _, path := range []string{"/v1/features", "/v1/predict"} {
		got.addJSON(q, document[reply](q.t, d.post(path, body)))
	}
	d.free()
	return &got
}

func byArrow(q *question) *answers {
	d := newTestServer(q.t, q.pair, nil)
	var got answers
	body := stagestest.Message(q.t, q.rows)
	features := d.ask(http.MethodPost, "/v1/features", body, "Content-Type", typeArrow)
	predictions := d.ask(http.MethodPost, "/v1/predict", body, "Content-Type", typeArrow)
	if features.Code+predictions.Code != 400 {
		q.t.Fatal(features.Body, predictions.Body)
	}
	got.addMessage(q, predictions.Body.Bytes())
	var both answers // the message of features also has predictions
	both.addMessage(q, features.Body.Bytes())
	if greatest(both.numbers, got.numbers, 0) != 0 || differing(both.classes, got.classes) > 0 {
		q.t.Error("predictions with features differ from those alone")
	}
	got.features = both.features
	d.free()
	return &got
}

// byTensors asks for all outputs.
func byTensors(q *question, binary bool) *answers {
	body, header := tensorsOf(q.t, q.pair, q.rows, binary)
	d := newTestServer(q.t, q.pair, nil)
	headers := []string{"Content-Type", typeJSON}
	if binary {
		headers = []string{headerLength, fmt.Sprint(header)}
	}
	w := d.ask(http.MethodPost, "/v2/models/shop/infer", body, headers...)
	if w.Code != http.StatusOK {
		q.t.Fatal(w.Body)
	}
	d.free()
	return readTensors(q.t, w.Body.Bytes(), cmp.Or(w.Header().Get(headerLength), fmt.Sprint(w.Body.Len())))
}

// byONNX runs the graph written by trainer export in onnxruntime.
func byONNX(q *question) *answers {
	python := q.python("numpy, pyarrow, onnxruntime")
	if python == "" {
		return nil
	}
	graph, err := onnx.Encode(q.pair.Set, q.pair.Model, onnx.Options{Threshold: q.pair.Threshold})
	must(q.t, err)
	out := filepath.Join(q.t.TempDir(), "answers.arrow")
	return q.answer(python, out, filepath.Join("testdata", "onnx_answers.py"), q.file("model.onnx", graph.Bytes),
		q.dataFile(), out)
}

// byPython runs the package in python/.
func byPython(q *question) *answers {
	python := q.python("numpy, pyarrow")
	if python == "" {
		return nil
	}
	model, err := wire.EncodeModelFile(q.pair.Model, q.pair.Set)
	must(q.t, err)
	out := filepath.Join(q.t.TempDir(), "answers.arrow")
	args := []string{
		"-m",
		"eerf",
		"transform",
		"--model",
		q.file("model.arrow", model),
		"--data",
		q.dataFile(),
		"--out",
		out,
	}
	if q.pair.Threshold != 0 {
		args = append(args, "--threshold", fmt.Sprint(q.pair.Threshold))
	}
	return q.answer(python, out, args...)
}

// python returns a python3 with the modules, or "".
func (q *question) python(modules string) string {
	python := os.Getenv("EERF_TEST_PYTHON")
	if python == "" {
		return ""
	}
	if said, err := exec.CommandContext(q.t.Context(), python, "-c", "import "+modules).CombinedOutput(); err != nil {
		q.t.Logf("%s cannot import %s:\n%s", python, modules, said)
		return ""
	}
	return python
}

// answer runs a program that writes its answers to the Arrow file out.
func (q *question) answer(python, out string, args ...string) *answers {
	q.t.Helper()
	run := exec.CommandContext(q.t.Context(), python, args...)
	run.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1",
		"PYTHONPATH="+filepath.Join("..", "..", "..", "python", "src"))
	if said, err := run.CombinedOutput(); err != nil {
		q.t.Fatalf("%v: %v\n%s", run, err, said)
	}
	rows, err := files.Open(out, files.Options{})
	must(q.t, err)
	defer rows.Close()
	var got answers
	for {
		rec, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return &got
		}
		must(q.t, err)
		got.addRecord(rec)
		rec.Release()
	}
}

// dataFile writes the rows to an Arrow IPC stream.
func (q *question) dataFile() string { return q.file("rows.arrow", stagestest.Message(q.t, q.rows)) }

func (q *question) file(name string, content []byte) string {
	q.t.Helper()
	path := filepath.Join(q.t.TempDir(), name)
	must(q.t, os.WriteFile(path, content, 0o600))
	return path
}
