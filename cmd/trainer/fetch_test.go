package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/datasets"
	"github.com/eerf-stream/eerf/internal/testdata"
)

func TestFetchOfAnUnknownSetListsTheKnown(t *testing.T) {
	tr(t, "fetch", "mnits").Want(t, cli.ExitUsage, `unknown data set "mnits"`, "adult, a9a, mnist")
	tr(t, "fetch").Want(t, cli.ExitUsage, "accepts 1 arg")
	if help := tr(t, "fetch", "--help").Want(t, cli.ExitOK).Out; !strings.Contains(help, "news-log     Online news") {
		t.Error(help)
	}
}

func TestFetchWritesNothingThatIsNotPublished(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".gz") {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte("T,2,8,3\n"))
	}))
	defer server.Close()
	dir := t.TempDir()
	tr(t, "fetch", "letter", "--data-dir", dir, "--mirror", server.URL).
		Want(t, cli.ExitFailure, "fetch letter-recognition.data", "wrong checksum", "the file was removed", ".data.gz: 404 Not Found")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestFetchFromAMirror(t *testing.T) {
	const name = "letter-recognition.data"
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(testdata.Path(t, name+".gz")))))
	defer server.Close()
	dir := t.TempDir()
	t.Setenv(datasets.Variable, dir)
	out := tr(t, "fetch", "letter", "--mirror", server.URL, "--json").Want(t, cli.ExitOK).Object(t)
	file, ok := out.At(t, "files").([]any)[0].(map[string]any)
	if !ok || file["status"] != datasets.Downloaded || file["checked"] != true || out.Text(t, "dir") != dir {
		t.Errorf("%v", out)
	}
	if _, err := os.Stat(filepath.Join(dir, name+".gz")); err != nil {
		t.Error(err)
	}
	again := tr(t, "fetch", "letter", "--mirror", server.URL).Want(t, cli.ExitOK).Out
	for _, says := range []string{name, "712,565", "present", "as published", "CC BY 4.0", "trainer compare --dataset letter"} {
		if !strings.Contains(again, says) {
			t.Errorf("lacks %q:\n%s", says, again)
		}
	}
}
