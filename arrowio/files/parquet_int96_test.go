package files

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
)

// Days that microseconds cannot represent do not become days of other years.
func TestMicrosecondsOfInt96(t *testing.T) {
	const day = 86_400_000_000
	for _, c := range []struct {
		day   uint32
		nanos uint64
		want  arrow.Timestamp
	}{
		{julianEpoch, 1_500, 1},
		{julianEpoch - 1, 0, -day},
		{julianEpoch + 2_932_896, 0, 253_402_214_400_000_000}, // 9999-12-31
		{math.MaxUint32, 0, lastDay * day},
		{math.MaxUint32, math.MaxInt64, lastDay*day + math.MaxInt64/1000},
	} {
		var v parquet.Int96
		binary.LittleEndian.PutUint64(v[:], c.nanos)
		binary.LittleEndian.PutUint32(v[8:], c.day)
		if got := microseconds(v); got != c.want {
			t.Errorf("day %d, %d ns: %d, want %d", c.day, c.nanos, got, c.want)
		}
	}
}
