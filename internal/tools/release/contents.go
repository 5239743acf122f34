package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// modules are the modules that programs were linked from, by path.
type modules struct {
	goVersion string
	byPath    map[string]*debug.Module
}

// sorted returns the modules by path.
func (m modules) sorted() []*debug.Module {
	list := make([]*debug.Module, 0, len(m.byPath))
	for _, path := range slices.Sorted(maps.Keys(m.byPath)) {
		list = append(list, m.byPath[path])
	}
	return list
}

// modulesOf reads the modules from the programs, where the linker recorded them.
func modulesOf(programs []file) (modules, error) {
	found := modules{byPath: map[string]*debug.Module{}}
	for _, program := range programs {
		info, err := buildinfo.Read(bytes.NewReader(program.text))
		if err != nil {
			return modules{}, fmt.Errorf("%s: %w", program.name, err)
		}
		found.goVersion = info.GoVersion
		for _, dependency := range info.Deps {
			if dependency.Replace != nil {
				dependency = dependency.Replace
			}
			found.byPath[dependency.Path] = dependency
		}
	}
	return found, nil
}

// writeContents writes the list of an archive's contents, as CycloneDX in JSON.
func writeContents(path string, s stamp, target string, programs []file, linked modules) error {
	list, err := contents(s, target, programs, linked)
	if err != nil {
		return err
	}
	return toFile(path, func(out *os.File) error {
		return cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(list, specVersion)
	})
}

// specVersion is not the newest, so that more programs can read the list.
const specVersion = cdx.SpecVersion1_5

const modulePath = "github.com/eerf-stream/eerf"

// contents has the two programs with their checksums, and every module in them. There is no serial number: the same
// contents give the same list.
func contents(s stamp, target string, programs []file, linked modules) (*cdx.BOM, error) {
	list := cdx.NewBOM()
	list.Metadata = &cdx.Metadata{
		Timestamp: s.time.Format(time.RFC3339),
		Component: &cdx.Component{
			BOMRef: reference(modulePath, s.version), Type: cdx.ComponentTypeApplication, Name: "eerf", Version: s.version,
			PackageURL: reference(modulePath, s.version),
			Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
			Properties: &[]cdx.Property{{Name: "platform", Value: target}},
		},
	}
	var components []cdx.Component
	for _, program := range programs {
		sum := sha256.Sum256(program.text)
		components = append(components, cdx.Component{
			BOMRef: program.name, Type: cdx.ComponentTypeFile, Name: program.name,
			Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
		})
	}
	standard := strings.TrimPrefix(linked.goVersion, "go")
	components = append(components, library("std", standard, nil))
	for _, module := range linked.sorted() {
		hashes, err := moduleHash(module)
		if err != nil {
			return nil, err
		}
		components = append(components, library(module.Path, module.Version, hashes))
	}
	list.Components = &components
	return list, nil
}

func library(path, version string, hashes *[]cdx.Hash) cdx.Component {
	return cdx.Component{
		BOMRef: reference(path, version), Type: cdx.ComponentTypeLibrary, Name: path, Version: version,
		PackageURL: reference(path, version), Hashes: hashes,
	}
}

// reference is the package URL of a module.
func reference(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// moduleHash is the hash in go.sum: a SHA-256 over the SHA-256 of a module's files, in hexadecimal.
func moduleHash(module *debug.Module) (*[]cdx.Hash, error) {
	encoded, found := strings.CutPrefix(module.Sum, "h1:")
	sum, err := base64.StdEncoding.DecodeString(encoded)
	if !found || err != nil {
		return nil, fmt.Errorf("%s: checksum %q: want h1: and base64", module.Path, module.Sum)
	}
	return &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}, nil
}
