package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
)

// writeSums writes the checksums of all files in a folder, in the form that sha256sum --check reads.
func writeSums(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), entry.Name())
	}
	return toFile(filepath.Join(folder, "SHA256SUMS"), func(out *os.File) error {
		_, err := out.Write(sums.Bytes())
		return err
	})
}
