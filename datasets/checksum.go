package datasets

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// ErrChecksum marks a file that differs from the published one.
var ErrChecksum = errors.New("wrong checksum")

// maxContent bounds a file's uncompressed content.
const maxContent = 4 << 30

// sums are the checksums of a file's uncompressed content.
type sums struct {
	sha256, gitBlob string
	bytes           int64
	gzipped         bool
}

// contentSums reads a file twice: git's checksum starts with the length, which gzip does not give.
func contentSums(path string) (sums, error) {
	var s sums
	plain := sha256.New()
	var err error
	if s.bytes, s.gzipped, err = readContent(path, plain); err != nil {
		return s, err
	}
	s.sha256 = hex.EncodeToString(plain.Sum(nil))
	blob := sha1.New()
	fmt.Fprintf(blob, "blob %d\x00", s.bytes)
	if _, _, err = readContent(path, blob); err != nil {
		return s, err
	}
	s.gitBlob = hex.EncodeToString(blob.Sum(nil))
	return s, nil
}

// readContent writes a file's content to w, uncompressed.
func readContent(path string, w io.Writer) (n int64, gzipped bool, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, false, fmt.Errorf("open: %w", err)
	}
	defer file.Close()
	var r io.Reader = bufio.NewReaderSize(file, 1<<18)
	if head, _ := r.(*bufio.Reader).Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		gzipped = true
		if r, err = gzip.NewReader(r); err != nil {
			return 0, true, fmt.Errorf("gzip: %w", err)
		}
	}
	n, err = io.Copy(w, io.LimitReader(r, maxContent+1))
	if err == nil && n > maxContent {
		err = fmt.Errorf("more than %d MiB", maxContent>>20)
	}
	if err != nil {
		return n, gzipped, fmt.Errorf("read after %d bytes: %w", n, err)
	}
	return n, gzipped, nil
}

// check compares with the published checksums, as far as they are known.
func (s sums) check(file File) error {
	if file.SHA256 != "" && !strings.EqualFold(s.sha256, file.SHA256) {
		return fmt.Errorf("%w: SHA-256 of the content is %s, want %s", ErrChecksum, s.sha256, file.SHA256)
	}
	if file.GitBlob != "" && !strings.EqualFold(s.gitBlob, file.GitBlob) {
		return fmt.Errorf("%w: git's checksum of the content is %s, want %s", ErrChecksum, s.gitBlob, file.GitBlob)
	}
	return nil
}
