package pipeline

import (
	"os"
	"strings"
)

// ReadSecret returns the contents of a file without the newline at its end, which editors add.
func ReadSecret(path string) (string, error) {
	text, err := os.ReadFile(path)
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), err
}
