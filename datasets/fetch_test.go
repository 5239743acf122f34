package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// server serves contents by path, and records the requests. fault, if not nil, may answer a request itself and then
// returns true.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	contents map[string]string
	requests []string // "path" or "path bytes=5-"
	noTags   bool
	fault    func(w http.ResponseWriter, r *http.Request, number int) bool
}

func serve(t *testing.T, contents map[string]string) *server {
	t.Helper()
	s := &server{contents: contents}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	content, ok := s.contents[r.URL.Path]
	s.requests = append(s.requests, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Range")))
	number := len(s.requests)
	s.mu.Unlock()
	if s.fault != nil && s.fault(w, r, number) {
		return
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	if s.noTags {
		fmt.Fprint(w, content)
		return
	}
	w.Header().Set("ETag", `"`+sha(content)[:8]+`"`)
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
}

// breakOff sends the first bytes of content and then breaks the connection.
func breakOff(w http.ResponseWriter, content string, n int) {
	w.Header().Set("ETag", `"`+sha(content)[:8]+`"`)
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	fmt.Fprint(w, content[:n])
	if err := http.NewResponseController(w).Flush(); err != nil {
		panic(err)
	}
	panic(http.ErrAbortHandler)
}

func sha(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// fetcher makes its attempts without pauses.
func fetcher() *Fetcher { return &Fetcher{pause: time.Nanosecond} }

// oneFile is a set with one file, served at /f.
func oneFile(s *server, content string) *Set {
	return &Set{Name: "one", Files: []File{{Path: "sub/f", URLs: []string{s.URL + "/f"}, SHA256: sha(content)}}}
}

// holds checks the contents of the folder, by path.
func holds(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[filepath.ToSlash(name)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(found) != fmt.Sprint(want) {
		t.Errorf("the folder holds %.300q, want %.300q", found, want)
	}
}

var content = strings.Repeat("0123456789", 100_000)

func TestFetchAFileAsAWhole(t *testing.T) {
	s := serve(t, map[string]string{"/f": content})
	dir := t.TempDir()
	var seen []int64
	f := fetcher()
	f.Watch = func(_ string, done, total int64) {
		seen = append(seen, done)
		if total != int64(len(content)) {
			t.Errorf("total %d", total)
		}
	}
	got, err := f.Fetch(t.Context(), oneFile(s, content), dir)
	want := Fetched{Path: filepath.Join(dir, "sub", "f"), Status: Downloaded, Checked: true, URL: s.URL + "/f", Bytes: int64(len(content)), SHA256: sha(content)}
	if err != nil || len(got) != 1 || got[0] != want {
		t.Fatalf("%+v, %v", got, err)
	}
	if !slices.IsSorted(seen) || seen[len(seen)-1] != int64(len(content)) {
		t.Errorf("progress %v", seen)
	}
	holds(t, dir, map[string]string{"sub/f": content})
	got, err = f.Fetch(t.Context(), oneFile(s, content), dir)
	want.Status, want.URL = Present, ""
	if err != nil || got[0] != want || len(s.requests) != 1 {
		t.Errorf("the second time %+v, %v, %d requests", got, err, len(s.requests))
	}
}

func TestFetchGoesOnWhereItWasBrokenOff(t *testing.T) {
	s := serve(t, map[string]string{"/f": content})
	s.fault = func(w http.ResponseWriter, _ *http.Request, number int) bool {
		if number == 1 {
			breakOff(w, content, 400_000)
		}
		return false
	}
	dir := t.TempDir()
	if _, err := fetcher().Fetch(t.Context(), oneFile(s, content), dir); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, map[string]string{"sub/f": content})
	if len(s.requests) != 2 || !strings.HasPrefix(s.requests[1], "/f bytes=") || s.requests[1] == "/f bytes=0-" {
		t.Errorf("requests %q", s.requests)
	}
}

func TestFetchGoesOnInTheNextCall(t *testing.T) {
	s := serve(t, map[string]string{"/f": content})
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	first := fetcher()
	first.Watch = func(_ string, done, _ int64) {
		if done >= 100_000 {
			cancel()
		}
	}
	if _, err := first.Fetch(ctx, oneFile(s, content), dir); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	have := size(filepath.Join(dir, "sub", "f.part"))
	if have < 100_000 || have > int64(len(content)) {
		t.Fatalf("%d bytes are kept", have)
	}
	if _, err := fetcher().Fetch(t.Context(), oneFile(s, content), dir); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, map[string]string{"sub/f": content})
	if s.requests[1] != fmt.Sprintf("/f bytes=%d-", have) {
		t.Errorf("requests %q", s.requests)
	}
}

func TestFetchOfACompletePartAsksForNothingMore(t *testing.T) {
	s := serve(t, map[string]string{"/f": content})
	dir := write(t, map[string]string{"sub/f.part": content, "sub/f.part.note": s.URL + "/f\n\"" + sha(content)[:8] + "\"\n"})
	if _, err := fetcher().Fetch(t.Context(), oneFile(s, content), dir); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, map[string]string{"sub/f": content})
}

func TestFetchStartsAnewWhenTheFileHasChanged(t *testing.T) {
	for name, note := range map[string]string{"other version": "\"other\"", "other URL": "", "no version": ""} {
		s := serve(t, map[string]string{"/f": content})
		url := s.URL + "/f"
		if name == "other URL" {
			url, note = s.URL+"/g", `"`+sha(content)[:8]+`"`
		}
		dir := write(t, map[string]string{"sub/f.part": "what was there before", "sub/f.part.note": url + "\n" + note + "\n"})
		if _, err := fetcher().Fetch(t.Context(), oneFile(s, content), dir); err != nil {
			t.Fatal(name, err)
		}
		holds(t, dir, map[string]string{"sub/f": content})
	}
}

func TestFetchFromAServerWithoutRanges(t *testing.T) {
	for _, tagged := range []bool{true, false} {
		s := serve(t, map[string]string{"/f": content})
		s.noTags = true // answers every request with the whole file
		s.fault = func(w http.ResponseWriter, _ *http.Request, number int) bool {
			if number > 2 {
				return false
			}
			if tagged {
				breakOff(w, content, 300_000)
			}
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			fmt.Fprint(w, content[:300_000])
			panic(http.ErrAbortHandler)
		}
		dir := t.TempDir()
		if _, err := fetcher().Fetch(t.Context(), oneFile(s, content), dir); err != nil {
			t.Fatal(err)
		}
		holds(t, dir, map[string]string{"sub/f": content})
		if ranged := strings.Contains(s.requests[1], "bytes="); ranged != tagged {
			t.Errorf("requests %q of a file with a version: %v", s.requests, tagged)
		}
	}
}

func TestFetchRefusesAnotherRangeThanAskedFor(t *testing.T) {
	s := serve(t, map[string]string{"/f": content})
	s.fault = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.Header.Get("Range") == "" {
			return false
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-9/%d", len(content)))
		w.WriteHeader(http.StatusPartialContent)
		fmt.Fprint(w, content[:10])
		return true
	}
	dir := write(t, map[string]string{"sub/f.part": "01234", "sub/f.part.note": s.URL + "/f\n\"v\"\n"})
	if _, err := fetcher().Fetch(t.Context(), oneFile(s, content), dir); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, map[string]string{"sub/f": content})
}

