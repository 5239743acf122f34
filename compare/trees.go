package compare

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/eerf-stream/eerf/scoring"
)

// Trees is the name of the method with boosted trees instead of features.
const Trees = "trees"

//go:embed trees.py
var treesScript string

// python is a python3 with a library of boosted trees.
type python struct{ path string }

// findTrees returns the method that uses the python3 in PATH.
func findTrees(ctx context.Context) (*Method, error) {
	path, err := exec.LookPath("python3")
	if err != nil {
		return nil, errors.New("--trees: no python3 in PATH; install it with LightGBM or scikit-learn")
	}
	p := python{path}
	if _, err := p.run(ctx); err != nil {
		return nil, fmt.Errorf("--trees: %w; try %s -m pip install lightgbm scikit-learn", err, path)
	}
	return &Method{
		Name: Trees, Title: "boosted trees", AnySize: true, predict: p.predict,
		Summary: "No features: boosted trees of LightGBM or scikit-learn " +
			"on the columns themselves, with as many trees as are best on held-out training rows.",
	}, nil
}

// run runs the script and returns its output.
func (p python) run(ctx context.Context, args ...string) ([]byte, error) {
	//nolint:gosec // the user's own python3
	program := exec.CommandContext(ctx, p.path, append([]string{"-c", treesScript}, args...)...)
	// spinning threads take minutes on busy cores
	program.Env = append(os.Environ(), "OMP_WAIT_POLICY=PASSIVE")
	out, err := program.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		lines := strings.Split(strings.TrimSpace(string(exit.Stderr)), "\n")
		return nil, fmt.Errorf("%s: %s (%w)", p.path, lines[len(lines)-1], err)
	}
	return out, err
}

// predictions are the predictions of a method without features for the test rows.
type predictions struct {
	values []float32 // row-major [rows·outputs]; log-odds of classes
	Note   string    `json:"note"`
	// Train and Predict are seconds.
	Train   float64 `json:"train_seconds"`
	Predict float64 `json:"predict_seconds"`
}

// predict chooses a number of trees on the held-out training rows, trains them on all training rows
// and predicts the test rows. Rows and predictions are exchanged as files.
func (p python) predict(ctx context.Context, r *repeat) (found *predictions, err error) {
	dir, err := os.MkdirTemp("", "eerf-trees-")
	if err != nil {
		return nil, fmt.Errorf("rows for boosted trees: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	label := r.train.y
	if r.train.task != scoring.Regression {
		label = make([]float32, r.train.rows)
		for i, class := range r.train.class {
			label[i] = float32(class)
		}
	}
	heldOut := make([]float32, r.train.rows)
	for i, out := range r.heldOut {
		if out {
			heldOut[i] = 1
		}
	}
	columns, plain := r.treeColumns(), r.unclipped()
	train, categories := treeRows(plain.train, columns)
	test, _ := treeRows(plain.test, columns)
	for name, values := range map[string][]float32{"train": train, "label": label, "heldout": heldOut, "test": test} {
		if err := writeFloats(filepath.Join(dir, name), values); err != nil {
			return nil, fmt.Errorf("rows for boosted trees: %w", err)
		}
	}
	args := []string{dir}
	for _, n := range []int{
		r.train.rows, r.test.rows, len(train) / r.train.rows, r.train.outputs, r.train.classes, runtime.GOMAXPROCS(0),
		int(r.seed & 0x7fffffff),
	} {
		args = append(args, strconv.Itoa(n))
	}
	for _, column := range categories {
		args = append(args, strconv.Itoa(column))
	}
	said, err := p.run(ctx, args...)
	if err != nil {
		return nil, err
	}
	found = &predictions{values: make([]float32, r.test.rows*r.test.outputs)}
	if err := json.Unmarshal(said, found); err != nil {
		return nil, fmt.Errorf("boosted trees: %w", err)
	}
	return found, readFloats(filepath.Join(dir, "predicted"), found.values)
}

// writeFloats writes numbers in little-endian order.
func writeFloats(path string, values []float32) error {
	file, err := os.Create(path) //nolint:gosec // in a temporary folder of its own
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(file)
	var b []byte
	for len(values) > 0 && err == nil {
		n := min(len(values), 1<<14)
		b, _ = binary.Append(b[:0], binary.LittleEndian, values[:n]) // cannot fail for float32
		_, err = buffered.Write(b)
		values = values[n:]
	}
	return errors.Join(err, buffered.Flush(), file.Close())
}

// readFloats fills into from a file of exactly that many numbers.
func readFloats(path string, into []float32) error {
	content, err := os.ReadFile(path) //nolint:gosec // in a temporary folder of its own
	if err != nil {
		return fmt.Errorf("predictions of boosted trees: %w", err)
	}
	if len(content) != 4*len(into) {
		return fmt.Errorf("boosted trees predicted %d bytes, not %d numbers", len(content), len(into))
	}
	_, err = binary.Decode(content, binary.LittleEndian, into)
	return err
}
