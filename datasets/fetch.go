package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Outcomes of a requested file.
const (
	// Downloaded files were missing and have been downloaded.
	Downloaded = "downloaded"
	// Present files were there, with the published content.
	Present = "present"
	// Kept files were there with other content than published, and were left alone.
	Kept = "kept"
)

// Fetched says what happened to a file of a set.
type Fetched struct {
	// Path is where the file is.
	Path string `json:"path"`
	// Status is one of the outcomes.
	Status string `json:"status"`
	// Checked says that the published file's checksum is known and was compared.
	Checked bool `json:"checked"`
	// URL is where the file was downloaded from, empty if it was there already.
	URL string `json:"url,omitempty"`
	// Bytes is the length and SHA256 the checksum of its content, without gzip.
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Fetcher downloads the files of sets. The zero value is ready for use.
type Fetcher struct {
	// Client makes the requests; nil means a client that takes its proxy from the environment (HTTPS_PROXY, NO_PROXY)
	// and follows redirects, but never from https to http.
	Client *http.Client
	// Mirror, if not empty, is the URL of a folder that has the files under their paths, gzipped or not. They are then
	// downloaded from there instead of from where they are published.
	Mirror string
	// Watch is called with the progress of the download.
	Watch Watch

	pause   time.Duration // before the second attempt; 0 = defaultPause
	silence time.Duration // how long a server may send nothing; 0 = defaultSilence
}

// Fetch downloads missing files of the set into dir. An interrupted download is resumed by the next attempt or the next
// call. A file without the published checksum is removed and is an error.
func (f *Fetcher) Fetch(ctx context.Context, set *Set, dir string) ([]Fetched, error) {
	var all []Fetched
	archives := newArchives(f, dir)
	for _, file := range set.Files {
		one, err := f.file(ctx, archives, file, dir)
		if err != nil {
			return all, fmt.Errorf("fetch %s: %w", file.Path, err)
		}
		all = append(all, one)
	}
	return all, archives.remove()
}

// file fetches one file unless it is there.
func (f *Fetcher) file(ctx context.Context, archives *archives, file File, dir string) (Fetched, error) {
	switch path, err := folder(dir).find(file.Path); {
	case err == nil:
		return inspect(file, path)
	case !errors.Is(err, fs.ErrNotExist):
		return Fetched{}, err
	}
	target := filepath.Join(dir, filepath.FromSlash(file.Path))
	if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
		return Fetched{}, fmt.Errorf("make the folder: %w", err)
	}
	var faults []error
	for _, url := range f.urls(file) {
		one, err := f.from(ctx, archives, file, url, target)
		if err == nil {
			return one, nil
		}
		if ctx.Err() != nil {
			return Fetched{}, err
		}
		faults = append(faults, err)
	}
	return Fetched{}, errors.Join(faults...)
}

// urls are where the file may be, in the order of attempts.
func (f *Fetcher) urls(file File) []string {
	if f.Mirror == "" {
		return file.URLs
	}
	url := strings.TrimSuffix(f.Mirror, "/") + "/" + file.Path
	return []string{url, url + ".gz"}
}

// from downloads the file from a URL to target, or with .gz appended if it is served as gzip.
func (f *Fetcher) from(ctx context.Context, archives *archives, file File, url, target string) (Fetched, error) {
	part := target + partSuffix
	if file.Member == "" || f.Mirror != "" {
		if err := f.download(ctx, url, part); err != nil {
			return Fetched{}, err
		}
		return settle(file, url, part, target)
	}
	archive, err := archives.get(ctx, url)
	if err != nil {
		return Fetched{}, err
	}
	if err := unpack(archive, file.Member, part); err != nil {
		return Fetched{}, errors.Join(fmt.Errorf("%s: %w; the archive was removed", url, err), archives.drop(url))
	}
	one, err := settle(file, url, part, target)
	if errors.Is(err, ErrChecksum) {
		err = errors.Join(err, archives.drop(url)) // otherwise the next call would unpack it again
	}
	return one, err
}

// settle renames a complete file, or removes it if it is not the published one.
func settle(file File, url, part, target string) (Fetched, error) {
	sums, err := contentSums(part)
	if err == nil {
		err = sums.check(file)
	}
	if err != nil {
		return Fetched{}, errors.Join(fmt.Errorf("%s: %w; the file was removed", url, err), discard(part))
	}
	if sums.gzipped {
		target += ".gz"
	}
	if err := os.Rename(part, target); err != nil {
		return Fetched{}, fmt.Errorf("name the file: %w", err)
	}
	one := Fetched{Path: target, Status: Downloaded, Checked: file.checkable(), URL: url, Bytes: sums.bytes, SHA256: sums.sha256}
	return one, forget(part)
}

// inspect describes an existing file.
func inspect(file File, path string) (Fetched, error) {
	sums, err := contentSums(path)
	if err != nil {
		return Fetched{}, fmt.Errorf("%s: %w", path, err)
	}
	one := Fetched{Path: path, Status: Present, Checked: file.checkable(), Bytes: sums.bytes, SHA256: sums.sha256}
	if sums.check(file) != nil {
		one.Status = Kept
	}
	return one, nil
}

// checkable reports whether a checksum of the file is known.
func (file File) checkable() bool { return file.SHA256 != "" || file.GitBlob != "" }
