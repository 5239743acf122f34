package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// build runs the command for two platforms with small files as programs.
func build(t *testing.T, date string, platforms ...string) (file string, err error) {
	t.Helper()
	folder := t.TempDir()
	licence := filepath.Join(folder, "LICENSE")
	args := []string{licence}
	write(t, licence, "free")
	for _, platform := range platforms {
		own := filepath.Join(folder, filepath.Base(platform))
		write(t, filepath.Join(own, "featurizer"), "featurizer for "+platform)
		write(t, filepath.Join(own, "trainer"), "trainer for "+platform)
		args = append(args, platform+"="+own)
	}
	file = filepath.Join(folder, "image.tar")
	o := options{out: file, name: "registry.example.com/eerf:test", stamp: stamp{version: "v1.2.3", commit: "0123"}}
	return file, run(t.Context(), &o, date, args)
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// unpack writes the files of a tar file to a folder.
func unpack(t *testing.T, file string) string {
	t.Helper()
	folder := t.TempDir()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for name, text := range entries(t, in) {
		write(t, filepath.Join(folder, name), text)
	}
	return folder
}

// entries are the files in a tar file, which must end with two blocks of zeros: Go reads others, but GNU tar does not.
func entries(t *testing.T, in io.Reader) map[string]string {
	t.Helper()
	all, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(all, make([]byte, 1024)) {
		t.Fatal("the archive has no end")
	}
	found := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(all)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		found[header.Name] = string(text)
	}
}

// TestImageHasFilesOfEveryPlatform reads the layout back.
func TestImageHasFilesOfEveryPlatform(t *testing.T) {
	file, err := build(t, "2026-11-21T10:11:12Z", "linux/amd64", "linux/arm64")
	if err != nil {
		t.Fatal(err)
	}
	outer, err := layout.ImageIndexFromPath(unpack(t, file))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(outer); err != nil {
		t.Error(err)
	}
	manifest, err := outer.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 ||
		manifest.Manifests[0].Annotations["io.containerd.image.name"] != "registry.example.com/eerf:test" {
		t.Fatalf("%v: %+v", err, manifest)
	}
	index, err := outer.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err = index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		checkImage(t, image, m.Platform)
	}
	if !slices.Equal(platforms, []string{"linux/amd64", "linux/arm64"}) {
		t.Errorf("platforms %v", platforms)
	}
}

func checkImage(t *testing.T, image v1.Image, platform *v1.Platform) {
	t.Helper()
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.OS+"/"+config.Architecture != platform.String() || config.Config.User != "65532:65532" ||
		!slices.Equal(config.Config.Entrypoint, []string{"/usr/local/bin/featurizer"}) ||
		config.Config.Labels["org.opencontainers.image.version"] != "v1.2.3" {
		t.Errorf("%s: %+v", platform, config)
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%v, %d layers", err, len(layers))
	}
	text, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	files := entries(t, text)
	for _, program := range []string{"featurizer", "trainer"} {
		if files["usr/local/bin/"+program] != program+" for "+platform.String() {
			t.Errorf("%s: %s is %q", platform, program, files["usr/local/bin/"+program])
		}
	}
	if files["LICENSE"] != "free" || len(files) != 4 {
		t.Errorf("%s: %d files", platform, len(files))
	}
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(files[certificates])) {
		t.Errorf("%s: no root certificates", platform)
	}
}

// TestImageIsReproducible builds the same image twice.
func TestImageIsReproducible(t *testing.T) {
	var texts [][]byte
	for range 2 {
		file, err := build(t, "2026-11-21T10:11:12Z", "linux/amd64")
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("two builds differ")
	}
}

// TestWrongArgumentsAreErrors leaves out what an image needs.
func TestWrongArgumentsAreErrors(t *testing.T) {
	if _, err := build(t, "yesterday", "linux/amd64"); err == nil || !strings.Contains(err.Error(), "date of the commit") {
		t.Error(err)
	}
	if _, err := build(t, "2026-11-21T10:11:12Z"); err == nil || !strings.Contains(err.Error(), "OS/ARCHITECTURE=FOLDER") {
		t.Error(err)
	}
	for argument, want := range map[string]string{
		"linux/amd64":        `platform "linux/amd64": want OS/ARCHITECTURE=FOLDER`,
		"linux/amd64=absent": "image for linux/amd64: open",
	} {
		o := options{out: "unwritten.tar"}
		err := run(t.Context(), &o, "2026-11-21T10:11:12Z", []string{"main.go", argument})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", argument, err)
		}
	}
}
