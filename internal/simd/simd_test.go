package simd

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestGodebugDisablesInstructions reruns this test in processes whose GODEBUG disables
// instructions.
func TestGodebugDisablesInstructions(t *testing.T) {
	if os.Getenv("SIMD_TEST_PRINT") != "" {
		t.Log("best=" + Best().String() + ";")
		return
	}
	if Best() == None {
		t.Skip("no vector instructions to take away")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		godebug string
		most    Level
	}{{"cpu.avx512f=off", AVX2}, {"cpu.avx2=off", None}, {"cpu.fma=off", None}} {
		command := exec.Command(program, "-test.run=^TestGodebugDisablesInstructions$", "-test.v")
		command.Env = append(os.Environ(), "SIMD_TEST_PRINT=1", "GODEBUG="+c.godebug)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.godebug, err, out)
		}
		if want := "best=" + c.most.String() + ";"; !strings.Contains(string(out), want) {
			t.Errorf("%s: want %s in\n%s", c.godebug, want, out)
		}
	}
}
