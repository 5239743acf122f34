package sets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Variable is the environment variable that names the folder of the data files.
const Variable = "EERF_DATA"

// DefaultDir is the default folder.
const DefaultDir = "data"

// Dir returns the folder of the data files: dir, or the environment's if dir is empty, or
// [DefaultDir].
func Dir(dir string) string {
	if dir != "" {
		return dir
	}
	dir = os.Getenv(Variable)
	if dir != "" {
		return dir
	}
	return DefaultDir
}

// File is a file of a set.
type File struct {
	// Path is the file's path in the data folder, with slashes; the file may also be gzipped, with
	// .gz appended to its name.
	Path string
	// URLs are its published locations; the first one that responds is used.
	URLs []string
	// Member is the file's path in the zip archive at the URLs; empty if they point to the file
	// itself. Files that are served as gzip are stored as gzip, under Path with .gz appended.
	Member string
	// SHA256 is the checksum of the published content, unpacked and uncompressed, in hexadecimal;
	// empty if unknown.
	SHA256 string
	// GitBlob is git's checksum of the same content, SHA-1 of "blob", its length and the content:
	// many public repositories record it when no SHA-256 is known.
	GitBlob string
}

// folder is a folder with the files of a set.
type folder string

// find returns the path of a file in the folder, plain or gzipped.
func (f folder) find(path string) (string, error) {
	plain := filepath.Join(string(f), filepath.FromSlash(path))
	for _, candidate := range []string{plain, plain + ".gz"} {
		info, err := os.Stat(candidate)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("data file: %w", err)
		}
		if !info.IsDir() {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("neither %s nor %s.gz: %w", plain, filepath.Base(plain), fs.ErrNotExist)
}

// Missing lists the files of the set that are not in dir.
func (s *Set) Missing(dir string) []string {
	var missing []string
	for _, file := range s.Files {
		if _, err := folder(dir).find(file.Path); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, file.Path)
		}
	}
	return missing
}

// checkThere returns an error that names the files missing in dir and how to get them.
func (s *Set) checkThere(dir string) error {
	if missing := s.Missing(dir); len(missing) > 0 {
		return fmt.Errorf("%s has no %s (nor any with .gz): run `lab fetch %s --data-dir %s`, or name the folder with "+
			"--data-dir or %s: %w",
			dir, strings.Join(missing, ", "), s.Name, dir, Variable, fs.ErrNotExist)
	}
	return nil
}
