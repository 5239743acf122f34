package datasets

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
)

// archives are zip files that hold several files of a set: each is downloaded once and removed at the end.
type archives struct {
	fetcher *Fetcher
	dir     string
	got     map[string]string // path by URL
}

func newArchives(f *Fetcher, dir string) *archives {
	return &archives{fetcher: f, dir: dir, got: map[string]string{}}
}

// get downloads the archive if necessary, and returns its path.
func (a *archives) get(ctx context.Context, from string) (string, error) {
	if at, ok := a.got[from]; ok {
		return at, nil
	}
	name := "archive.zip"
	if u, err := url.Parse(from); err == nil {
		name = path.Base(u.Path)
	}
	at := filepath.Join(a.dir, name+partSuffix)
	if err := a.fetcher.download(ctx, from, at); err != nil {
		return "", err
	}
	a.got[from] = at
	return at, nil
}

// drop removes an unusable archive.
func (a *archives) drop(from string) error {
	at := a.got[from]
	delete(a.got, from)
	return discard(at)
}

// remove deletes the archives, once everything needed has been unpacked.
func (a *archives) remove() error {
	var faults []error
	for _, at := range a.got {
		faults = append(faults, discard(at))
	}
	return errors.Join(faults...)
}

// unpack writes one file of an archive to target.
func unpack(archive, member, target string) error {
	r, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("not a zip archive: %w", err)
	}
	defer r.Close() //nolint:errcheck // read only
	entry := findEntry(r.File, member)
	if entry == nil {
		return fmt.Errorf("the archive has no %s", member)
	}
	if entry.UncompressedSize64 > maxContent {
		return fmt.Errorf("%s of the archive has %d MiB, at most %d are taken", member, entry.UncompressedSize64>>20, maxContent>>20)
	}
	content, err := entry.Open()
	if err != nil {
		return fmt.Errorf("unpack %s: %w", member, err)
	}
	defer content.Close()
	file, err := os.Create(target)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", member, err)
	}
	_, err = io.Copy(file, io.LimitReader(content, maxContent)) // zip checks length and CRC at the end
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("unpack %s: %w", member, err), discard(target))
	}
	return nil
}

// findEntry finds a file by its name in the archive or, if its folders have other names, by its last part if that is
// unique.
func findEntry(entries []*zip.File, member string) *zip.File {
	var same []*zip.File
	for _, e := range entries {
		if e.Name == member {
			return e
		}
		if path.Base(e.Name) == path.Base(member) && !e.FileInfo().IsDir() {
			same = append(same, e)
		}
	}
	if len(same) == 1 {
		return same[0]
	}
	return nil
}
