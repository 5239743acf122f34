package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

var at = time.Date(2026, 11, 23, 10, 11, 12, 0, time.UTC)

func TestParseStamp(t *testing.T) {
	s, err := parseStamp("VERSION=v1.2.3\nCOMMIT=abc\nDATE=2026-11-23T10:11:12Z\n")
	if err != nil || s.version != "v1.2.3" || !s.time.Equal(at) || len(s.lines) != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	for _, text := range []string{"", "VERSION=v1\n", "DATE=2026-11-23T10:11:12Z\n", "VERSION=v1\nDATE=today\n"} {
		if _, err := parseStamp(text); err == nil {
			t.Errorf("%q is taken for a stamp", text)
		}
	}
}

func TestZipKeepsNamesModesAndTimes(t *testing.T) {
	files := []file{{name: "a/featurizer.exe", text: []byte("program"), executable: true}, {name: "a/LICENSE", text: []byte("text")}}
	var archive bytes.Buffer
	if err := writeZip(&archive, files, at); err != nil {
		t.Fatal(err)
	}
	read, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for i, entry := range read.File {
		if entry.Name != files[i].name || entry.Mode() != files[i].mode() || !entry.Modified.Equal(at) || entry.UncompressedSize64 != uint64(len(files[i].text)) {
			t.Errorf("%+v", entry.FileHeader)
		}
	}
}

func TestModuleHashIsThatOfGoSum(t *testing.T) {
	sum := sha256.Sum256([]byte("files"))
	hashes, err := moduleHash(&debug.Module{Sum: "h1:" + base64.StdEncoding.EncodeToString(sum[:])})
	if err != nil || (*hashes)[0].Value != hex.EncodeToString(sum[:]) {
		t.Errorf("%v, %v", hashes, err)
	}
	if _, err := moduleHash(&debug.Module{Path: "m"}); err == nil {
		t.Error("a module without a checksum passes")
	}
}

func TestEveryModuleNeedsALicence(t *testing.T) {
	folder := t.TempDir()
	var text bytes.Buffer
	if err := appendLicences(&text, "m v1", folder); err == nil {
		t.Error("a module without a licence passes")
	}
	readme := filepath.Join(folder, "README.md")
	for content, fails := range map[string]bool{"# m\n": true, "# m\nMIT License\nPermission is hereby granted, free of charge\n": false} {
		if err := os.WriteFile(readme, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := appendLicences(&text, "m v1", folder); (err != nil) != fails {
			t.Errorf("README %q: %v", content, err)
		}
	}
	for name, content := range map[string]string{"LICENSE.md": "free", "NOTICE": "named", "main.go": "package m"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := appendLicences(&text, "m v1", folder); err != nil || !strings.Contains(text.String(), "free") || !strings.Contains(text.String(), "named") || strings.Contains(text.String(), "package") {
		t.Errorf("%v: %s", err, &text)
	}
}

func TestReferenceEscapesPlus(t *testing.T) {
	if got := reference("example.com/m", "v2.0.0+incompatible"); got != "pkg:golang/example.com/m@v2.0.0%2Bincompatible" {
		t.Error(got)
	}
}
