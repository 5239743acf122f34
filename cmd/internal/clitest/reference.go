package clitest

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	// referencePath is the page of the commands, relative to the tests of a program.
	referencePath = "../../docs/cli.md"
	// sharedFrom is the number of commands from which a flag is explained only once for all of
	// them.
	sharedFrom = 2
	// referenceWidth wraps lines of the page.
	referenceWidth = 120
)

// Reference compares a program's part of docs/cli.md with the help of its commands, or rewrites it.
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
		t.Fatalf("%s lacks the lines %q and %q", referencePath, begin, end)
	}
	want := []byte(before + begin + referenceOf(root(), before) + end + after)
	if update {
		if err := os.WriteFile(referencePath, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(page, want) {
		t.Errorf("%s is out of date; rewrite it with: go test ./cmd/featurizer ./cmd/trainer -run %s -update", referencePath,
			t.Name())
	}
}

// referenceOf lists the commands of a program. Flags that several commands share are explained
// once, and not at all if the page has explained them before.
func referenceOf(root *cobra.Command, before string) string {
	commands := runnable(root)
	used, shared := map[string]int{}, pflag.NewFlagSet("shared", pflag.ContinueOnError)
	for _, c := range commands {
		eachFlag(c, func(flag *pflag.Flag) {
			used[meaning(flag)]++
			if used[meaning(flag)] == sharedFrom && shared.Lookup(flag.Name) == nil &&
				!strings.Contains(before, explained(flag)) {
				shared.AddFlag(plainFlag(flag))
			}
		})
	}
	var text strings.Builder
	if shared.HasFlags() {
		fmt.Fprintf(&text, "\n### Shared flags of %s\n\n```text\n%s```\n", root.Name(), explainedAll(shared))
	}
	known := before + text.String()
	for _, c := range commands {
		summary := strings.TrimSpace(c.Long + when(c.Long == "", c.Short+"."))
		fmt.Fprintf(&text, "\n### %s\n\n```text\n%s\n\n%s\n%s```\n",
			c.CommandPath(), c.UseLine(), summary, flagsOf(c, known))
	}
	return text.String() + "\n"
}

// runnable returns the commands that have an action of their own.
func runnable(c *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	if !c.HasAvailableSubCommands() {
		all = append(all, c)
	}
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() && child.Name() != "help" {
			all = append(all, runnable(child)...)
		}
	}
	return all
}

// flagsOf explains a command's own flags and names the others.
func flagsOf(c *cobra.Command, known string) string {
	own, names := pflag.NewFlagSet("own", pflag.ContinueOnError), []string{}
	eachFlag(c, func(flag *pflag.Flag) {
		if !strings.Contains(known, explained(flag)) {
			own.AddFlag(flag)
			return
		}
		name := "--" + flag.Name
		if plainFlag(flag).DefValue != flag.DefValue {
			name += " (" + flag.DefValue + ")"
		}
		names = append(names, name)
	})
	var text string
	if own.HasFlags() {
		text = "\n" + own.FlagUsagesWrapped(referenceWidth)
	}
	if len(names) > 0 {
		slices.Sort(names)
		text += "\nShared: " + strings.Join(names, ", ") + "\n"
	}
	return text
}

// eachFlag calls do for the flags of a command except --help.
func eachFlag(c *cobra.Command, do func(*pflag.Flag)) {
	c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "help" && flag.Name != "version" && !flag.Hidden {
			do(flag)
		}
	})
}

// meaning identifies a flag's explanation: flags with equal meanings are explained once.
func meaning(flag *pflag.Flag) string { return flag.Name + " " + flag.Value.Type() + " " + flag.Usage }

// plainFlag returns a flag in its shared form. The default of --timeout differs by command.
func plainFlag(flag *pflag.Flag) *pflag.Flag {
	shared := *flag
	if flag.Name == "timeout" {
		shared.DefValue = "0s"
	}
	return &shared
}

// explained returns the line of the page that explains a shared flag.
func explained(flag *pflag.Flag) string {
	one := pflag.NewFlagSet("one", pflag.ContinueOnError)
	one.AddFlag(plainFlag(flag))
	return explainedAll(one)
}

// explainedAll explains flags on one line each, without columns, whose width would depend on the
// other flags.
func explainedAll(flags *pflag.FlagSet) string {
	var text strings.Builder
	flags.VisitAll(func(flag *pflag.Flag) {
		kind, usage := pflag.UnquoteUsage(flag)
		standard := when(!slices.Contains([]string{"", "0", "0s", "false", "[]"}, flag.DefValue),
			" (default "+flag.DefValue+")")
		fmt.Fprintf(&text, "--%s%s: %s%s\n", flag.Name, when(kind != "", " "+kind), usage, standard)
	})
	return text.String()
}

func when(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}
