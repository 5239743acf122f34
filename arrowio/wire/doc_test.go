package wire

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/cespare/xxhash/v2"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/training"
)

const docPath = "../../docs/wire-formats.md"

// The examples in the document are the messages in testdata.
func TestDocumentedExamplesMatchTestdata(t *testing.T) {
	example := regexp.MustCompile("(?s)Example \\(`testdata/(\\S+)`, `(\\S+)`\\):\n\n```json\n(.*?)```")
	found := example.FindAllStringSubmatch(string(must(os.ReadFile(docPath))), -1)
	if len(found) == 0 {
		t.Error("no examples")
	}
	messages := goldenMessages(t)
	for _, e := range found {
		file, key, text := e[1], e[2], e[3]
		var want, got any
		document := message{value: messages[file]}.text(key)
		if err := errors.Join(json.Unmarshal([]byte(document), &want), json.Unmarshal([]byte(text), &got)); err != nil {
			t.Fatalf("%s, %s: %v", file, key, err)
		}
		diff(t, want, got)
	}
}

// Every field that a document can have is explained: its name is there as code.
func TestDocumentNamesEveryField(t *testing.T) {
	text := string(must(os.ReadFile(docPath)))
	var explain func(reflect.Type)
	explain = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if name == "-" { // columns
				continue
			}
			if name != "" && !strings.Contains(text, "`"+name+"`") {
				t.Errorf("field %s of %v is not in %s", name, typ, docPath)
			}
			explain(typ.Field(i).Type)
		}
	}
	for _, document := range []any{
		Spec{},
		Request{},
		Progress{},
		checkpointFields{},
		Refusal{},
		samplesFields{},
		featureSetFields{},
		modelFields{},
		Current{},
		Block{},
		FeaturesInfo{},
		encoder.Encoder{},
	} {
		explain(reflect.TypeOf(document))
	}
	_, samples, _ := EncodeSamples(exampleSamples(true))
	for _, header := range slices.Concat(samples, FeatureBatch{
		SourceLog:   "log",
		SourceBatch: BatchMark{1, 1},
	}.Headers(), []Header{ModelHeader(""), LiveHeader(exampleLive())}, DeadLetter{}.Headers()) {
		if !strings.Contains(text, "`"+header.Key+"`") {
			t.Errorf("header %s is not in %s", header.Key, docPath)
		}
	}
}

// Every column is explained as well, except those of the events themselves.
func TestDocumentNamesEveryColumn(t *testing.T) {
	text := string(must(os.ReadFile(docPath)))
	events := []string{"age", "vip", "city", "pixels", "tags", "where", "income", "customer"}
	for file, value := range goldenMessages(t) {
		if IsJSON(value) {
			continue
		}
		recs := must(newDecoder().Decode(value))
		for _, field := range recs[0].Schema().Fields() {
			if !slices.Contains(events, field.Name) && !strings.Contains(text, "`"+field.Name+"`") {
				t.Errorf("column %s of %s is not in %s", field.Name, file, docPath)
			}
		}
		releaseAll(recs)
	}
}

// docRequest is the input of the reader in Python.
type docRequest struct {
	Rows     []map[string]any `json:"rows"`
	Headers  []textPair       `json:"headers"`
	Sampled  [][4]any         `json:"sampled"`
	HeldOut  [][3]any         `json:"held_out"` // seed, place, fraction
	Contents []map[string]any `json:"contents"`
	Lengths  []int            `json:"lengths"`
	Encoders []docEncoder     `json:"encoders"`
	Parts    [][2]any         `json:"parts"`
	expected struct {
		sampled         []bool
		heldOut         [][2]bool // from training, from the sample
		contents, xxh64 []string
	}
}

type textPair struct{ Key, Value string }

// docFound is its output.
type docFound struct {
	ModelFile  []string `json:"model_file"` // ids of the model and its set
	FeatureSet docSet   `json:"feature_set"`
	LinearSet  docSet   `json:"linear_set"`
	MixedSet   docSet   `json:"mixed_set"`
	Model      struct {
		ID      string      `json:"id"`
		F       [][]float64 `json:"f"`
		Classes []string    `json:"classes"`
	} `json:"model"`
	Features struct {
		FeatureSet string      `json:"feature_set"`
		Rows       []int32     `json:"rows"`
		Z          [][]float64 `json:"z"`
		Labels     [][]*string `json:"labels"`
	} `json:"features"`
	Predicted struct {
		Model         string      `json:"model"`
		Prediction    []string    `json:"prediction"`
		Probabilities [][]float64 `json:"probabilities"`
		Again         [][]float64 `json:"again"` // from the weights
	} `json:"predicted"`
	Scores   [][]float64    `json:"scores"`
	Headers  map[string]any `json:"headers"`
	Live     map[string]any `json:"live"`
	Sampled  []bool         `json:"sampled"`
	HeldOut  [][2]bool      `json:"held_out"`
	Contents []string       `json:"contents"`
	XXH64    []string       `json:"xxh64"`
	Fresh    [][]bool       `json:"fresh"`
	Encoded  [][][]float64  `json:"encoded"`
	Spec     map[string]any `json:"spec"`
	Request  map[string]any `json:"request"`
	Current  map[string]any `json:"current"`
}

