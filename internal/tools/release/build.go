package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// beside are the repository's files that go with the programs.
var beside = []string{"LICENSE", "README.md", "CHANGELOG.md"}

// programs builds both programs for a platform and writes their archive and its list of contents.
func (r *release) programs(ctx context.Context, target string) (err error) {
	system, processor, found := strings.Cut(target, "/")
	if !found {
		return errors.New("want os/arch")
	}
	folder, err := os.MkdirTemp("", "eerf-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	environment := append([]string{"GOOS=" + system, "GOARCH=" + processor}, r.stamp.lines...)
	if _, err := output(ctx, r.root, environment, filepath.Join(r.root, "scripts/build.sh"), folder); err != nil {
		return err
	}
	built, err := readPrograms(folder)
	if err != nil {
		return err
	}
	modules, err := modulesOf(built)
	if err != nil {
		return err
	}
	name := r.name(system + "_" + processor)
	if err := r.archive(ctx, name, system, built, modules); err != nil {
		return err
	}
	return writeContents(filepath.Join(r.to, name+".cdx.json"), r.stamp, target, built, modules)
}

// archive writes a folder of the programs, what goes with them, and the licences of what is in them.
func (r *release) archive(ctx context.Context, name, system string, built []file, modules modules) error {
	files := built
	for _, path := range beside {
		text, err := os.ReadFile(filepath.Join(r.root, path))
		if err != nil {
			return err
		}
		files = append(files, file{name: path, text: text})
	}
	licences, err := r.licences(ctx, modules)
	if err != nil {
		return err
	}
	files = append(files, file{name: "THIRD-PARTY-LICENSES", text: licences})
	for i := range files {
		files[i].name = name + "/" + files[i].name
	}
	write, ending := writeTar, ".tar.gz"
	if system == "windows" {
		write, ending = writeZip, ".zip"
	}
	return toFile(filepath.Join(r.to, name+ending), func(out *os.File) error { return write(out, files, r.stamp.time) })
}

// readPrograms reads what scripts/build.sh wrote.
func readPrograms(folder string) ([]file, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var built []file
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		built = append(built, file{name: entry.Name(), text: text, executable: true})
	}
	return built, nil
}

// source writes the files of the commit.
func (r *release) source(ctx context.Context) error {
	name := r.name("source")
	tar, err := output(ctx, r.root, nil, "git", "-c", "safe.directory=*", "archive", "--format=tar", "--prefix="+name+"/", "HEAD")
	if err != nil {
		return err
	}
	return toFile(filepath.Join(r.to, name+".tar.gz"), func(out *os.File) error { return compress(out, tar) })
}

// wheels builds the wheels of the Python package, if there is a Python that can.
func (r *release) wheels(ctx context.Context) error {
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	if _, err := output(ctx, r.root, nil, python, "-c", "import hatchling"); err != nil {
		fmt.Fprintf(os.Stderr, "release: no wheels: %s has no hatchling (set PYTHON)\n", python)
		return nil
	}
	_, err := output(ctx, r.root, r.stamp.lines, filepath.Join(r.root, "scripts/wheel.sh"), r.to)
	return err
}

// toFile writes a file that must not exist yet.
func toFile(path string, write func(*os.File) error) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(write(out), out.Close())
}
