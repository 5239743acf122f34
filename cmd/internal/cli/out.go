package cli

import (
	"os"

	"github.com/eerf-stream/eerf/arrowio/files"
)

// CheckOut reports before the work if the file of --out cannot be written or is one of the input
// files. An empty path is ignored.
func CheckOut(out string, read ...string) error {
	if out == "" {
		return nil
	}
	if info, err := os.Stat(out); err == nil {
		for _, path := range read {
			if other, err := os.Stat(path); err == nil && os.SameFile(info, other) {
				return Usagef("--out %s is also an input file; choose another name", out)
			}
		}
	}
	return files.CheckTarget(out)
}
