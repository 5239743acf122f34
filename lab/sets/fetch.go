package sets

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Fetcher downloads the files of sets.
type Fetcher struct {
	// Client makes the requests; nil means http.DefaultClient, which takes its proxy from
	// HTTPS_PROXY.
	Client *http.Client
	// Mirror, if not empty, is the URL of a folder that has the files under their paths, gzipped or
	// not. They are then downloaded from the mirror instead of their published locations.
	Mirror string

	archives map[string][]byte // zip files that hold several files of a set, by URL
}

// ErrChecksum marks a file that differs from the published one.
var ErrChecksum = errors.New("wrong checksum")

// attempts is the number of requests for a URL.
const attempts = 3

// Fetch downloads the missing files of the set into dir, and returns the paths of all. It does not
// overwrite files; a file with a wrong checksum is an error.
func (f *Fetcher) Fetch(ctx context.Context, set *Set, dir string) ([]string, error) {
	f.archives = map[string][]byte{}
	var paths []string
	for _, file := range set.Files {
		at, err := folder(dir).find(file.Path)
		if errors.Is(err, fs.ErrNotExist) {
			at, err = f.file(ctx, file, filepath.Join(dir, filepath.FromSlash(file.Path)))
		}
		if err == nil {
			err = file.check(at)
		}
		if err != nil {
			return paths, fmt.Errorf("fetch %s: %w", file.Path, err)
		}
		paths = append(paths, at)
	}
	return paths, nil
}

// file downloads one file to target, or with .gz appended if it is served as gzip.
func (f *Fetcher) file(ctx context.Context, file File, target string) (string, error) {
	urls := file.URLs
	if f.Mirror != "" {
		url := strings.TrimSuffix(f.Mirror, "/") + "/" + file.Path
		urls = []string{url, url + ".gz"}
	}
	var faults []error
	for _, url := range urls {
		content, err := f.content(ctx, file, url)
		if err == nil {
			return store(file, content, target)
		}
		faults = append(faults, err)
	}
	return "", errors.Join(faults...)
}

// content downloads a file, out of an archive if it is in one.
func (f *Fetcher) content(ctx context.Context, file File, url string) ([]byte, error) {
	if file.Member == "" || f.Mirror != "" {
		return f.get(ctx, url)
	}
	archive := f.archives[url]
	if archive == nil {
		var err error
		if archive, err = f.get(ctx, url); err != nil {
			return nil, err
		}
		f.archives[url] = archive
	}
	content, err := unpack(archive, file.Member)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	return content, nil
}

// get requests a URL, several times if necessary.
func (f *Fetcher) get(ctx context.Context, url string) (content []byte, err error) {
	for range attempts {
		var again bool
		content, again, err = f.attempt(ctx, url)
		if err == nil || !again || ctx.Err() != nil {
			break
		}
	}
	return content, err
}

// attempt makes one request; again reports whether another may succeed.
func (f *Fetcher) attempt(ctx context.Context, url string) (content []byte, again bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, false, err
	}
	request.Header.Set("Accept-Encoding", "identity") // otherwise the transport would decompress gzip
	client := f.Client
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, true, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, response.StatusCode >= 500, fmt.Errorf("%s: %s", url, response.Status)
	}
	if content, err = io.ReadAll(response.Body); err != nil {
		return nil, true, fmt.Errorf("%s: after %d bytes: %w", url, len(content), err)
	}
	return content, false, nil
}

// store writes the content if its checksum is right.
func store(file File, content []byte, target string) (string, error) {
	if bytes.HasPrefix(content, gzipMagic) {
		target += ".gz"
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o750); err != nil {
		return "", err
	}
	part := target + ".part"
	if err := os.WriteFile(part, content, 0o600); err != nil {
		return "", err
	}
	if err := file.check(part); err != nil {
		return "", errors.Join(err, os.Remove(part))
	}
	return target, os.Rename(part, target)
}

// check compares a file's uncompressed content with the published checksums, as far as they are
// known.
func (file File) check(path string) error {
	if file.SHA256 == "" && file.GitBlob == "" {
		return nil
	}
	content, err := readContent(path)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(content); file.SHA256 != "" && hex.EncodeToString(sum[:]) != file.SHA256 {
		return fmt.Errorf("%s: %w: SHA-256 of the content is %x, want %s", path, ErrChecksum, sum, file.SHA256)
	}
	if file.GitBlob == "" {
		return nil
	}
	blob := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(content)), content...))
	if hex.EncodeToString(blob[:]) != file.GitBlob {
		return fmt.Errorf("%s: %w: git's checksum of the content is %x, want %s", path, ErrChecksum, blob, file.GitBlob)
	}
	return nil
}

var gzipMagic = []byte{0x1f, 0x8b}

// readContent reads a file, uncompressed.
func readContent(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(content, gzipMagic) {
		return content, err
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(content))
	if err == nil {
		content, err = io.ReadAll(unzipped)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: gzip: %w", path, err)
	}
	return content, nil
}

// unpack returns one file of a zip archive, by its name or, if its folders have other names, by its
// last part.
func unpack(archive []byte, member string) ([]byte, error) {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("not a zip archive: %w", err)
	}
	for _, same := range []func(name string) bool{
		func(name string) bool { return name == member },
		func(name string) bool { return path.Base(name) == path.Base(member) },
	} {
		for _, entry := range r.File {
			if !same(entry.Name) {
				continue
			}
			content, err := entry.Open()
			if err != nil {
				return nil, fmt.Errorf("unpack %s: %w", member, err)
			}
			defer content.Close()
			return io.ReadAll(content) // checks length and CRC at the end
		}
	}
	return nil, fmt.Errorf("the archive has no %s", member)
}
