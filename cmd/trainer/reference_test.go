package main

import (
	"flag"
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

var update = flag.Bool("update", false, "write this program's part of docs/cli.md anew")

func TestReferenceMatchesHelp(t *testing.T) { clitest.Reference(t, newRoot, *update) }
