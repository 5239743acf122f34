package crash

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Programs is the folder with the programs of schedules.
type Programs string

// Build builds them into a folder: the two programs, with failpoints if tags say so, and the command of this package,
// which also serves as the embedded broker's process.
func Build(ctx context.Context, dir, tags string) (Programs, error) {
	root, err := Root(ctx)
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

// WithFailpoints is the build tag for the programs of schedules.
const WithFailpoints = "failpoints"

func (p Programs) path(name string) string { return filepath.Join(string(p), name) }

// Root is the folder of this module.
func Root(ctx context.Context) (string, error) {
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/eerf-stream/eerf").Output()
	return strings.TrimSpace(string(dir)), err
}
