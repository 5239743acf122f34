package sets

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// archive makes a zip file of pairs of names and contents.
func archive(t *testing.T, pairs ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		entry, err := w.Create(pairs[i])
		if err == nil {
			_, err = entry.Write([]byte(pairs[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func sum(content string) string {
	s := sha256.Sum256([]byte(content))
	return hex.EncodeToString(s[:])
}

// served counts the requests to a server of files by path; the first answer to /flaky fails.
func served(t *testing.T, files map[string]string) (url string, requests map[string]int) {
	t.Helper()
	requests = map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests[r.URL.Path]++
		content, ok := files[r.URL.Path]
		switch {
		case r.URL.Path == "/flaky" && requests[r.URL.Path] == 1:
			w.WriteHeader(http.StatusBadGateway)
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = w.Write([]byte(content))
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

func TestFetchDownloadsFromPublishersAndArchives(t *testing.T) {
	url, requests := served(t, map[string]string{
		"/flaky": "rows", "/gz": zipped(t, "zipped rows"), "/a.zip": archive(t, "other/one", "1", "two", "2"),
	})
	set := &Set{Name: "s", Files: []File{
		{Path: "flaky", URLs: []string{url + "/absent", url + "/flaky"}, SHA256: sum("rows")},
		{Path: "folder/gz", URLs: []string{url + "/gz"}, SHA256: sum("zipped rows")},
		{
			Path:    "one",
			URLs:    []string{url + "/a.zip"},
			Member:  "folder/one",
			GitBlob: "56a6051ca2b02b04ef92d5150c9ef600403cb1de",
		},
		{Path: "two", URLs: []string{url + "/a.zip"}, Member: "two"},
	}}
	dir := t.TempDir()
	for range 2 { // the second run downloads nothing
		paths, err := (&Fetcher{}).Fetch(t.Context(), set, dir)
		if err != nil || len(paths) != 4 || paths[1] != filepath.Join(dir, "folder", "gz.gz") {
			t.Fatal(paths, err)
		}
	}
	if one, _ := os.ReadFile(filepath.Join(dir, "one")); string(one) != "1" {
		t.Errorf("one is %q", one)
	}
	if requests["/flaky"] != 2 || requests["/a.zip"] != 1 || requests["/absent"] != 1 {
		t.Errorf("requests %v", requests)
	}
	mirrored, err := (&Fetcher{Mirror: url}).Fetch(t.Context(),
		&Set{Files: []File{{Path: "gz", SHA256: sum("zipped rows")}}}, t.TempDir())
	if err != nil || len(mirrored) != 1 {
		t.Error(mirrored, err)
	}
}

func TestWrongChecksumIsRefused(t *testing.T) {
	url, _ := served(t, map[string]string{"/rows": "other rows", "/a.zip": archive(t, "one", "1")})
	dir := t.TempDir()
	for says, file := range map[string]File{
		"wrong checksum: SHA-256": {Path: "rows", URLs: []string{url + "/rows"}, SHA256: sum("rows")},
		"wrong checksum: git's": {
			Path:    "rows",
			URLs:    []string{url + "/rows"},
			GitBlob: "56a6051ca2b02b04ef92d5150c9ef600403cb1de",
		},
		"the archive has no two":    {Path: "two", URLs: []string{url + "/a.zip"}, Member: "two"},
		"not a zip archive":         {Path: "two", URLs: []string{url + "/rows"}, Member: "two"},
		"/absent: 404 Not Found":    {Path: "two", URLs: []string{url + "/absent"}},
		"unsupported protocol sche": {Path: "two", URLs: []string{"x:/"}},
	} {
		if _, err := (&Fetcher{}).Fetch(t.Context(), &Set{Files: []File{file}}, dir); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want %q in it", err, says)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
			t.Errorf("%s: files after the failure: %v, %v", says, left, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "rows"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := (&Fetcher{}).Fetch(t.Context(), &Set{Files: []File{{Path: "rows", SHA256: sum("rows")}}}, dir)
	if mine, _ := os.ReadFile(filepath.Join(dir, "rows")); !errors.Is(err, ErrChecksum) || string(mine) != "mine" {
		t.Errorf("%q, %v", mine, err)
	}
	if errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
