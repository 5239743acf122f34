package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

// platforms are the default platforms of the programs.
const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is what the parts of a release share.
type release struct {
	root  string // of the repository
	to    string // the folder for all output
	stamp stamp
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	to := flags.String("to", "", "write to this empty `folder`")
	targets := flags.String("platforms", platforms, "build for these, as `os/arch,...`")
	wheels := flags.Bool("wheels", true, "build the Python wheels (PYTHON with hatchling)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r, err := prepare(ctx, *to)
	if err != nil {
		return err
	}
	for _, target := range strings.Split(*targets, ",") {
		if err := r.programs(ctx, target); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	if err := r.source(ctx); err != nil {
		return fmt.Errorf("source: %w", err)
	}
	if *wheels {
		if err := r.wheels(ctx); err != nil {
			return fmt.Errorf("wheels: %w", err)
		}
	}
	return writeSums(r.to)
}

// prepare makes the folder and finds out what is released.
func prepare(ctx context.Context, to string) (*release, error) {
	if to == "" {
		return nil, errors.New("-to is missing")
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return nil, err
	}
	if entries, err := os.ReadDir(to); err != nil || len(entries) > 0 {
		return nil, errors.Join(err, fmt.Errorf("%s is not empty", to))
	}
	to, err := filepath.Abs(to)
	if err != nil {
		return nil, err
	}
	root, err := output(ctx, ".", nil, "git", "-c", "safe.directory=*", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	r := &release{root: strings.TrimSpace(string(root)), to: to}
	r.stamp, err = readStamp(ctx, r.root)
	return r, err
}

// name is the name of everything for a platform, without extension.
func (r *release) name(suffix string) string {
	return "eerf_" + strings.TrimPrefix(r.stamp.version, "v") + "_" + suffix
}

// output runs a command with more environment and returns what it prints.
func output(ctx context.Context, folder string, environment []string, name string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = folder
	command.Env = append(os.Environ(), environment...)
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, said.Bytes())
	}
	return out, nil
}
