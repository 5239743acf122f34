package files

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio"
)

const twoRows = "a,b\n1,x\n2,y\n"

func TestOpenTakesTheFormatFromTheName(t *testing.T) {
	for name, text := range map[string]string{
		"a.csv": twoRows, "A.CSV": twoRows, "a.tsv": "a\tb\n1\tx\n2\ty\n",
	} {
		for suffix, content := range map[string][]byte{"": []byte(text), ".gz": zipped(t, []byte(text))} {
			if _, rows := mustDrain(t, writeFile(t, name+suffix, content), Options{}); len(rows) != 2 {
				t.Errorf("%s: %d rows", name+suffix, len(rows))
			}
		}
	}
}

func TestOpenOfAnUnknownNameListsTheFormats(t *testing.T) {
	path := writeFile(t, "adult.data", []byte(twoRows))
	_, err := Open(path, Options{})
	wantError(t, err, path, 0, "arrow, csv, parquet")
	if _, rows := mustDrain(t, path, Options{Format: FormatCSV}); len(rows) != 2 {
		t.Errorf("%d rows with the format given", len(rows))
	}
}

func TestOpenRefusesWrongOptions(t *testing.T) {
	path := writeFile(t, "a.csv", []byte(twoRows))
	for say, o := range map[string]Options{
		"unknown format \"json\": want one of arrow, csv, parquet": {Format: "json"},
		"batch rows -1": {BatchRows: -1},
		"-1":            {SkipLines: -1},
		"delimiter":     {Delimiter: '"'},
	} {
		_, err := Open(path, o)
		wantError(t, err, path, 0, say)
	}
}

func TestGzipIsFoundByItsContent(t *testing.T) {
	_, rows := mustDrain(t, writeFile(t, "a.csv", zipped(t, []byte(twoRows))), Options{})
	equalLines(t, rows, []string{"1|x", "2|y"})

	members := append(zipped(t, []byte("a,b\n1,x\n")), zipped(t, []byte("2,y\n"))...)
	_, rows = mustDrain(t, writeFile(t, "a.csv.gz", members), Options{})
	equalLines(t, rows, []string{"1|x", "2|y"})
}

func TestDamagedGzipIsAnError(t *testing.T) {
	whole := zipped(t, []byte("a,b\n"+strings.Repeat("1,some text\n", 1000)))
	for name, c := range map[string]struct {
		content []byte
		say     string
	}{
		"not gzip":     {[]byte(twoRows), "content is not gzip"},
		"cut":          {whole[:len(whole)-9], "end early"},
		"header cut":   {whole[:5], "end early"},
		"bad checksum": {append(slices.Clone(whole[:len(whole)-8]), make([]byte, 8)...), "checksum"},
		"tail":         {append(slices.Clone(whole), "tail of something else"...), "gzip"},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, "a.csv.gz", c.content)
			_, _, _, err := drain(path, Options{})
			if !errors.Is(err, arrowio.ErrCorrupt) || !strings.Contains(err.Error(), c.say) ||
				!strings.Contains(err.Error(), path) {
				t.Errorf("error %v", err)
			}
		})
	}
	if _, _, _, err := drain(writeFile(t, "a.csv.gz", nil), Options{}); !errors.Is(err, ErrEmpty) {
		t.Errorf("empty .gz: %v", err)
	}
}

func TestScanReportsTheFirstPass(t *testing.T) {
	path := writeFile(t, "a.csv", []byte("a\n"+strings.Repeat("1\n", 3*scanRows)))
	calls := 0
	r, err := Open(path, Options{Scan: func(read, total int64) {
		if calls++; read <= 0 || read > total {
			t.Errorf("read %d of %d", read, total)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if calls != 3 {
		t.Errorf("%d calls, want 3", calls)
	}
	if read, _ := r.Progress(); read > bufferBytes {
		t.Errorf("the first pass counts as progress: %d bytes", read)
	}
}

// pipe returns the path of a named pipe into which text is written.
func pipe(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	var writer sync.WaitGroup
	writer.Go(func() {
		// A reader that refuses the pipe closes it: the write then fails, rightly.
		_ = os.WriteFile(path, []byte(text), 0o600)
	})
	t.Cleanup(writer.Wait)
	return path
}

func TestPipesAreReadWhereTheTypesAreGiven(t *testing.T) {
	types := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int64},
		{Name: "b", Type: arrow.BinaryTypes.String},
	}, nil)
	_, rows := mustDrain(t, pipe(t, "p.csv", twoRows), Options{Schema: types})
	equalLines(t, rows, []string{"1|x", "2|y"})

	_, _, _, err := drain(pipe(t, "p.csv", twoRows), Options{})
	if !errors.Is(err, arrowio.ErrUnsupported) || !strings.Contains(err.Error(), "give the schema") {
		t.Errorf("without types: %v", err)
	}
	first := arrow.NewSchema([]arrow.Field{
		{Name: "f0", Type: arrow.BinaryTypes.String},
		{Name: "f1", Type: arrow.BinaryTypes.String},
	}, nil)
	_, rows = mustDrain(t, pipe(t, "p.csv", twoRows), Options{Schema: first, NoHeader: true})
	equalLines(t, rows, []string{"a|b", "1|x", "2|y"})
}
