//go:build unix

package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lock locks the directory for this process. The operating system unlocks it when the process ends,
// even if killed.
func lock(dir string) (unlock func() error, err error) {
	path := filepath.Join(dir, lockName)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("data directory %s is locked by another broker", dir)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return file.Close, nil
}
