package cli

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// helpOf returns the help of a command with the flags that add defines.
func helpOf(t *testing.T, add func(c *cobra.Command)) string {
	t.Helper()
	root, do := &cobra.Command{Use: "tool"}, &cobra.Command{Use: "do", Run: func(*cobra.Command, []string) {}}
	add(do)
	root.AddCommand(do)
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs([]string{"do", "--help"})
	if code := Execute(context.Background(), root); code != ExitOK {
		t.Fatalf("exit code %d", code)
	}
	return out.String()
}

func TestManyFlagsAreInGroups(t *testing.T) {
	help := helpOf(t, func(c *cobra.Command) {
		var s SettingFlags
		c.Flags().String("last", "", "")
		c.Flags().String("data", "", "")
		new(ConfigFlags).Add(c)
		new(FileFlags).Add(c)
		s.AddExploration(c)
		JSONFlag(c, new(bool))
		CommonFlags(c, "data", "label")
	})
	titles := regexp.MustCompile(`(?m)^[A-Z][a-z ]+:$`).FindAllString(help, -1)
	if want := []string{"Usage:", "Flags:", "Form of the file:", "Exploration:", "Configuration and output:"}; !slices.Equal(titles, want) {
		t.Errorf("%q, want %q in\n%s", titles, want, help)
	}
	var at []int
	for _, flag := range []string{"--data", "--label ", "--last", "--format", "--map", "--config", "--json", "--help"} {
		at = append(at, strings.Index(help, flag))
	}
	if !slices.IsSorted(at) || at[0] < 0 {
		t.Errorf("flags at %v in\n%s", at, help)
	}
	for line := range strings.Lines(help) {
		if len(line) > widestHelp+1 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

func TestFewFlagsAreInOneList(t *testing.T) {
	help := helpOf(t, func(c *cobra.Command) {
		c.Flags().String("zone", "", "")
		new(ConfigFlags).Add(c)
		JSONFlag(c, new(bool))
	})
	if strings.Contains(help, groupGeneral) || strings.Index(help, "--config") > strings.Index(help, "--zone") {
		t.Error(help)
	}
}
