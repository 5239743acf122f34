package hostile

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// sink keeps allocations of tests from being optimised away.
var sink []byte

// numbered is a suite whose mutants are noise and whose decoder does something at mutant 7.
func numbered(at7 func(m *Meter) (string, error)) Suite {
	return Suite{
		Deadline:    300 * time.Millisecond,
		MemoryBytes: 256 << 20,
		Make: func(r *rand.Rand, into []byte) []byte {
			return binary.LittleEndian.AppendUint64(into, r.Uint64())
		},
		Try: func(m *Meter, mutant []byte) (string, error) {
			if binary.LittleEndian.Uint64(mutant) == random(3, 7).Uint64() {
				return at7(m)
			}
			return "noise", nil
		},
	}
}

// TestEveryFaultIsFoundWithItsMutant breaks decoders in every way that a worker detects.
func TestEveryFaultIsFoundWithItsMutant(t *testing.T) {
	for name, c := range map[string]struct {
		at7  func(m *Meter) (string, error)
		says string
	}{
		"panic":     {func(*Meter) (string, error) { panic("no such row") }, "no such row"},
		"no reason": {func(*Meter) (string, error) { return "", nil }, "refused without a reason"},
		"hang": {func(*Meter) (string, error) {
			for i := uint(0); ; i++ {
				if i == ^uint(0) {
					return "never", nil
				}
			}
		}, "is not done after"},
		"over its budget": {func(m *Meter) (string, error) {
			m.Within(1<<20, func() { sink = make([]byte, 3<<20) })
			return "large", nil
		}, "bytes allocated, at most 1048576 are allowed"},
		"out of memory": {func(*Meter) (string, error) {
			sink = make([]byte, 1<<40)
			return "huge", nil
		}, "out of memory"},
		"stack": {func(*Meter) (string, error) {
			var deep func(n int) int
			deep = func(n int) int { return n + deep(n+1) + len(sink) }
			return string(rune(deep(0))), nil
		}, "stack"},
	} {
		t.Run(name, func(t *testing.T) {
			if RaceDetector && name == "out of memory" {
				t.Skip("no limit on memory under the race detector")
			}
			_, err := run(t, numbered(c.at7), Range{Seed: 3, First: 5, Count: 10})
			if err == nil || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), "mutant 7 of seed 3") || !strings.Contains(err.Error(), "-mutant.first 7 ") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestReportCountsEveryOutcome(t *testing.T) {
	suite := numbered(func(m *Meter) (string, error) {
		m.Within(5<<20, func() { sink = make([]byte, 4<<20) })
		return Accepted, nil
	})
	report, err := run(t, suite, Range{Seed: 3, First: 2, Count: 100})
	if err != nil {
		t.Fatal(err)
	}
	if report.Reasons["noise"] != 99 || report.Reasons[Accepted] != 1 || len(report.Reasons) != 2 {
		t.Errorf("reasons %v", report.Reasons)
	}
	if report.LargestAt != 7 || report.LargestBytes < 4<<20 || report.LargestBytes > 5<<20 {
		t.Errorf("%+v", report)
	}
	if text := report.String(); !strings.Contains(text, "seed 3, mutants 2 to 101") ||
		!strings.Contains(text, "99 noise") {
		t.Errorf("report\n%s", text)
	}
}

// sampleMessage has three parts, each a count and that many bytes.
func sampleMessage() *Message {
	return &Message{Name: "sample", Bytes: []byte{2, 'a', 'b', 1, 'c', 3, 'd', 'e', 'f'}, Order: binary.BigEndian,
		Marks: []Mark{{0, 1}, {3, 1}, {5, 1}}, Parts: []int{0, 3, 5}}
}

func TestMutantsDependOnlyOnTheirNumber(t *testing.T) {
	m := sampleMessage()
	others := []*Message{m, {Name: "other", Bytes: []byte("other")}}
	lengths, whole := map[int]bool{}, 0
	for n := range 5000 {
		first := m.Mutate(random(1, n), nil, others)
		again := m.Mutate(random(1, n), append(make([]byte, 0, 3), "xy"...), others)
		if !bytes.Equal(first, again[2:]) || string(again[:2]) != "xy" {
			t.Fatalf("mutant %d is %v and %v", n, first, again)
		}
		lengths[len(first)] = true
		if bytes.Equal(first, m.Bytes) {
			whole++
		}
	}
	if !bytes.Equal(m.Bytes, sampleMessage().Bytes) {
		t.Error("the message itself has been changed")
	}
	if len(lengths) < 30 || !lengths[0] || whole > 2500 {
		t.Errorf("%d lengths, %d of 5000 not changed", len(lengths), whole)
	}
}
