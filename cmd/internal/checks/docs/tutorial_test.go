package docs

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/internal/freeport"
)

// Words after ```sh in the tutorial: commands for another terminal, and commands that are not
// tested here.
const (
	background = "background"
	setup      = "setup"   // the clone and the build
	cluster    = "cluster" // needs Kubernetes
)

// modelsFile is the file to which the script writes the list of models, newest first.
const modelsFile = "models.json"

// featurized waits until all produced rows are featurized, because the script is faster than a
// reader. Before the stages run there is nothing to wait for.
const featurized = `produced=0
featurized() {
  produced=$((produced + $(wc -l <"$1") - 1))
  while metrics=$(curl -fs http://127.0.0.1:9464/metrics); do
    rows=$(awk '/^eerf_rows_total[{]outcome="featurized".*stage="featurize"/ { n += $NF }
      END { printf "%d", n }' <<<"$metrics")
    ((rows >= produced)) && return
    sleep 0.1
  done
}
`

var produce = regexp.MustCompile(`(?m)^featurizer produce .*--data (\S+)$`)

// script joins the commands of the tutorial in one shell script.
func script(t *testing.T, blocks []block) (text string, ran int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("set -euo pipefail\npids=()\ntrap 'kill \"${pids[@]}\" 2>/dev/null || true' EXIT\ntrap 'exit 143' " +
		"TERM\n" + featurized)
	for _, block := range blocks {
		language, kind, _ := strings.Cut(block.info, " ")
		if language != "sh" || kind == setup || kind == cluster {
			continue
		}
		command := strings.TrimSpace(block.text)
		ran++
		switch kind {
		case "":
			fmt.Fprintf(&b, "echo '== block %d' >&2\n%s\n", ran, produce.ReplaceAllString(command, "$0\nfeaturized $1"))
		case background:
			if strings.Contains(command, "\n") {
				t.Fatalf("a block in the background is one command:\n%s", command)
			}
			fmt.Fprintf(&b, "%s >background-%d.log 2>&1 &\npids+=($!)\n", command, ran)
		default:
			t.Fatalf("a block of kind %q", kind)
		}
	}
	fmt.Fprintf(&b, "trainer models list -c eerf.yaml --json >%s\n", modelsFile)
	// Like Ctrl-C in each terminal, the last one first; every program must exit cleanly.
	b.WriteString(`for ((i = ${#pids[@]} - 1; i >= 0; i--)); do kill -INT "${pids[i]}"; wait "${pids[i]}"; done` +
		"\npids=()\n")
	return b.String(), ran
}

// The tutorial is followed literally, except for the ports, up to the part that needs Kubernetes.
// Its Python runs if numpy and pyarrow are installed.
func TestTutorialCommandsSucceed(t *testing.T) {
	if testing.Short() {
		t.Skip("builds both programs without the race detector, and runs the whole tutorial")
	}
	for _, tool := range []string{"bash", "awk", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	path, dir := os.Getenv("PATH"), t.TempDir()
	for _, program := range []string{"featurizer", "trainer"} {
		path = filepath.Dir(clitest.Program(t, program)) + string(os.PathListSeparator) + path
	}
	text, ran := script(t, readPages(t)["docs/tutorial.md"].blocks)
	if ran < 12 {
		t.Errorf("%d blocks of commands in the tutorial", ran)
	}
	admin := freeport.Address(t)
	text = strings.NewReplacer("127.0.0.1:9092", freeport.Address(t), "127.0.0.1:9464", admin).Replace(text)
	if !hasPython("numpy", "pyarrow") {
		text = strings.ReplaceAll(text, "python3 ", ": python3 ")
	}
	packages, err := filepath.Abs(filepath.Join(root, "python"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(packages, filepath.Join(dir, "python")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*clitest.Patience) // it waits for services in loops
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-c", text)
	shell.Cancel = func() error { return shell.Process.Signal(syscall.SIGTERM) } // it ends the processes that it started
	shell.Dir = dir
	shell.Env = append(os.Environ(), "EERF_ADMIN__LISTEN="+admin, "PYTHONDONTWRITEBYTECODE=1",
		"PATH="+path)
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
	for _, text := range []string{"misclassification", "feature set", `"ready": true`,
		"held-out rows new to both", "labelled rows, held out but older than the rows that judge"} {
		if !strings.Contains(string(out), text) {
			t.Errorf("the output of the tutorial's commands lacks %q:\n%s", text, out)
		}
	}
	newSeason(t, filepath.Join(dir, modelsFile))
}

// newSeason checks the tutorial's promise: with features explored in the new season, models have
// far smaller errors.
func newSeason(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Models []struct {
			FeatureSet string          `json:"feature_set"`
			Metrics    wire.Metrics    `json:"metrics"`
			Judgement  *wire.Judgement `json:"judgement"`
		} `json:"models"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Models) != 4 {
		t.Fatalf("%d models, want one of each training:\n%s", len(list.Models), text)
	}
	after, before := list.Models[0], list.Models[1]
	if after.FeatureSet == before.FeatureSet || after.Judgement == nil || after.Judgement.Verdict != wire.VerdictNewSet {
		t.Errorf("the last model does not belong to a new feature set:\n%s", text)
	}
	if *after.Metrics.Misclassification > *before.Metrics.Misclassification/2 {
		t.Errorf("%.2f %% errors before the exploration, %.2f %% after it", *before.Metrics.Misclassification,
			*after.Metrics.Misclassification)
	}
}
