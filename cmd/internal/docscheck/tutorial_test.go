package docscheck

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// Words behind ```sh in the tutorial: what the reader does in another terminal, and what is not tried here.
const (
	background = "background"
	setup      = "setup"   // the clone and the build
	cluster    = "cluster" // needs Kubernetes
)

// script puts the commands of the tutorial together, in one shell as the reader types them.
func script(t *testing.T, blocks []block) (text string, ran int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("set -euo pipefail\npids=()\ntrap 'kill \"${pids[@]}\" 2>/dev/null || true' EXIT\ntrap 'exit 143' TERM\n")
	for _, block := range blocks {
		language, kind, _ := strings.Cut(block.info, " ")
		if language != "sh" || kind == setup || kind == cluster {
			continue
		}
		command := strings.TrimSpace(block.text)
		ran++
		switch kind {
		case "":
			fmt.Fprintf(&b, "echo '== block %d' >&2\n%s\n", ran, command)
		case background:
			if strings.Contains(command, "\n") {
				t.Fatalf("a block in the background is one command:\n%s", command)
			}
			fmt.Fprintf(&b, "%s >background-%d.log 2>&1 &\npids+=($!)\n", command, ran)
		default:
			t.Fatalf("a block of kind %q", kind)
		}
	}
	// As Ctrl-C in each terminal, the last opened first; every program has to end well.
	b.WriteString(`for ((i = ${#pids[@]} - 1; i >= 0; i--)); do kill -INT "${pids[i]}"; wait "${pids[i]}"; done` + "\npids=()\n")
	return b.String(), ran
}

// freePort returns a port that nothing listens at, below those that systems hand out: no connection takes it meanwhile.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(10000 + rand.IntN(10000))
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
		if err == nil {
			listener.Close()
			return port
		}
	}
	t.Fatal("no free port")
	return ""
}

// The tutorial is followed literally, but for the ports, up to where it needs Kubernetes. Its Python is tried where
// numpy and pyarrow are there.
func TestTutorialCanBeFollowed(t *testing.T) {
	if testing.Short() || underRace {
		t.Skip("builds both programs, without the race detector, and runs all that the tutorial runs")
	}
	for _, tool := range []string{"bash", "awk", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	bin, dir := t.TempDir(), t.TempDir()
	if _, err := clitest.Build(bin); err != nil {
		t.Fatal(err)
	}
	text, ran := script(t, readPages(t)["docs/tutorial.md"].blocks)
	if ran < 12 {
		t.Errorf("%d blocks of commands in the tutorial", ran)
	}
	admin := freePort(t)
	text = strings.NewReplacer("9092", freePort(t), "9464", admin).Replace(text)
	if !hasPython("numpy", "pyarrow") {
		text = strings.ReplaceAll(text, "python3 ", ": python3 ")
	}
	examples, err := filepath.Abs(filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(examples, filepath.Join(dir, "examples")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*clitest.Patience) // it waits for services in loops
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-c", text)
	shell.Cancel = func() error { return shell.Process.Signal(syscall.SIGTERM) } // it ends what it started
	shell.Dir = dir
	shell.Env = append(os.Environ(), "EERF_ADMIN__LISTEN=127.0.0.1:"+admin, "PYTHONDONTWRITEBYTECODE=1",
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Errorf("the tutorial ends with %v:\n%s", err, out)
		logs, _ := filepath.Glob(filepath.Join(dir, "background-*.log"))
		for _, path := range logs {
			said, _ := os.ReadFile(path)
			t.Logf("%s:\n%s", filepath.Base(path), said)
		}
		return
	}
	for _, text := range []string{"misclassification", "feature set", `"ready": true`} {
		if !strings.Contains(string(out), text) {
			t.Errorf("the tutorial's commands say nothing of %q:\n%s", text, out)
		}
	}
}
