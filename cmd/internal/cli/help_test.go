package cli

import (
	"bytes"
	"context"
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

func TestHelpListsFlagsInDefinitionOrderWrapped(t *testing.T) {
	help := helpOf(t, func(c *cobra.Command) {
		c.Flags().String("zone", "", "")
		new(ConfigFlags).Add(c)
		new(SettingFlags).AddExploration(c)
		JSONFlag(c, new(bool))
	})
	var at []int
	for _, flag := range []string{"--zone", "--config", "--label ", "--criterion", "--json"} {
		at = append(at, strings.Index(help, flag))
	}
	if !slices.IsSorted(at) || at[0] < 0 {
		t.Errorf("flags at %v in\n%s", at, help)
	}
	for line := range strings.Lines(help) {
		if len(line) > 121 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}
