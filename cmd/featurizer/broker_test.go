package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// brokerCommand runs `featurizer broker` until stop is called, and returns its address.
func brokerCommand(t *testing.T, dir string) (address string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out := make(lines, 1)
	c := newRoot()
	c.SetArgs([]string{"broker", "--listen", "127.0.0.1:0", "--dir", dir})
	c.SetOut(out)
	ended := make(chan int, 1)
	go func() { ended <- cli.Execute(ctx, c) }()
	line := <-out
	stop = func() {
		cancel()
		if code := <-ended; code != cli.ExitOK {
			t.Errorf("the broker ended with %d", code)
		}
	}
	return strings.Fields(strings.TrimSuffix(line, "; interrupt to stop it\n"))[2], stop
}

// lines is a writer whose writes can be received.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// A restarted broker still has its data, and export writes it to files.
func TestBrokerKeepsDataAndTopicsAreExported(t *testing.T) {
	dir := t.TempDir()
	address, stop := brokerCommand(t, dir)
	config := pipelineFile(t, address)
	fz(t, "topics", "create", "-c", config).Want(t, cli.ExitOK)
	rows := clitest.File(t, "rows.csv", clitest.Mixed(250))
	fz(t, "produce", "-c", config, "--data", rows, "--rows-per-message", "100").Want(t, cli.ExitOK)
	stop()

	address, stop = brokerCommand(t, dir)
	defer stop()
	config = pipelineFile(t, address)
	out := filepath.Join(t.TempDir(), "events")
	o := fz(t, "topics", "export", "-c", config, "--topic", "default.events", "--out", out, "--json").Want(t, cli.ExitOK).
		Object(t)
	if n := len(o.At(t, "messages").([]any)); n != 3 {
		t.Errorf("%d messages exported, want 3", n)
	}
	checkExport(t, out, 3)
	fz(t, "topics", "export", "-c", config, "--topic", "default.events", "--out", out).Want(t, cli.ExitUsage, "not empty")
	fz(t, "topics", "export", "-c", config, "--topic", "sheep", "--out", t.TempDir()).Want(t, cli.ExitFailure, "sheep")
}

// checkExport reads the list and the files that it names.
func checkExport(t *testing.T, dir string, want int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, messagesFile))
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Messages []messageEntryRead }
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Messages) != want {
		t.Errorf("%d messages listed, want %d", len(list.Messages), want)
	}
	for _, m := range list.Messages {
		value, err := os.ReadFile(filepath.Join(dir, m.File))
		if err != nil || len(value) != m.Bytes || m.Time == "" {
			t.Errorf("%+v has %d bytes, %v", m, len(value), err)
		}
	}
}

// messageEntryRead is an entry as another program reads it.
type messageEntryRead struct {
	File, Time string
	Bytes      int
}
