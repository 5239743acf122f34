package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

// stopsWithin is how long a command may take to end after a signal, on a busy machine.
const stopsWithin = 5 * time.Second

// ends sends SIGTERM to a command, and returns its result.
func ends(t *testing.T, p *clitest.Process) clitest.Result {
	t.Helper()
	p.Signal(t, syscall.SIGTERM)
	began := time.Now()
	result := p.Wait()
	if took := time.Since(began); took > stopsWithin {
		t.Errorf("ended %v after the signal", took)
	}
	return result
}

func TestExploreEndsOnSignalWithoutFile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var rows strings.Builder
	rows.WriteString("y")
	for i := range 20 {
		fmt.Fprintf(&rows, ",x%d", i)
	}
	for i := range 20_000 {
		fmt.Fprintf(&rows, "\n%d", i%3)
		for range 20 {
			fmt.Fprintf(&rows, ",%.3f", random.NormFloat64())
		}
	}
	set := filepath.Join(t.TempDir(), "set.arrow")
	// Learning takes minutes.
	p := clitest.Start(t, clitest.Command(t, "featurizer", "explore", "--label", "y", "--task", "classification",
		"--data", clitest.File(t, "rows.csv", rows.String()), "--out", set, "--sample", "1",
		"--refine-steps", "1000", "--set", "exploration.learning_time=10h"))
	select {
	case <-p.Ended():
		t.Fatalf("ended before the signal: %+v", p.Wait())
	case <-time.After(3 * time.Second): // reading the file and calibrating take less
	}
	if result := ends(t, p); result.Code != cli.ExitInterrupted {
		t.Errorf("exit code %d\n%s", result.Code, result.Err)
	}
	if _, err := os.Stat(set); !os.IsNotExist(err) {
		t.Errorf("a file was written: %v", err)
	}
}

// Without a pair the server is not ready, so nothing waits for serve.drain_delay.
func TestServeWithoutPairEndsOnSignal(t *testing.T) {
	p := service(t, "serve", "--set", "kafka.brokers=127.0.0.1:1", "--set", "serve.listen=127.0.0.1:0",
		"--set", "admin.listen=", "--set", "serve.drain_delay=1m")
	p.AwaitLog(t, "retrying")
	if result := ends(t, p); result.Code != cli.ExitOK {
		t.Errorf("exit code %d\n%s", result.Code, result.Err)
	}
}
