package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// setHelp lets the help of a command and those below it list flags in the order of their definition, wrapped.
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
