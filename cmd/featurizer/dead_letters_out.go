package main

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
)

// standardOutput as the folder sends an archive to standard output, for instance from an image that has no folder to write
// to.
const standardOutput = "-"

// letterOut takes the files of an export.
type letterOut interface {
	write(name string, content []byte) error
	close() error
}

// newLetterOut makes the folder, which must be new or empty, or begins an archive.
func newLetterOut(out string, stdout io.Writer) (letterOut, error) {
	if out == standardOutput {
		return &letterArchive{w: tar.NewWriter(stdout), at: time.Now()}, nil
	}
	return letterFolder(out), emptyFolder(out)
}

type letterFolder string

// write writes a file that must not exist yet.
func (f letterFolder) write(name string, content []byte) error {
	file, err := os.OpenFile(filepath.Join(string(f), name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

func (f letterFolder) close() error { return nil }

type letterArchive struct {
	w  *tar.Writer
	at time.Time
}

func (a *letterArchive) write(name string, content []byte) error {
	header := &tar.Header{Name: "letters/" + name, Mode: 0o600, Size: int64(len(content)), ModTime: a.at, Typeflag: tar.TypeReg}
	if err := a.w.WriteHeader(header); err != nil {
		return err
	}
	_, err := a.w.Write(content)
	return err
}

func (a *letterArchive) close() error { return a.w.Close() }

// writeList writes the file that describes the letters.
func writeList(out letterOut, letters []letterEntry) error {
	var text bytes.Buffer
	if err := cli.WriteJSON(&text, map[string]any{"letters": letters}); err != nil {
		return err
	}
	return out.write(listFile, text.Bytes())
}
