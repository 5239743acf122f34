package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// certificates is where Go's crypto/x509 looks first on Linux.
const certificates = "etc/ssl/certs/ca-certificates.crt"

// user is a number, not a name: Kubernetes can tell that it is not root, and there is no
// /etc/passwd to look up a name.
const user = "65532:65532"

// entry is a file of the image.
type entry struct {
	path, source string // in the image, and on disk
	mode         int64
}

// image is the image for one platform.
func (s *stamp) image(platform *v1.Platform, entries []entry) (v1.Image, error) {
	text, err := s.files(entries)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS:           platform.OS,
		Architecture: platform.Architecture,
		Variant:      platform.Variant,
		Created:      v1.Time{Time: s.date},
		RootFS:       v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User:         user,
			ExposedPorts: map[string]struct{}{"9464/tcp": {}},
			Env:          []string{"PATH=/usr/local/bin"},
			Entrypoint:   []string{"/usr/local/bin/featurizer"},
			Cmd:          []string{"--help"},
			Labels:       s.labels(),
		},
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(image, mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: v1.Time{Time: s.date}, CreatedBy: "internal/tools/image"},
	})
}

func (s *stamp) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       "eerf",
		"org.opencontainers.image.description": "Random features that fit a labelled stream of events",
		"org.opencontainers.image.source":      "https://github.com/eerf-stream/eerf",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     s.version,
		"org.opencontainers.image.revision":    s.commit,
		"org.opencontainers.image.created":     s.date.Format(time.RFC3339),
	}
}

// index lists the images of all platforms.
func (s *stamp) index(images []mutate.IndexAddendum) v1.ImageIndex {
	index := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), images...)
	return mutate.Annotations(index, s.labels()).(v1.ImageIndex)
}

// files is the tar file of the layer.
func (s *stamp) files(entries []entry) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	write := func(path string, mode int64, text []byte) error {
		header := &tar.Header{Name: path, Mode: mode, Size: int64(len(text)), ModTime: s.date, Format: tar.FormatPAX}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		_, err := w.Write(text)
		return err
	}
	roots, err := rootCertificates()
	if err != nil {
		return nil, err
	}
	if err := write(certificates, 0o644, roots); err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, err := os.ReadFile(e.source)
		if err != nil {
			return nil, err
		}
		if err := write(e.path, e.mode, text); err != nil {
			return nil, err
		}
	}
	err = w.Close() // writes the end of the archive
	return out.Bytes(), err
}

// rootCertificates are Mozilla's, as PEM. Roots that Mozilla trusts with constraints are left out,
// because a file of certificates cannot express them.
func rootCertificates() ([]byte, error) {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	if out.Len() == 0 {
		return nil, errors.New("no root certificates in golang.org/x/crypto/x509roots/fallback")
	}
	return out.Bytes(), nil
}

// writeLayout writes the OCI layout of an index to a tar file. Engines load the image under name.
func writeLayout(file, name string, date time.Time, index v1.ImageIndex) (err error) {
	folder, err := os.MkdirTemp("", "image-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path, err := layout.Write(folder, mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	if err != nil {
		return err
	}
	var named []layout.Option
	if name != "" {
		named = append(named, layout.WithAnnotations(map[string]string{
			"io.containerd.image.name":          name,
			"org.opencontainers.image.ref.name": name,
		}))
	}
	if err := path.AppendIndex(index, named...); err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	w := tar.NewWriter(out)
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		within, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: filepath.ToSlash(within), Mode: 0o644, Size: int64(len(text)), ModTime: date}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}
