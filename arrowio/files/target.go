package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// target is the file being written: a temporary file in the same folder that commit renames, or
// path itself if that is not a regular file.
type target struct {
	*os.File
	path      string
	temporary string // "" when path is written directly
	done      bool
}

// createTarget opens the file that will become path.
func createTarget(path string) (*target, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, errors.New("is a directory")
	case err == nil && !info.Mode().IsRegular():
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, bare(err)
		}
		return &target{File: file, path: path}, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, bare(err)
	}
	mode := fs.FileMode(0o644)
	if err == nil {
		mode = info.Mode().Perm()
	}
	folder := filepath.Dir(path)
	file, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, fmt.Errorf("folder %s: %w", folder, bare(err))
	}
	t := &target{File: file, path: path, temporary: file.Name()}
	if err := file.Chmod(mode); err != nil {
		return nil, errors.Join(bare(err), t.discard())
	}
	return t, nil
}

// commit makes the bytes durable and gives them their name.
func (t *target) commit() error {
	t.done = true
	if t.temporary == "" {
		return bare(t.File.Close())
	}
	err := t.File.Sync()
	err = errors.Join(err, t.File.Close())
	if err == nil {
		err = os.Rename(t.temporary, t.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(t.temporary))
	}
	return nil
}

// discard removes the temporary file.
func (t *target) discard() error {
	t.done = true
	err := t.File.Close()
	if t.temporary != "" {
		err = errors.Join(err, os.Remove(t.temporary))
	}
	return err
}

// WriteWhole writes a file that appears under its name only once it is complete, replacing an
// existing one. Anything but a regular file is written directly.
func WriteWhole(path string, value []byte) error {
	out, err := createTarget(path)
	if err != nil {
		return &Error{Path: path, Err: err}
	}
	if _, err := out.Write(value); err != nil {
		return &Error{Path: path, Err: errors.Join(bare(err), out.discard())}
	}
	if err := out.commit(); err != nil {
		return &Error{Path: path, Err: err}
	}
	return nil
}

// CheckTarget reports whether a file could not be created at path, for programs that work for a
// long time before they write. Anything but a regular file is not tried.
func CheckTarget(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil
	}
	out, err := createTarget(path)
	if err == nil {
		err = out.discard()
	}
	if err != nil {
		return &Error{Path: path, Err: err}
	}
	return nil
}
