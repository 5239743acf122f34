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

// standardOutput in place of a folder sends an archive to standard output, for instance from an
// image without a writable folder.
const standardOutput = "-"

// exportOut receives the files of an export.
type exportOut interface {
	write(name string, content []byte) error
	close() error
}

// newExportOut creates the folder, which must be new or empty, or begins an archive.
func newExportOut(out string, stdout io.Writer) (exportOut, error) {
	if out == standardOutput {
		return &exportArchive{w: tar.NewWriter(stdout), at: time.Now()}, nil
	}
	return exportFolder(out), emptyFolder(out)
}

type exportFolder string

// write creates a file; it fails if the file exists.
func (f exportFolder) write(name string, content []byte) error {
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

func (f exportFolder) close() error { return nil }

type exportArchive struct {
	w  *tar.Writer
	at time.Time
}

func (a *exportArchive) write(name string, content []byte) error {
	header := &tar.Header{
		Name:     "letters/" + name,
		Mode:     0o600,
		Size:     int64(len(content)),
		ModTime:  a.at,
		Typeflag: tar.TypeReg,
	}
	if err := a.w.WriteHeader(header); err != nil {
		return err
	}
	_, err := a.w.Write(content)
	return err
}

func (a *exportArchive) close() error { return a.w.Close() }

// writeJSON writes a value to a file.
func writeJSON(out exportOut, name string, value any) error {
	var text bytes.Buffer
	if err := cli.WriteJSON(&text, value); err != nil {
		return err
	}
	return out.write(name, text.Bytes())
}
