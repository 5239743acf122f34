package uplot

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"testing"
)

// The library is as published.
func TestFilesMatchTheirChecksums(t *testing.T) {
	note, err := Files.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	sums := regexp.MustCompile(`sha256  ([0-9a-f]{64})  (\S+)`).FindAllStringSubmatch(string(note), -1)
	if len(sums) != 3 {
		t.Fatalf("%d checksums", len(sums))
	}
	for _, sum := range sums {
		file, err := Files.ReadFile(sum[2])
		if err != nil {
			t.Fatal(err)
		}
		if have := fmt.Sprintf("%x", sha256.Sum256(file)); have != sum[1] {
			t.Errorf("%s: %s, noted is %s", sum[2], have, sum[1])
		}
	}
}
