package main

import (
	"testing"

	"github.com/eerf-stream/eerf/cmd/internal/clitest"
)

func TestReferenceMatchesHelp(t *testing.T) { clitest.Reference(t, newRoot, *update) }
