package crash

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/eerf-stream/eerf/internal/importgraph"
)

// Programs is a folder with the programs that schedules run.
type Programs string

// Build builds them into a folder: the two programs, with failpoints where tags say so, and the command of this package,
// which is also the embedded broker's process.
func Build(ctx context.Context, dir, tags string) (Programs, error) {
	root, err := importgraph.Root(".")
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-tags", tags, "-o", dir+string(filepath.Separator),
		"./cmd/featurizer", "./cmd/trainer", "./internal/crash/soak")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return Programs(dir), nil
}

// WithFailpoints is the tag of programs that schedules run.
const WithFailpoints = "failpoints"

func (p Programs) path(name string) string { return filepath.Join(string(p), name) }
