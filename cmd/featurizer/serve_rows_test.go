package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// servedSet explores a file of rows and writes the feature set.
func servedSet(t *testing.T) (set string) {
	t.Helper()
	data := clitest.File(t, "rows.csv", clitest.Mixed(2000))
	set = filepath.Join(t.TempDir(), "set.arrow")
	clitest.Run(t, newRoot, "explore", "--data", data, "--label", "churned", "--features", "16", "--candidates", "64",
		"--criterion", "correlation", "--out", set).Want(t, cli.ExitOK)
	return set
}

// serveFile serves a feature set on free ports, and returns the service and the address for rows.
func serveFile(t *testing.T, set string, args ...string) (s *clitest.Process, url string) {
	t.Helper()
	s = service(t, append([]string{"serve", "--feature-set", set, "--set", "serve.listen=127.0.0.1:0",
		"--set", "admin.listen=127.0.0.1:0", "--set", "serve.drain_delay=0s"}, args...)...)
	return s, "http://" + s.LogLine(t, "serving rows").Text(t, "address")
}

func TestServeAnswersRowsFromFile(t *testing.T) {
	set := servedSet(t)
	s, url := serveFile(t, set)
	s.AwaitReady(t)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	post := func(path, body string) (int, string) {
		t.Helper()
		r, err := client.Post(url+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(text)
	}
	code, text := post("/v1/features?missing=allow",
		`[{"city": "Rome", "age": 31}, {"member": true, "income": 900.5, "city": null}]`)
	var got struct {
		FeatureSet string `json:"feature_set"`
		Features   [][]float64
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || code != http.StatusOK || len(got.Features) != 2 ||
		len(got.Features[0]) != 16 || got.FeatureSet == "" {
		t.Errorf("status %d, %v: %.300s", code, err, text)
	}
	if code, text := post("/v1/predict", `{"age": 1}`); code != http.StatusServiceUnavailable ||
		!strings.Contains(text, "only features are served") {
		t.Errorf("predictions without a model: status %d: %s", code, text)
	}
	if n := s.Metric(t, "eerf_serve_requests_total", "endpoint=predict", "outcome=unavailable"); n != 1 {
		t.Errorf("%v requests without a model are counted", n)
	}
	if result := s.Stop(t); result.Code != cli.ExitOK || !strings.Contains(result.Err, "draining requests") {
		t.Errorf("exit code %d:\n%s", result.Code, result.Err)
	}
}

func TestServeNamesMissingSettings(t *testing.T) {
	clitest.Run(t, newRoot, "serve", "--model", "none.arrow").Want(t, cli.ExitFailure, "none.arrow")
	clitest.Run(t, newRoot, "serve", "--set", "serve.max_rows=0").Want(t, cli.ExitUsage, "serve.max_rows")
	clitest.Run(t, newRoot, "config", "check", "--serve", "--set", "memory.limit=128MiB").
		Want(t, cli.ExitUsage, "serve.concurrency")
	if r := clitest.Run(t, newRoot, "config", "check", "--serve").Want(t, cli.ExitOK); !strings.Contains(r.Out,
		"serve: bodies and answers of requests") {
		t.Errorf("check says\n%s", r.Out)
	}
}

// Triton's own client makes the queries that it makes of a Triton model. It runs if
// EERF_TEST_PYTHON, or python3, has tritonclient.
func TestTritonClient(t *testing.T) {
	python := os.Getenv("EERF_TEST_PYTHON")
	if python == "" {
		python = "python3"
	}
	if out, err := exec.Command(python, "-c", "import numpy, tritonclient.http").CombinedOutput(); err != nil {
		t.Skipf("%s has no tritonclient[http]: %v %s", python, err, out)
	}
	s, url := serveFile(t, servedSet(t))
	s.AwaitReady(t)
	var out bytes.Buffer
	client := exec.Command(python, "testdata/ask_triton.py", strings.TrimPrefix(url, "http://"))
	client.Stdout = &out
	client.Stderr = &out
	client.WaitDelay = time.Minute
	if err := client.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
}
