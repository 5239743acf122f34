package crash

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// root is the folder of this module, seen from the package's own, in which its tests run.
var root = filepath.Join("..", "..")

// build builds featurizer, which has every stage, with failpoints into a folder and returns its path.
func build(dir string) (program string, err error) {
	program = filepath.Join(dir, "featurizer")
	c := exec.Command("go", "build", "-tags", "failpoints", "-ldflags", "-s -w", "-o", program, "./cmd/featurizer")
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return program, nil
}
