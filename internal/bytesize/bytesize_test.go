package bytesize

import (
	"math"
	"testing"
)

func TestText(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 B", 1: "1 B", 999: "999 B", 1000: "0.98 KiB", 1024: "1 KiB", 1536: "1.5 KiB", 64 << 20: "64 MiB", 10_485_760: "10 MiB",
		1<<30 - 1: "1 GiB", 1<<30 + 1<<29: "1.5 GiB", 123_456_789: "118 MiB", 12_345_678: "11.8 MiB", -2048: "-2 KiB",
		math.MaxInt64: "8 EiB",
	} {
		if got := Text(bytes); got != want {
			t.Errorf("%d: %s, want %s", bytes, got, want)
		}
	}
}

func TestComparedSizesDiffer(t *testing.T) {
	for _, tt := range []struct {
		a, b         int64
		textA, textB string
	}{{5 << 20, 1 << 20, "5 MiB", "1 MiB"}, {1 << 20, 1 << 20, "1 MiB", "1 MiB"}, {1<<20 + 1, 1 << 20, "1048577 bytes", "1048576 bytes"}} {
		if a, b := Compared(tt.a, tt.b); a != tt.textA || b != tt.textB {
			t.Errorf("%d and %d: %s and %s", tt.a, tt.b, a, b)
		}
	}
}
