package bytesize

import "testing"

func TestComparedSizesDiffer(t *testing.T) {
	for _, tt := range []struct {
		a, b         int64
		textA, textB string
	}{{5 << 20, 1 << 20, "5.0 MiB", "1.0 MiB"}, {1 << 20, 1 << 20, "1.0 MiB", "1.0 MiB"}, {1<<20 + 1, 1 << 20, "1,048,577 bytes", "1,048,576 bytes"}} {
		if a, b := Compared(tt.a, tt.b); a != tt.textA || b != tt.textB {
			t.Errorf("%d and %d: %s and %s", tt.a, tt.b, a, b)
		}
	}
}
