package datasets

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"
)

// archive is a zip file.
func archive(t testing.TB, contents ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(contents); i += 2 {
		entry, err := w.Create(contents[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Write([]byte(contents[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFetchUnpacksArchivesOnce(t *testing.T) {
	s := serve(t, map[string]string{"/a.zip": archive(t, "old/x/one", "1", "old/y/two", "2", "else", "3")})
	from := []string{s.URL + "/a.zip"}
	set := &Set{Files: []File{
		{Path: "one", URLs: from, Member: "old/x/one", GitBlob: "56a6051ca2b02b04ef92d5150c9ef600403cb1de"}, // git hash-object
		{Path: "d/two", URLs: from, Member: "new/two"},
	}}
	dir := t.TempDir()
	got, err := fetcher().Fetch(t.Context(), set, dir)
	if err != nil || len(s.requests) != 1 || !got[0].Checked || got[1].Checked || got[1].Status != Downloaded {
		t.Fatalf("%+v, %v, %d requests", got, err, len(s.requests))
	}
	holds(t, dir, map[string]string{"one": "1", "d/two": "2"})
}

func TestArchivesThatAreOfNoUseAreRemoved(t *testing.T) {
	good := archive(t, "a/one", "1", "b/one", "2")
	for _, c := range []struct{ content, member, blob, says string }{
		{"no archive", "one", "", "not a zip archive"},
		{good[:len(good)-30], "a/one", "", "not a zip archive"},
		{damaged(t), "a/one", "", "checksum"},
		{good, "c/one", "", "the archive has no c/one"},
		{good, "two", "", "the archive has no two"},
		{good, "a/one", "56a6051ca2b02b04ef92d5150c9ef600403cb1d0", "git's checksum"},
	} {
		s := serve(t, map[string]string{"/a.zip": c.content})
		dir := t.TempDir()
		set := &Set{Files: []File{{Path: "one", URLs: []string{s.URL + "/a.zip"}, Member: c.member, GitBlob: c.blob}}}
		if _, err := fetcher().Fetch(t.Context(), set, dir); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "removed") {
			t.Errorf("%q: %v", c.says, err)
		}
		holds(t, dir, map[string]string{})
	}
}

// damaged is an archive with changed bytes in a/one, which is stored uncompressed so that they can be found.
func damaged(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	entry, err := w.CreateHeader(&zip.FileHeader{Name: "a/one", Method: zip.Store})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := entry.Write([]byte("what it says")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return strings.Replace(b.String(), "what", "that", 1)
}