type docSet struct {
	ID       string      `json:"id"`
	X        [][]float64 `json:"x"`
	Features [][]float64 `json:"features"`
}

// The reader in Python must agree with this package on every message and every formula.
func TestReaderInPythonAgrees(t *testing.T) {
	if out, err := exec.Command("python3", "-c", "import numpy, pyarrow").CombinedOutput(); err != nil {
		t.Skipf("python3 with numpy and pyarrow is not here, so the reader is not run: %v %s", err, out)
	}
	request := newDocRequest()
	found := runDoc(t, request)

	checkSet(t, "cosine set", exampleFeatureSet(), found.FeatureSet, request.Rows)
	checkSet(t, "linear set", linearFeatureSet(), found.LinearSet, request.Rows)
	checkSet(t, "mixed set", mixedFeatureSet(), found.MixedSet, request.Rows)
	checkEncoders(t, request.Encoders, found.Encoded)
	checkModel(t, found)
	diff(t, []string{ModelID(exampleModel()), exampleFeatureSet().ID()}, found.ModelFile)
	checkPredicted(t, found)
	checkScores(t, found.Scores)
	diff(t, map[string]any{"rows": 4., "loss": 1.25, "promised": nil}, found.Live) // the block comes twice
	diff(t, request.expected.sampled, found.Sampled)
	diff(t, request.expected.heldOut, found.HeldOut)
	diff(t, request.expected.contents, found.Contents)
	diff(t, request.expected.xxh64, found.XXH64)
	diff(t, map[string]any{"feature_set": "fs-1", "source_topic": "events", "source_partition": 3., "source_offset": 9.,
		"first_row": 4., "row_count": 5., "source_rows": 9., "source_log": "uPvT3E8vSBa3o1N2bWcKzA"}, found.Headers)
	diff(t, [][]bool{{true, true}, {true}, {false, false}, {false, true}, {true}}, found.Fresh)
	if s := found.Spec; s["exploration"] != "ex-7" || len(s["plan"].(map[string]any)["partitions"].([]any)) != 2 {
		t.Errorf("spec is %+v", s)
	}
	if r, c := found.Request, found.Current; r["action"] != "start" || c["id"] != exampleCurrent().ID {
		t.Errorf("request %+v, current %+v", r, c)
	}
}

func newDocRequest() *docRequest {
	r := &docRequest{
		Rows: []map[string]any{
			{"age": 40, "vip": true, "city": "Oslo", "pixels": []any{1.5, 3}},
			{"age": 99.5, "vip": nil, "city": "<Köln>", "pixels": []any{nil, -7}},
			{"age": nil, "vip": false, "city": "Bern", "pixels": nil},
			{"age": 41, "vip": true, "city": nil, "pixels": []any{0, 1e22}},
		},
		Lengths: []int{0, 1, 3, 4, 7, 8, 24, 31, 32, 33, 63, 64, 77},
		// Each is {offset, first row, row count, source rows} and the rows in the message.
		Parts: [][2]any{
			{[]int{5, 0, 3, 8}, []int{0, 2}},
			{[]int{5, 3, 3, 8}, []int{4}},    // the second part of the same message
			{[]int{5, 0, 3, 8}, []int{0, 2}}, // a zombie repeats the first
			{[]int{5, 0, 8, 8}, []int{1, 7}}, // and cuts differently: only what is new is kept
			{[]int{9, 0, 1, 1}, []int{0}},
		},
	}
	r.Encoders = docEncoders()
	for _, h := range (FeatureBatch{
		"fs-1",
		"events",
		3,
		9,
		4,
		5,
		9,
		"uPvT3E8vSBa3o1N2bWcKzA",
		BatchMark{8, 3735928559},
	}).Headers() {
		r.Headers = append(r.Headers, textPair{h.Key, string(h.Value)})
	}
	for i := range 200 {
		seed, partition, at := uint64(math.MaxUint64)-uint64(i/50), int32(i%5), int64(i)*1_000_003
		r.Sampled = append(r.Sampled, [4]any{seed, partition, at, 0.3})
		r.expected.sampled = append(r.expected.sampled, scoring.Sampled(scoring.Hash(seed, partition, at), 0.3))
		r.HeldOut = append(r.HeldOut, [3]any{seed, []any{partition, at, i}, 0.2})
		place := rowid.PlaceOf(partition, at, int32(i))
		r.expected.heldOut = append(r.expected.heldOut,
			[2]bool{training.HeldOut(seed, place, 0.2), scoring.HeldOut(seed, place)})
	}
	r.Contents, r.expected.contents = docContents()
	for _, n := range r.Lengths {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(i)
		}
		r.expected.xxh64 = append(r.expected.xxh64, strconv.FormatUint(xxhash.Sum64(data), 10))
	}
	return r
}

