package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"io"
	"io/fs"
	"time"
)

// file is a file of an archive.
type file struct {
	name       string // with slashes
	text       []byte
	executable bool
}

func (f file) mode() fs.FileMode {
	if f.executable {
		return 0o755
	}
	return 0o644
}

// writeTar writes a compressed tar archive that does not depend on the machine or the time.
func writeTar(to io.Writer, files []file, at time.Time) error {
	compressed := newGzip(to)
	archive := tar.NewWriter(compressed)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Mode: int64(f.mode()), Size: int64(len(f.text)), ModTime: at, Format: tar.FormatPAX}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.text); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return compressed.Close()
}

// writeZip does the same for Windows.
func writeZip(to io.Writer, files []file, at time.Time) error {
	archive := zip.NewWriter(to)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		header.SetMode(f.mode())
		out, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := out.Write(f.text); err != nil {
			return err
		}
	}
	return archive.Close()
}

func compress(to io.Writer, text []byte) error {
	compressed := newGzip(to)
	if _, err := compressed.Write(text); err != nil {
		return err
	}
	return compressed.Close()
}

// newGzip leaves name and time out of the header.
func newGzip(to io.Writer) *gzip.Writer {
	compressed, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		panic(err) // only for an invalid level
	}
	return compressed
}
