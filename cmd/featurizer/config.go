package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/config"
)

func newConfig() *cobra.Command {
	c := &cobra.Command{
		Use:     "config",
		Short:   "Print, check and explain the configuration",
		Example: `  featurizer config print > eerf.yaml`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newConfigPrint(), newConfigCheck(), newConfigExplain())
	return c
}

func newConfigPrint() *cobra.Command {
	var flags cli.ConfigFlags
	var asJSON bool
	c := &cobra.Command{
		Use:     "print",
		Short:   "Print every key with the value in force, secrets hidden",
		Example: `  featurizer config print -c eerf.yaml --set exploration.features=200`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			loaded, err := flags.Load(nil, nil)
			if err != nil {
				return err
			}
			if !asJSON {
				return loaded.Print(c.OutOrStdout(), true)
			}
			var text bytes.Buffer
			if err := loaded.Print(&text, true); err != nil {
				return err
			}
			var values map[string]any
			if err := yaml.Unmarshal(text.Bytes(), &values); err != nil {
				return fmt.Errorf("print configuration: %w", err)
			}
			return cli.WriteJSON(c.OutOrStdout(), values)
		},
	}
	flags.Add(c)
	cli.JSONFlag(c, &asJSON)
	return c
}

func newConfigCheck() *cobra.Command {
	var flags cli.ConfigFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Report every fault at once, and the sizes that follow from the settings",
		Long: `check loads the configuration as the other commands do and lists everything that is wrong with it: unknown
keys, wrong types, values out of bounds, settings that do not go together. Without a fault it says how large
checkpoints, feature sets and messages get.`,
		Example: `  featurizer config check -c eerf.yaml`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			loaded, err := flags.Load(nil, nil)
			var faults config.Faults
			if errors.As(err, &faults) && asJSON {
				if err := cli.WriteJSON(c.OutOrStdout(), map[string]any{"ok": false, "faults": faults}); err != nil {
					return err
				}
			}
			if err != nil {
				return err
			}
			var notes []string
			if len(loaded.Stages.Events.Label) == 0 {
				notes = append(notes, "events.label is not set: the stage calibrate needs the column to score against")
			}
			if asJSON {
				return cli.WriteJSON(c.OutOrStdout(), map[string]any{"ok": true, "notes": notes, "sizes": loaded.Sizes()})
			}
			fmt.Fprintln(c.OutOrStdout(), "no faults")
			for _, note := range notes {
				fmt.Fprintln(c.OutOrStdout(), "note:", note)
			}
			printSizes(c.OutOrStdout(), loaded.Sizes())
			return nil
		},
	}
	flags.Add(c)
	cli.JSONFlag(c, &asJSON)
	return c
}

// printSizes writes how large things get; what was assumed stands below, once.
func printSizes(w io.Writer, sizes []config.Size) {
	t := cli.NewTable(w, "", "what", "topic", "bytes, at most", "limit", "set by")
	var assumed []string
	for _, size := range sizes {
		limit := ""
		if size.Limit > 0 {
			limit = cli.Thousands(float64(size.Limit))
		}
		t.AppendRow([]any{size.What, size.Topic, cli.Thousands(float64(size.Bytes)), limit, size.LimitKey})
		for one := range strings.SplitSeq(size.Assumes, ", ") {
			if one != "" && !slices.Contains(assumed, one) {
				assumed = append(assumed, one)
			}
		}
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 3, Align: text.AlignRight}, {Number: 4, Align: text.AlignRight}})
	t.Render()
	for _, one := range assumed {
		fmt.Fprintln(w, "counted with", one)
	}
}

func newConfigExplain() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "explain",
		Short:   "Describe every key: type, unit, default, environment variable, meaning",
		Example: `  featurizer config explain | less`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if asJSON {
				return cli.WriteJSON(c.OutOrStdout(), map[string]any{"keys": config.Keys()})
			}
			return config.Explain(c.OutOrStdout())
		},
	}
	cli.JSONFlag(c, &asJSON)
	return c
}