// runDoc runs the reader on one message of each kind.
func runDoc(t *testing.T, request *docRequest) docFound {
	t.Helper()
	dir := t.TempDir()
	for name, value := range goldenMessages(t) {
		if err := os.WriteFile(filepath.Join(dir, name), value, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("python3", "testdata/check_doc.py", "testdata/reader.py", dir, string(must(json.Marshal(request))))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the reader fails: %v\n%s", err, stderr.String())
	}
	var found docFound
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// docContents returns rows and the identities of their contents.
func docContents() (rows []map[string]any, identities []string) {
	rows = []map[string]any{
		{"age": 0.1, "vip": true, "city": "Bern"},
		{"age": 0, "vip": false, "city": ""},
		{"age": -1e300, "vip": nil, "city": "Zürich"},
		{"age": nil, "vip": nil, "city": nil},
		{"age": nil, "vip": nil, "city": "-12.5e3"},
		{"age": nil, "vip": nil, "city": "1e999"},
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "age", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "vip", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	}, nil)
	rec := jsonRecord(schema, string(must(json.Marshal(rows))))
	defer rec.Release()
	for _, id := range rowid.NewHasher(rowid.ContentOf(nil, nil, nil, nil)).Identities(rec, nil, nil) {
		identities = append(identities, strconv.FormatUint(id, 10))
	}
	return rows, identities
}

// checkSet compares id, encoded rows and features of a set.
func checkSet(t *testing.T, name string, want *FeatureSet, got docSet, rows []map[string]any) {
	t.Helper()
	if got.ID != want.ID() {
		t.Errorf("%s: Python computes id %s, want %s", name, got.ID, want.ID())
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "age", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "vip", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "pixels", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64), Nullable: true},
	}, nil)
	rec := jsonRecord(schema, string(must(json.Marshal(rows))))
	defer rec.Release()
	var x encoder.Rows
	if err := want.Encoder.Encode(&x, rec, nil); err != nil || x.N != len(rows) {
		t.Fatalf("%s: %d rows encoded, %v", name, x.N, err)
	}
	transform := scoring.NewTransformer(&want.Set)
	z := make([]float32, x.N*transform.Len())
	transform.Transform(z, x.X, x.N)
	close32(t, name+": x", x.X, got.X, 0)
	close32(t, name+": features", z, got.Features, 1e-6)
}

func checkModel(t *testing.T, found docFound) {
	t.Helper()
	model := exampleModel()
	if want := ModelID(model); found.Model.ID != want {
		t.Errorf("Python computes model id %s, want %s", found.Model.ID, want)
	}
	recs := must(newDecoder().Decode(exampleFeatures(t)))
	defer releaseAll(recs)
	rows, z, err := DecodeFeatures(recs[0], 4)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, rows, found.Features.Rows)
	close32(t, "features message", z, found.Features.Z, 0)
	if l := found.Features.Labels; len(l) != 1 || *l[0][0] != "low" || l[0][1] != nil || *l[0][2] != "high" {
		t.Errorf("labels are %v", l)
	}
	f := make([]float32, len(rows)*3)
	model.Model.Predict(f, z, len(rows))
	close32(t, "predictions", f, found.Model.F, 1e-6)
	for i := range rows {
		if want := model.Label.Classes[training.DecideClass(f[i*3:(i+1)*3], 3)]; found.Model.Classes[i] != want {
			t.Errorf("row %d: class %s, want %s", i, found.Model.Classes[i], want)
		}
	}
}

// checkPredicted compares the message of predictions with what Python computes from the weights.
func checkPredicted(t *testing.T, found docFound) {
	t.Helper()
	p := found.Predicted
	if p.Model != ModelID(exampleModel()) || !slices.Equal(p.Prediction, found.Model.Classes) {
		t.Errorf("predictions %v of %s, from the weights %v", p.Prediction, p.Model, found.Model.Classes)
	}
	var flat []float32
	for _, row := range p.Probabilities {
		for _, v := range row {
			flat = append(flat, float32(v))
		}
	}
	close32(t, "probabilities", flat, p.Again, 1e-6)
}

func checkScores(t *testing.T, got [][]float64) {
	t.Helper()
	want := exampleCheckpoint().Sums.Scores(exampleFeatureSet().Coding)
	for i := range want {
		if v := got[i/3][i%3]; math.Abs(v-want[i]) > 1e-12*math.Abs(want[i]) {
			t.Errorf("score %d is %v, want %v", i, v, want[i])
		}
	}
}

// close32 compares a flat row-major matrix with rows; tolerance is relative to the greater of 1 and
// the value.
func close32(t *testing.T, name string, want []float32, got [][]float64, tolerance float64) {
	t.Helper()
	var flat []float64
	for _, row := range got {
		flat = append(flat, row...)
	}
	if len(flat) != len(want) {
		t.Fatalf("%s: %d values, want %d", name, len(flat), len(want))
	}
	for i, w := range want {
		if d := math.Abs(flat[i] - float64(w)); !(d <= tolerance*max(1, math.Abs(float64(w)))) {
			t.Errorf("%s: value %d is %v, want %v", name, i, flat[i], w)
		}
	}
}
