package files

import (
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
)

func TestLIBSVMRowsAreDense(t *testing.T) {
	path := writeFile(t, "a.libsvm", []byte(strings.Join([]string{
		"# made by hand",
		"+1 1:0.5 3:2 # tail",
		"",
		"-1 qid:7 2:-1e-1\t3:1\r",
		"  0  ",
		"3",
	}, "\n")))
	schema, rows := mustDrain(t, path, Options{})
	if got, want := columnsText(schema), "label int64, features fixed_size_list<item: float32>[3]"; !strings.HasPrefix(got, "label int64, features fixed_size_list<item: float32") || !strings.HasSuffix(got, "[3]") {
		t.Errorf("columns %q, want %q", got, want)
	}
	equalLines(t, rows, []string{"1|[0.5,0,2]", "-1|[0,-0.1,1]", "0|[0,0,0]", "3|[0,0,0]"})
}

func TestLIBSVMLabelsThatAreNotAllWholeAreFloats(t *testing.T) {
	for text, want := range map[string]string{
		"1 1:1\n2.0 1:1\n":   "int64",
		"1 1:1\n2.5 1:1\n":   "float64",
		"1 1:1\nnan 1:1\n":   "float64",
		"1e300 1:1\n1 1:1\n": "float64",
	} {
		schema, _ := mustDrain(t, writeFile(t, "a.svm", []byte(text)), Options{})
		if got := schema.Field(0).Type.String(); got != want {
			t.Errorf("%q: label %s, want %s", text, got, want)
		}
	}
}

func TestLIBSVMDimensionAndTypesCanBeGiven(t *testing.T) {
	path := writeFile(t, "a.libsvm", []byte("1 1:1\n-1 2:1\n"))
	_, rows := mustDrain(t, path, Options{Dim: 4})
	equalLines(t, rows, []string{"1|[1,0,0,0]", "-1|[0,1,0,0]"})

	train := arrow.NewSchema([]arrow.Field{
		{Name: LabelColumn, Type: arrow.PrimitiveTypes.Float64},
		{Name: FeaturesColumn, Type: arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32)},
	}, nil)
	schema, rows := mustDrain(t, path, Options{Schema: train})
	if schema.Field(0).Type.ID() != arrow.FLOAT64 {
		t.Errorf("label %s, want float64", schema.Field(0).Type)
	}
	equalLines(t, rows, []string{"1|[1,0,0]", "-1|[0,1,0]"})

	if _, _, _, err := drain(path, Options{Schema: train, Dim: 5}); err == nil || !strings.Contains(err.Error(), "3 dimensions where the options say 5") {
		t.Errorf("schema and dimension that differ: %v", err)
	}
}

func TestLIBSVMFaultsNameFileAndLine(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		o    Options
		line int64
		say  string
	}{
		"index zero":         {"1 1:1\n1 0:1\n", Options{}, 2, "index 0: indexes start at 1"},
		"negative index":     {"1 -3:1\n", Options{}, 1, "indexes start at 1"},
		"index falls":        {"1 2:1 1:1\n", Options{}, 1, "index 1 follows index 2"},
		"index repeats":      {"\n1 2:1 2:1\n", Options{}, 2, "index 2 follows index 2"},
		"index beyond dim":   {"1 1:1\n1 5:1\n", Options{Dim: 4}, 2, "index 5 is beyond the 4 dimensions"},
		"index beyond all":   {"1 99999999999999999999:1\n", Options{}, 1, "at most 1048576 dimensions"},
		"no colon":           {"1 5\n", Options{}, 1, "\"5\" is not index:value"},
		"no value":           {"1 5:\n", Options{}, 1, "index 5: \"\" is not a number"},
		"value is text":      {"1 5:abc\n", Options{}, 1, "\"abc\" is not a number"},
		"index is text":      {"1 a:1\n", Options{}, 1, "index \"a\" is not a whole number"},
		"label is text":      {"1 1:1\ncat 1:1\n", Options{}, 2, "label: \"cat\" is not a number"},
		"several labels":     {"1,2 1:1\n", Options{}, 1, "label"},
		"line of any length": {"1 1:1\n1 1:" + strings.Repeat("1", MaxLineBytes+bufferBytes), Options{}, 2, "more than 16 MiB"},
		"label not whole": {"1 1:1\n1.5 1:1\n", Options{Dim: 1, Schema: arrow.NewSchema([]arrow.Field{
			{Name: LabelColumn, Type: arrow.PrimitiveTypes.Int64}}, nil)}, 2, "label 1.5 is not a whole number"},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, "a.libsvm", []byte(c.text))
			_, _, _, err := drain(path, c.o)
			wantError(t, err, path, c.line, c.say)
		})
	}
}

func TestLIBSVMWithoutFeaturesHasNoDimension(t *testing.T) {
	for _, text := range []string{"", "# only this\n", "1\n2\n"} {
		if _, _, _, err := drain(writeFile(t, "a.libsvm", []byte(text)), Options{}); !errors.Is(err, ErrEmpty) {
			t.Errorf("%q: error %v, want ErrEmpty", text, err)
		}
	}
	if _, rows := mustDrain(t, writeFile(t, "a.libsvm", []byte("1\n2\n")), Options{Dim: 2}); len(rows) != 2 {
		t.Errorf("rows %v with the dimension given", rows)
	}
}

func TestLIBSVMWideRowsMakeSmallerRecords(t *testing.T) {
	path := writeFile(t, "a.libsvm", []byte(strings.Repeat("1 1048576:1\n", 20)))
	r, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rec, err := r.Next()
	if err != nil || rec.NumRows() != 16 {
		t.Fatalf("first record: %v, %v", rec, err)
	}
	rec.Release()
}

func TestLIBSVMSchemaOfOtherColumnsIsRefused(t *testing.T) {
	path := writeFile(t, "a.libsvm", []byte("1 1:1\n"))
	for _, f := range []arrow.Field{
		{Name: LabelColumn, Type: arrow.BinaryTypes.String},
		{Name: FeaturesColumn, Type: arrow.ListOf(arrow.PrimitiveTypes.Float32)},
		{Name: FeaturesColumn, Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64)},
	} {
		_, _, _, err := drain(path, Options{Schema: arrow.NewSchema([]arrow.Field{f}, nil)})
		wantError(t, err, path, 0, f.Name)
	}
}
