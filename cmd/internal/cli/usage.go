package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/internal/nearest"
)

// markUsage turns errors about flags and arguments, of every command below, into usage errors that suggest what was meant.
func markUsage(c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return &UsageError{explainFlag(c, err)} })
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

// explainFlag adds to an error about an unknown flag what was probably meant: a flag with a similar name, or a configuration key.
func explainFlag(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	name := unknown.GetSpecifiedName()
	var known []string
	c.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			known = append(known, flag.Name)
		}
	})
	if key := keyNamed(name); key != "" && c.Flags().Lookup("set") != nil {
		return fmt.Errorf("%w; did you mean --set %s=...?", err, key)
	}
	if near := nearest.Name(name, known); near != "" {
		return fmt.Errorf("%w; did you mean --%s?", err, near)
	}
	return err
}

// keyNamed returns the first configuration key that is the name of a flag or ends with it; empty if there is none.
func keyNamed(flag string) string {
	name := strings.ReplaceAll(flag, "-", "_")
	for _, key := range config.Keys() {
		if key.Name == name || strings.HasSuffix(key.Name, "."+name) {
			return key.Name
		}
	}
	return ""
}

// explainArgument says what an unexpected argument may have been meant as: a command or a file.
func explainArgument(c *cobra.Command, args []string, err error) error {
	if len(args) == 0 {
		return err
	}
	given := args[len(args)-1]
	if !c.HasSubCommands() {
		text := fmt.Sprintf("unexpected argument %q", given)
		if _, missing := os.Stat(given); missing == nil && c.Flags().Lookup("data") != nil {
			text += fmt.Sprintf("; did you mean --data %s?", given)
		}
		return errors.New(text)
	}
	var known []string
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() {
			known = append(known, child.Name())
		}
	}
	if near := nearest.Name(args[0], known); near != "" {
		return fmt.Errorf("%w; did you mean %s?", err, near)
	}
	return err
}
