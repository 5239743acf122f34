package crash

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime/debug"
)

// root is the folder of this module, relative to the package folder, in which its tests run.
var root = filepath.Join("..", "..")

// build builds featurizer, which has every stage, with failpoints and the build tags of this
// program into a folder, and returns its path. With other tags the recomputed results could come
// from other kernels.
func build(dir string) (program string, err error) {
	program = filepath.Join(dir, "featurizer")
	tags := "failpoints"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				tags += "," + s.Value
			}
		}
	}
	c := exec.Command("go", "build", "-tags", tags, "-ldflags", "-s -w", "-o", program, "./cmd/featurizer")
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return program, nil
}
