package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// A signal stops a service cleanly and ends a command early, without leaving files behind.
func TestSignalsEndAProcess(t *testing.T) {
	program := func(args ...string) *exec.Cmd { return clitest.Command(t, "featurizer", args...) }
	service := clitest.Start(t, program("run", "--set", "events.label=y", "--set", "kafka.brokers=127.0.0.1:1",
		"--set", "admin.listen="))
	service.AwaitLog(t, "retrying")
	service.Stop(t).Want(t, cli.ExitOK, "stopped")

	demo := program("demo", "--rows", "20000000")
	dir := t.TempDir()
	demo.Env = append(os.Environ(), "TMPDIR="+dir)
	long := clitest.Start(t, demo)
	clitest.Eventually(t, "the demo has a broker", func() bool {
		entries, err := os.ReadDir(dir)
		return err == nil && len(entries) > 0
	})
	long.Stop(t).Want(t, cli.ExitInterrupted, "featurizer demo: interrupted")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("an interrupted demo left %v, %v", entries, err)
	}
}
