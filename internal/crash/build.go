package crash

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// root is the folder of this module, seen from the package's own, in which its tests run.
var root = filepath.Join("..", "..")

// programs is a folder with the two programs.
type programs string

// build builds them with failpoints.
func build(ctx context.Context, dir string) (programs, error) {
	c := exec.CommandContext(ctx, "go", "build", "-tags", "failpoints", "-o", dir+string(filepath.Separator), "./cmd/featurizer", "./cmd/trainer")
	c.Dir = root
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return programs(dir), nil
}

func (p programs) path(name string) string { return filepath.Join(string(p), name) }
