package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// markUsage turns errors about flags and arguments, of every subcommand, into usage errors.
func markUsage(c *cobra.Command) {
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &UsageError{err} })
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return &UsageError{explainArgument(c, args, err)}
			}
			return nil
		}
	}
	for _, child := range c.Commands() {
		markUsage(child)
	}
}

// explainArgument adds the likely meaning of an unexpected argument to an error.
func explainArgument(c *cobra.Command, args []string, err error) error {
	if len(args) == 0 || c.HasSubCommands() {
		return err
	}
	given := args[len(args)-1]
	text := fmt.Sprintf("unexpected argument %q", given)
	if _, missing := os.Stat(given); missing == nil && c.Flags().Lookup("data") != nil {
		text += fmt.Sprintf("; did you mean --data %s?", given)
	}
	return errors.New(text)
}
