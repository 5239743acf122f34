package datasets

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

// DefaultDir is the folder that is used where nobody names one.
const DefaultDir = "data"

// Dir is the folder of the data files: dir itself, else that of the environment, else [DefaultDir].
func Dir(dir string) string {
	if dir != "" {
		return dir
	}
	if dir = os.Getenv(Variable); dir != "" {
		return dir
	}
	return DefaultDir
}

// File is a file of a set.
type File struct {
	// Path is where the file lies in the data folder, with slashes; the file may also be gzipped, with .gz behind its
	// name.
	Path string
	// URLs are where it is published, the first that answers is taken.
	URLs []string
	// Member is the file's path in the zip archive that the URLs give; empty where they give the file itself. What is
	// served as gzip is stored as that, under Path with .gz behind it.
	Member string
	// SHA256 is the checksum of the published content, unpacked and with gzip undone, in hexadecimal; empty where nobody
	// we know of has stated it.
	SHA256 string
	// GitBlob is the checksum that git gives to the same content, SHA-1 of "blob", its length and itself: many public
	// repositories record it where no SHA-256 is known.
	GitBlob string
}

// folder is where the files of a set are looked for.
type folder string

// find returns the path of a file of the folder, plain or gzipped.
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

// checkThere says which files of the set are not in dir, and what to do about it.
func (s *Set) checkThere(dir string) error {
	if missing := s.Missing(dir); len(missing) > 0 {
		return fmt.Errorf("data set %s: %s has no %s (nor any with .gz): run `trainer fetch %s --data-dir %s`, or name the folder with --data-dir or %s: %w",
			s.Name, dir, strings.Join(missing, ", "), s.Name, dir, Variable, fs.ErrNotExist)
	}
	return nil
}
