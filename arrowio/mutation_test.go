package arrowio

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// mutantsEnv raises the number of mutants of TestMutants.
const mutantsEnv = "EERF_ARROWIO_MUTANTS"

// tryMutant decodes a damaged stream and reads all that comes of it. A panic in
// the reading, or an error without a reason, fails the test and keeps the
// mutant.
func tryMutant(t *testing.T, d *Decoder, mutant []byte, name string) (accepted bool) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("%s: %v; mutant kept in %s", name, p, keep(t, mutant))
		}
	}()
	recs, err := d.Decode(mutant)
	if err != nil && Reason(err) == "" {
		t.Fatalf("%s: an error without a reason: %v", name, err)
	}
	touch(recs)
	releaseAll(recs)
	return err == nil
}

func keep(t *testing.T, mutant []byte) string {
	t.Helper()
	path := filepath.Join(os.TempDir(), "arrowio-mutant.arrows")
	if err := os.WriteFile(path, mutant, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMutants damages valid streams of every shape at random, under a memory
// budget that is checked from outside.
func TestMutants(t *testing.T) {
	total := 100_000
	if v, err := strconv.Atoi(os.Getenv(mutantsEnv)); err == nil {
		total = v
	} else if testing.Short() {
		total /= 10
	}
	all := streams(t)
	perStream, accepted := total/len(all), 0
	begin := time.Now()
	for name, stream := range all {
		rnd := rand.New(rand.NewPCG(1, uint64(len(stream))))
		accepted += mutate(t, rnd, name, stream, perStream)
	}
	t.Logf("%d mutants of %d streams in %.1f s, %d accepted", perStream*len(all), len(all), time.Since(begin).Seconds(), accepted)
}

func mutate(t *testing.T, rnd *rand.Rand, name string, stream []byte, n int) (accepted int) {
	t.Helper()
	d := NewDecoder(small)
	if tryMutant(t, d, stream, name); t.Failed() {
		return 0
	}
	// Reading a value allocates in the test; decoding is what is measured.
	const group = 64
	var mutants [group][]byte
	for done := 0; done < n; done += group {
		for i := range mutants {
			mutants[i] = damage(rnd, append(mutants[i][:0], stream...))
		}
		checkMemory(t, name, d, mutants[:])
		for _, m := range mutants {
			if tryMutant(t, d, m, name) {
				accepted++
			}
		}
	}
	return accepted
}

// checkMemory decodes a group and compares what was allocated with what the
// budget allows one message; only a group that took that much in all is looked
// at one by one.
func checkMemory(t *testing.T, name string, d *Decoder, mutants [][]byte) {
	t.Helper()
	decode := func(m []byte) {
		recs, err := d.Decode(m)
		if err == nil {
			releaseAll(recs)
		}
	}
	most := uint64(small.BudgetBytes) + 1<<20
	if allocated(func() {
		for _, m := range mutants {
			decode(m)
		}
	}) <= most {
		return
	}
	for _, m := range mutants {
		if taken := allocated(func() { decode(m) }); taken > most+uint64(len(m)) {
			t.Fatalf("%s: %d bytes allocated, at most %d; mutant kept in %s", name, taken, most, keep(t, m))
		}
	}
}

// damage changes a few bytes: at random, in words of the format, by extreme
// values, by copying and by cutting.
func damage(rnd *rand.Rand, m []byte) []byte {
	for range 1 + rnd.IntN(3) {
		at := rnd.IntN(len(m))
		switch rnd.IntN(8) {
		case 0:
			m[at] ^= 1 << rnd.IntN(8)
		case 1:
			m[at] = byte(rnd.Uint32())
		case 2:
			if at &^= 3; at+4 <= len(m) {
				binary.LittleEndian.PutUint32(m[at:], extreme(rnd))
			}
		case 3:
			if at &^= 7; at+8 <= len(m) {
				binary.LittleEndian.PutUint64(m[at:], uint64(extreme(rnd))<<rnd.IntN(33))
			}
		case 4:
			if at &^= 3; at+4 <= len(m) {
				v := binary.LittleEndian.Uint32(m[at:])
				binary.LittleEndian.PutUint32(m[at:], v+uint32(rnd.IntN(33))-16)
			}
		case 5:
			from := rnd.IntN(len(m))
			copy(m[at:], m[from:min(from+8, len(m))])
		case 6:
			if rnd.IntN(8) == 0 && at > 0 {
				m = m[:at]
			}
		case 7:
			if at &^= 1; at+2 <= len(m) {
				binary.LittleEndian.PutUint16(m[at:], uint16(rnd.IntN(40)))
			}
		}
	}
	return m
}

func extreme(rnd *rand.Rand) uint32 {
	values := []uint32{0, 1, 0x7f, 0xff, 0xffff, 1 << 16, 1 << 24, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<32 - 8, uint32(rnd.IntN(5000))}
	return values[rnd.IntN(len(values))]
}