func TestFetchRemovesWhatHasAWrongChecksum(t *testing.T) {
	s := serve(t, map[string]string{"/f": "something else"})
	dir := t.TempDir()
	_, err := fetcher().Fetch(t.Context(), oneFile(s, content), dir)
	if !errors.Is(err, ErrChecksum) {
		t.Fatal(err)
	}
	for _, says := range []string{"fetch sub/f: ", s.URL + "/f", "is " + sha("something else"), "want " + sha(content), "the file was removed"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%v lacks %q", err, says)
		}
	}
	holds(t, dir, map[string]string{})
}

func TestFetchOfWhatIsNotThere(t *testing.T) {
	s := serve(t, nil)
	dir := t.TempDir()
	_, err := fetcher().Fetch(t.Context(), oneFile(s, content), dir)
	if err == nil || !strings.Contains(err.Error(), s.URL+"/f: 404 Not Found") || len(s.requests) != 1 {
		t.Errorf("%v after %d requests", err, len(s.requests))
	}
	holds(t, dir, map[string]string{})
}

func TestFetchTriesAgainWhileAServerIsUnwell(t *testing.T) {
	s := serve(t, map[string]string{"/f": content})
	s.fault = func(w http.ResponseWriter, _ *http.Request, number int) bool {
		if number <= 2 {
			http.Error(w, "later", http.StatusServiceUnavailable)
		}
		return number <= 2
	}
	if _, err := fetcher().Fetch(t.Context(), oneFile(s, content), t.TempDir()); err != nil || len(s.requests) != 3 {
		t.Errorf("%v after %d requests", err, len(s.requests))
	}
	s.fault = func(w http.ResponseWriter, _ *http.Request, _ int) bool { breakOff(w, content, 0); return true }
	_, err := fetcher().Fetch(t.Context(), oneFile(s, content), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "gave up after 4 attempts") || len(s.requests) != 7 {
		t.Errorf("%v after %d requests", err, len(s.requests))
	}
}

