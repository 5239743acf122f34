package adaptive

import (
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/eerf-stream/eerf/internal/simd"
	"github.com/eerf-stream/eerf/scoring"
)

var update = flag.Bool("update", false, "write testdata again")

// learnedHash returns a hash of the features learned from a small sample and of every point.
func learnedHash(t *testing.T, workers, members int) string {
	t.Helper()
	p := newBenchProblem(900, 53, 700, 60)
	p.options.RefineSteps, p.options.Workers, p.options.Members = 8, workers, members
	learned, err := Learn(p.candidates, p.sums, p.sample, scoring.Regression, p.options)
	if err != nil {
		t.Fatal(err)
	}
	h := xxhash.New()
	for _, v := range []any{
		learned.Features.Omega, learned.Features.Phase, learned.Selection.Score, learned.Report.Importance,
	} {
		if err := binary.Write(h, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	for _, point := range learned.Report.Points {
		fmt.Fprintf(h, "%s %d %d %x %x\n", point.Kind, point.Round, point.Step, point.Loss, point.StdErr)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

func TestLearnDoesNotDependOnThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want, members, decomposed := learnedHash(t, 0, 1), learnedHash(t, 0, 3), decompositionsHash(t)
	for _, c := range []struct{ threads, workers int }{{2, 0}, {8, 3}} {
		runtime.GOMAXPROCS(c.threads)
		if got := learnedHash(t, c.workers, 1); got != want {
			t.Errorf("%d threads, %d workers: hash %s, want %s", c.threads, c.workers, got, want)
		}
		if got := learnedHash(t, c.workers, 3); got != members {
			t.Errorf("3 members, %d threads, %d workers: hash %s, want %s", c.threads, c.workers, got, members)
		}
		if got := decompositionsHash(t); got != decomposed {
			t.Errorf("%d threads: decompositions have the hash %s, want %s", c.threads, got, decomposed)
		}
	}
}

// bitsHash is the hashes of learned features and of decompositions.
func bitsHash(t *testing.T) string { return learnedHash(t, 0, 1) + " " + decompositionsHash(t) }

// TestLearnHasTheBitsOfItsArithmetic compares the result with testdata, also in processes without
// vector instructions: an arithmetic of one name has one result, with AVX-512 and AVX2. After an
// intended change, and for a name that testdata does not have yet, run it with -update, once more
// with the build tag noasm.
func TestLearnHasTheBitsOfItsArithmetic(t *testing.T) {
	if os.Getenv("ADAPTIVE_TEST_PRINT") != "" {
		fmt.Printf("%s %s;\n", scoring.Arithmetic(), bitsHash(t))
		return
	}
	got := map[string]string{scoring.Arithmetic(): bitsHash(t)}
	without := []string{}
	switch simd.Best() {
	case simd.AVX512:
		without = []string{"cpu.avx512f=off", "cpu.avx512f=off,cpu.avx2=off"}
	case simd.AVX2:
		without = []string{"cpu.avx2=off"}
	case simd.None:
	}
	for _, features := range without {
		name, hash := learnedWithout(t, features)
		if before, ok := got[name]; ok && before != hash {
			t.Errorf("%s with %s: hash %s, want %s", name, features, hash, before)
		}
		got[name] = hash
	}
	compareBits(t, got)
}

// learnedWithout returns the arithmetic of a process without some instructions, and its result.
func learnedWithout(t *testing.T, features string) (name, hash string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "-test.run=^TestLearnHasTheBitsOfItsArithmetic$")
	command.Env = append(os.Environ(), "ADAPTIVE_TEST_PRINT=1", "GODEBUG="+features)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	line, _, found := strings.Cut(string(out), ";")
	name, hash, fields := strings.Cut(line, " ")
	if !found || !fields {
		t.Fatalf("no hash in\n%s", out)
	}
	return name, hash
}

// compareBits compares with the hashes in testdata, or writes them there.
func compareBits(t *testing.T, got map[string]string) {
	t.Helper()
	const path = "testdata/bits.txt"
	text, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, hash, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			want[name] = hash
		}
	}
	if *update {
		maps.Copy(want, got)
		var lines []string
		for _, name := range slices.Sorted(maps.Keys(want)) {
			lines = append(lines, name+" "+want[name]+"\n")
		}
		if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for name, hash := range got {
		if hash != want[name] {
			t.Errorf("arithmetic %s: hash %s, in %s %q", name, hash, path, want[name])
		}
	}
}
