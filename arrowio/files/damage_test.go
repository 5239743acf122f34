package files

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
)

// mutants is how many damaged versions of each file are read.
const mutants = 400

// damage returns content with one fault: a changed byte, a changed word, a
// missing piece or a repeated one.
func damage(r *rand.Rand, content []byte) []byte {
	b := slices.Clone(content)
	at := r.IntN(len(b))
	switch r.IntN(5) {
	case 0:
		b[at] ^= 1 << r.IntN(8)
	case 1:
		b[at] = byte(r.Uint32())
	case 2:
		words := []uint32{0, 1, 0x7fffffff, 0x80000000, 0xffffffff, r.Uint32()}
		if at &^= 3; at+4 <= len(b) {
			binary.LittleEndian.PutUint32(b[at:], words[r.IntN(len(words))])
		}
	case 3:
		b = slices.Delete(b, at, min(len(b), at+1+r.IntN(16)))
	default:
		b = slices.Insert(b, at, b[at:min(len(b), at+1+r.IntN(16))]...)
	}
	return b
}

// TestDamagedFilesNeverPanic reads damaged files and touches every resulting value: errors are
// fine, and so are other values.
func TestDamagedFilesNeverPanic(t *testing.T) {
	rec := sampleRecord(t, memory.DefaultAllocator, 200)
	defer rec.Release()
	dict := dictionaryRecord(t)
	defer dict.Release()
	sources := map[string]string{
		"arrow file":      written(t, "a.arrow", rec, rec),
		"arrow stream":    written(t, "a.arrows", rec, rec),
		"arrow dict":      written(t, "d.arrows", dict, dict),
		"parquet":         written(t, "a.parquet", rec, rec),
		"parquet dict":    written(t, "d.parquet", dict, dict),
		"csv":             written(t, "a.csv", rec),
		"csv gzip":        written(t, "a.csv.gz", rec),
		"libsvm":          writeFile(t, "a.libsvm", []byte("+1 1:0.5 2:1 # x\n-1 qid:3 2:-2e3\n0 1:1 7:1\n")),
		"parquet scalars": written(t, "s.parquet", scalars(t)),
	}
	for name, path := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			target := filepath.Join(t.TempDir(), filepath.Base(path))
			failed := 0
			for range mutants {
				b := damage(r, content)
				if r.IntN(3) == 0 {
					b = damage(r, b)
				}
				if err := os.WriteFile(target, b, 0o600); err != nil {
					t.Fatal(err)
				}
				var e *Error
				if err := readAll(t, target); err != nil {
					failed++
					if !errors.As(err, &e) || e.Path != target {
						t.Errorf("error %v does not name the file", err)
					}
				}
			}
			if failed == 0 {
				t.Error("no damage was noticed")
			}
		})
	}
}
