package datasets

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzUnpack takes a file out of any archive. An incomplete file is removed.
func FuzzUnpack(f *testing.F) {
	good := archive(f, "a/one", "1", "b/one", "two")
	f.Add([]byte(good), "a/one")
	f.Add([]byte(good), "../one")
	f.Add([]byte(damaged(f)), "a/one")
	f.Fuzz(func(t *testing.T, content []byte, member string) {
		dir := t.TempDir()
		from, to := filepath.Join(dir, "a.zip"), filepath.Join(dir, "to")
		if err := os.WriteFile(from, content, 0o600); err != nil {
			t.Fatal(err)
		}
		err := unpack(from, member, to)
		if _, there := os.Stat(to); (err == nil) != (there == nil) {
			t.Errorf("unpacked with %v, there with %v", err, there)
		}
	})
}
