package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/cmd/internal/clitest"
	"github.com/eerf-stream/eerf/scoring"
)

// site is a pipeline on a broker whose processes have different kernels.
type site struct {
	t      *testing.T
	config string
}

// plainArithmetic is the arithmetic of this build without vector instructions.
func plainArithmetic() string {
	_, rest, _ := strings.Cut(scoring.Arithmetic(), "-")
	return "go2-" + rest
}

func newSite(t *testing.T) *site {
	t.Helper()
	if scoring.Arithmetic() == plainArithmetic() {
		t.Skip("this machine has only one kernel")
	}
	s := &site{t: t, config: servedFile(t, clitest.Broker(t))}
	fz(t, "topics", "create", "-c", s.config).Want(t, cli.ExitOK)
	return s
}

// start runs stages in a process; without vectors it has the kernel of a processor without AVX2.
func (s *site) start(vectors bool, args ...string) *clitest.Process {
	s.t.Helper()
	cmd := clitest.Command(s.t, "featurizer", append([]string{"run", "-c", s.config}, args...)...)
	if !vectors {
		cmd.Env = append(os.Environ(), "GODEBUG=cpu.avx2=off")
	}
	return clitest.Start(s.t, cmd)
}

// produce writes enough rows for an exploration.
func (s *site) produce() {
	s.t.Helper()
	data := clitest.File(s.t, "rows.csv", clitest.Mixed(2400))
	fz(s.t, "produce", "-c", s.config, "--data", data, "--rows-per-message", "100").Want(s.t, cli.ExitOK)
}

// set waits for the feature set and returns the kernel it was made with.
func (s *site) set(processes ...*clitest.Process) (kernel string) {
	s.t.Helper()
	defer func() {
		for _, p := range processes {
			if s.t.Failed() {
				s.t.Log(p.Log())
			}
		}
	}()
	return await(s.t, always, "inspect", "-c", s.config, "--json").Text(s.t, "lineage.kernel")
}

// A process with another kernel owns partitions when the exploration begins; the exploration ends
// without it.
func TestExplorationEndsDespiteProcessWithOtherKernel(t *testing.T) {
	s := newSite(t)
	other := s.start(false, "--stages", "subsample")
	owns := func(partitions int) {
		clitest.Eventually(t, fmt.Sprintf("the other process owns %d partitions", partitions), func() bool {
			_, body := other.Get(t, "/metrics")
			return strings.Contains(body, fmt.Sprintf("eerf_owned_partitions{pipeline=\"default\",stage=\"subsample\"} %d\n",
				partitions))
		})
	}
	owns(2)
	others := s.start(true, "--stages", "calibrate,subsample,selection")
	owns(1)
	s.produce()
	if kernel := s.set(other, others); kernel != scoring.Arithmetic() {
		t.Errorf("a set of kernel %s", kernel)
	}
	want := fmt.Sprintf("is for numeric kernel %s, this process has %s", scoring.Arithmetic(), plainArithmetic())
	if code, body := other.Get(t, "/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, want) {
		t.Errorf("/readyz: %d %s", code, body)
	}
	if code, body := others.Get(t, "/readyz"); code != http.StatusOK {
		t.Errorf("/readyz: %d %s", code, body)
	}
	if _, body := other.Get(t, "/metrics"); !strings.Contains(body,
		`eerf_stage_wrong_kernel{pipeline="default",stage="subsample"} 1`) {
		t.Errorf("/metrics: %s", body)
	}
	other.Stop(t).Want(t, cli.ExitOK, "not participating")
	others.Stop(t).Want(t, cli.ExitOK)
}

// With exploration.kernel: plain, all processors share a kernel.
func TestPlainKernelIsSharedByAllProcessors(t *testing.T) {
	s := newSite(t)
	other := s.start(false, "--stages", "subsample")
	planner := s.start(true, "--stages", "calibrate,selection", "--set", "exploration.kernel=plain")
	s.produce()
	if kernel := s.set(other, planner); kernel != plainArithmetic() {
		t.Errorf("a set of kernel %s", kernel)
	}
	other.Stop(t).Want(t, cli.ExitOK)
	planner.Stop(t).Want(t, cli.ExitOK)
}
