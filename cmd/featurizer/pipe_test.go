package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/stages/pipe"
)

// pipedFiles are a model with its set, rows, and what the commands on files make of the rows.
type pipedFiles struct {
	model    string
	rows     []arrow.Record
	features []arrow.Record
	predicts []arrow.Record
	decided  []arrow.Record // predictions at a threshold
}

// arrowFile returns the batches of an Arrow file.
func arrowFile(t *testing.T, path string) (batches []arrow.Record) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := ipc.NewFileReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range r.NumRecords() {
		batch, err := r.RecordAt(i)
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, batch)
	}
	return batches
}

// rowBatches writes the rows of Mixed, some with an infinity, to an Arrow file and returns them.
func rowBatches(t *testing.T, path string) (batches []arrow.Record) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "age", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "member", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "income", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil)
	lines := strings.Split(strings.TrimSpace(clitest.Mixed(900)), "\n")[1:]
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := ipc.NewFileWriter(file, ipc.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	for part := range slices.Chunk(lines, 300) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i, line := range part {
			for c, text := range strings.Split(line, ",")[:4] {
				if i%50 == 7 && c == 3 {
					text = "Inf"
				}
				if text == "" {
					b.Field(c).AppendNull()
				} else if err := b.Field(c).AppendValueFromString(text); err != nil {
					t.Fatal(err)
				}
			}
		}
		batches = append(batches, b.NewRecord())
		if err := w.Write(batches[len(batches)-1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return batches
}

func newPipedFiles(t *testing.T) *pipedFiles {
	t.Helper()
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	p := &pipedFiles{model: at("model.arrow"), rows: rowBatches(t, at("rows.arrow"))}
	for _, command := range [][]string{
		{"trainer", "fit", "--data", clitest.File(t, "learn.csv", clitest.Mixed(2000)), "--label", "churned",
			"--features", "16", "--candidates", "64", "--criterion", "correlation", "--out", p.model},
		{"trainer", "predict", "--model", p.model, "--data", at("rows.arrow"), "--out", at("predicted.arrow")},
		{"trainer", "predict", "--model", p.model, "--data", at("rows.arrow"), "--out", at("decided.arrow"), "--cost", "1:4"},
		{"featurizer", "transform", "--set", p.model, "--data", at("rows.arrow"), "--out", at("features.arrow")},
	} {
		clitest.Finish(t, clitest.Command(t, command[0], command[1:]...)).Want(t, cli.ExitOK)
	}
	p.features, p.predicts = arrowFile(t, at("features.arrow")), arrowFile(t, at("predicted.arrow"))
	p.decided = arrowFile(t, at("decided.arrow"))
	return p
}

// stream returns the rows as one stream.
func (p *pipedFiles) stream(t *testing.T) []byte {
	t.Helper()
	value, err := arrowio.EncodeStream(p.rows[0].Schema(), p.rows...)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// piped runs featurizer pipe on an input.
func piped(t *testing.T, input []byte, args ...string) clitest.Result {
	t.Helper()
	command := clitest.Command(t, "featurizer", append([]string{"pipe"}, args...)...)
	command.Stdin = bytes.NewReader(input)
	return clitest.Finish(t, command)
}

// texts returns the values of a column in the rows to keep.
func texts(batches []arrow.Record, column string, keep func(arrow.Record, int) bool) (all []string) {
	for _, batch := range batches {
		values := batch.Column(batch.Schema().FieldIndices(column)[0])
		for row := range values.Len() {
			if keep(batch, row) {
				all = append(all, values.ValueStr(row))
			}
		}
	}
	return all
}

func TestPipeAnswersAreThoseOfFiles(t *testing.T) {
	p := newPipedFiles(t)
	all := func(arrow.Record, int) bool { return true }
	if slices.Equal(texts(p.predicts, "prediction", all), texts(p.decided, "prediction", all)) {
		t.Error("the threshold changes no prediction")
	}
	usable := func(batch arrow.Record, row int) bool { return !batch.Column(0).IsNull(row) }
	for _, tt := range []struct {
		args    string
		columns []string
		want    []arrow.Record
	}{
		{"--model", []string{"prediction", "probabilities"}, p.predicts},
		{"--threads 1 --mode predictions --model", []string{"prediction", "probabilities"}, p.predicts},
		{"--threshold 0.2 --model", []string{"prediction", "probabilities"}, p.decided},
		{"--feature-set", []string{"features"}, p.features},
		{"--mode features --threads 2 --model", []string{"features"}, p.features},
	} {
		done := piped(t, p.stream(t), append(strings.Fields(tt.args), p.model)...).Want(t, cli.ExitOK)
		if done.Err != "" {
			t.Errorf("%s: standard error %q", tt.args, done.Err)
		}
		r, err := ipc.NewReader(strings.NewReader(done.Out))
		if err != nil {
			t.Fatal(err)
		}
		var hello pipe.Hello
		meta := r.Schema().Metadata()
		if text, _ := meta.GetValue(pipe.HelloKey); json.Unmarshal([]byte(text), &hello) != nil ||
			hello.Arithmetic != cli.BuildOf("featurizer").Arithmetic || !strings.HasPrefix(hello.FeatureSet, "fs-") {
			t.Errorf("%s: hello %s", tt.args, text)
		}
		var got []arrow.Record
		for r.Next() {
			r.Record().Retain()
			got = append(got, r.Record())
		}
		if r.Err() != nil || len(got) != 1+len(p.rows) {
			t.Fatalf("%s: %d batches: %v", tt.args, len(got), r.Err())
		}
		if rows := len(texts(got, tt.columns[0], all)); rows != 900 {
			t.Errorf("%s: %d answers to 900 rows", tt.args, rows)
		}
		for _, column := range tt.columns {
			have, want := texts(got, column, usable), texts(tt.want, column, all)
			if len(want) >= 900 || !slices.Equal(have, want) {
				t.Errorf("%s: %s differs: %d and %d rows, %.200v, want %.200v", tt.args, column, len(have), len(want), have, want)
			}
		}
	}
}

func TestPipeEndsWithOneLineOnBadInput(t *testing.T) {
	p := newPipedFiles(t)
	stream := p.stream(t)
	other, err := arrowio.EncodeStream(p.predicts[0].Schema(), p.predicts...)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		input []byte
		says  string
	}{
		"text":          {[]byte(clitest.Mixed(10)), "featurizer pipe: batch 0: arrow message 0: not an arrow stream"},
		"cut off":       {stream[:len(stream)-100], "featurizer pipe: batch 2: arrow message 3: truncated"},
		"other columns": {other, `featurizer pipe: batch 0: `},
	} {
		r := piped(t, tt.input, "--model", p.model).Want(t, cli.ExitFailure, tt.says)
		if strings.Count(r.Err, "\n") != 1 {
			t.Errorf("%s: standard error\n%s", name, r.Err)
		}
	}
	if r := piped(t, nil, "--model", p.model).Want(t, cli.ExitOK); !arrowio.IsStream([]byte(r.Out)) {
		t.Errorf("without input: %q", r.Out)
	}
}

func TestPipeEndsWhenItsOutputIsClosed(t *testing.T) {
	p := newPipedFiles(t)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command := clitest.Command(t, "featurizer", "pipe", "--model", p.model)
	var errs bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(bytes.Repeat(p.stream(t), 100)), write, &errs
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for _, end := range []*os.File{write, read} { // the child has a copy of the first
		if err := end.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_ = command.Wait() // also reports that the input could not be written
	if code := command.ProcessState.ExitCode(); code != cli.ExitFailure ||
		!strings.Contains(errs.String(), "broken pipe") ||
		strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("exit code %d, standard error\n%s", code, &errs)
	}
}
