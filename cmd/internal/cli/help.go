package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// setHelp makes the help of a command and its subcommands list flags in the order of their
// definition, wrapped.
func setHelp(c *cobra.Command) {
	c.SetUsageTemplate(strings.ReplaceAll(c.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 120"))
	inOrder(c)
}

func inOrder(c *cobra.Command) {
	c.Flags().SortFlags = false
	for _, child := range c.Commands() {
		inOrder(child)
	}
}