func TestFetchGivesUpOnASilentServer(t *testing.T) {
	s := serve(t, nil)
	done := make(chan struct{})
	defer close(done)
	s.fault = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		select {
		case <-done:
		case <-r.Context().Done():
		}
		return true
	}
	f := fetcher()
	f.silence = time.Millisecond
	if _, err := f.Fetch(t.Context(), oneFile(s, content), t.TempDir()); err == nil || !strings.Contains(err.Error(), "the server was silent for 1ms") {
		t.Error(err)
	}
}

func TestFetchTakesTheNextPlaceWhereOneFails(t *testing.T) {
	s := serve(t, map[string]string{"/bad": "bad", "/good": content})
	set := oneFile(s, content)
	set.Files[0].URLs = []string{s.URL + "/absent", s.URL + "/bad", s.URL + "/good"}
	dir := t.TempDir()
	got, err := fetcher().Fetch(t.Context(), set, dir)
	if err != nil || got[0].URL != s.URL+"/good" {
		t.Errorf("%+v, %v", got, err)
	}
	holds(t, dir, map[string]string{"sub/f": content})
}

func TestFetchKeepsGzipAndChecksWhatIsInIt(t *testing.T) {
	packed := zipped(t, content)
	s := serve(t, map[string]string{"/f": packed, "/mirror/sub/f.gz": packed})
	dir := t.TempDir()
	got, err := fetcher().Fetch(t.Context(), oneFile(s, content), dir)
	if err != nil || got[0].SHA256 != sha(content) || got[0].Bytes != int64(len(content)) {
		t.Fatalf("%+v, %v", got, err)
	}
	holds(t, dir, map[string]string{"sub/f.gz": packed})
	f := fetcher()
	f.Mirror = s.URL + "/mirror/"
	dir = t.TempDir()
	if got, err = f.Fetch(t.Context(), oneFile(s, content), dir); err != nil || got[0].URL != s.URL+"/mirror/sub/f.gz" {
		t.Fatalf("%+v, %v", got, err)
	}
	holds(t, dir, map[string]string{"sub/f.gz": packed})
}

func TestFetchLeavesTheUsersFilesAlone(t *testing.T) {
	s := serve(t, map[string]string{"/f": content})
	dir := write(t, map[string]string{"sub/f": "the user's"})
	got, err := fetcher().Fetch(t.Context(), oneFile(s, content), dir)
	if err != nil || got[0].Status != Kept || got[0].SHA256 != sha("the user's") || len(s.requests) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
	holds(t, dir, map[string]string{"sub/f": "the user's"})
}

func TestFetchWithoutAPlaceToWrite(t *testing.T) {
	s := serve(t, map[string]string{"/f": content})
	dir := write(t, map[string]string{"sub": "a file where the folder should be"})
	if _, err := fetcher().Fetch(t.Context(), oneFile(s, content), dir); err == nil || len(s.requests) > 0 {
		t.Errorf("%v after %d requests", err, len(s.requests))
	}
	full := "/dev/full" // every write fails as on a full disk
	if _, err := os.Stat(full); err != nil {
		t.Skip(full, err)
	}
	p := &partFile{fetcher: fetcher(), total: -1, alive: func() error { return nil }}
	if err := p.copy(full, strings.NewReader("x")); !errors.Is(err, errWrite) || !strings.Contains(err.Error(), "no space left on device") {
		t.Error(err)
	}
}

func TestRedirectsStayPrivate(t *testing.T) {
	via := []*http.Request{httptest.NewRequest(http.MethodGet, "https://a/", nil)}
	if err := stayPrivate(httptest.NewRequest(http.MethodGet, "http://b/", nil), via); err == nil {
		t.Error("from https to http")
	}
	if err := stayPrivate(httptest.NewRequest(http.MethodGet, "https://b/", nil), via); err != nil {
		t.Error(err)
	}
}
