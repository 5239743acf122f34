package clitest

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// referencePath is the page of the commands, relative to the tests of a program.
const referencePath = "../../docs/cli.md"

// Reference compares a program's part of docs/cli.md with what its commands print with --help, or writes it.
func Reference(t *testing.T, root func() *cobra.Command, update bool) {
	t.Helper()
	page, err := os.ReadFile(referencePath)
	if err != nil {
		t.Fatal(err)
	}
	name := root().Name()
	begin, end := fmt.Sprintf("<!-- %s: generated -->\n", name), fmt.Sprintf("<!-- %s: end -->\n", name)
	before, rest, found := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no lines %q and %q", referencePath, begin, end)
	}
	want := []byte(before + begin + referenceOf(t, root) + end + after)
	if update {
		if err := os.WriteFile(referencePath, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(page, want) {
		t.Errorf("%s is out of date; rewrite it with: go test ./cmd/%s -run %s -update", referencePath, name, t.Name())
	}
}

// referenceOf is the help of every command of a program, as a list of links and sections.
func referenceOf(t *testing.T, root func() *cobra.Command) string {
	var list, sections strings.Builder
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		path := c.CommandPath()
		fmt.Fprintf(&list, "- [%s](#%s): %s\n", path, strings.ReplaceAll(path, " ", "-"), c.Short)
		help := Run(t, root, append(strings.Fields(path)[1:], "--help")...).Want(t, 0).Out
		if c.HasParent() { // the page has its own heading for the program
			fmt.Fprintf(&sections, "\n### %s\n", path)
		}
		fmt.Fprintf(&sections, "\n```text\n%s\n```\n", strings.TrimSpace(help))
		for _, child := range c.Commands() {
			if child.IsAvailableCommand() {
				walk(child)
			}
		}
	}
	walk(root())
	return "\n" + list.String() + sections.String() + "\n"
}
