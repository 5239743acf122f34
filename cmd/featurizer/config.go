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
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
)

func newConfig() *cobra.Command {
	c := &cobra.Command{
		Use:     "config",
		Short:   "Print, check and explain the configuration",
		Example: `  featurizer config print > eerf.yaml`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newConfigPrint(), newConfigCheck(), newConfigExplain(), newConfigSchema())
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
	var names []string
	var asJSON bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Report every fault at once, and the sizes that follow from the settings",
		Long: `check loads the configuration as the other commands do and lists everything that is wrong with it: unknown
keys, wrong types, values out of bounds, settings that do not go together. Without a fault it says how large
checkpoints, feature sets and messages get, and what memory a process needs at the worst that runs the stages
(--stages) on so many partitions (memory.partitions): with messages as large as the limits let through in all of them
at once. More than memory.limit is a fault; more than a limit that is not configured, as that of a container, is a note.`,
		Example: `  featurizer config check -c eerf.yaml
  featurizer config check -c eerf.yaml --stages featurize --set memory.limit=1GiB`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := stages.CheckNames(names); err != nil {
				return cli.Usagef("--stages: %w", err)
			}
			loaded, err := flags.Load(nil, nil)
			var memory config.MemoryPlan
			if err == nil {
				if !c.Flags().Changed("stages") {
					names = loaded.Stages.Runs()
				}
				if err := loaded.Stages.CheckStages(names); err != nil {
					return cli.Usagef("--stages: %w", err)
				}
				memory, err = loaded.CheckMemory(names)
			}
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
			switch from := loaded.Stages.Featurize.SetsFrom; {
			case from != "":
				notes = append(notes, fmt.Sprintf("the feature sets and models are those of pipeline %s (featurize.sets_from), which alone explores and trains: what is set of exploration, subsample, train and of the columns of events has no effect here", from))
			case len(loaded.Stages.Events.Label) == 0:
				notes = append(notes, "events.label is not set: the stage calibrate needs the column to score against")
			}
			if over := memory.Over(); over != "" {
				notes = append(notes, over)
			}
			if asJSON {
				return cli.WriteJSON(c.OutOrStdout(), map[string]any{"ok": true, "notes": notes, "sizes": loaded.Sizes(), "memory": memory})
			}
			fmt.Fprintln(c.OutOrStdout(), "no faults")
			for _, note := range notes {
				fmt.Fprintln(c.OutOrStdout(), "note:", note)
			}
			printSizes(c.OutOrStdout(), loaded.Sizes())
			printMemory(c.OutOrStdout(), memory)
			return nil
		},
	}
	flags.Add(c)
	c.Flags().StringSliceVar(&names, "stages", meter.Stages(), "stages of the process whose memory is counted")
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

// printMemory writes what a process may need beside what it may have.
func printMemory(w io.Writer, plan config.MemoryPlan) {
	t := cli.NewTable(w, "", fmt.Sprintf("memory of a process with %d partitions", plan.Partitions), "bytes, at most", "set by")
	for _, need := range plan.Needs {
		t.AppendRow([]any{need.What, cli.Thousands(float64(need.Bytes)), strings.Join(need.Keys, ", ")})
	}
	t.AppendSeparator()
	t.AppendRow([]any{"all", cli.Thousands(float64(plan.Bytes)), ""})
	if plan.Limit > 0 {
		t.AppendRow([]any{"limit, less what is not the Go runtime's", cli.Thousands(float64(plan.Soft)), plan.Source})
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, Align: text.AlignRight}})
	t.Render()
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

func newConfigSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print a JSON Schema of the configuration file, for editors",
		Long: `schema prints a JSON Schema (draft 7) of the configuration file. Editors complete keys by it, show their meaning, and
mark unknown keys and wrong types. An editor with the YAML language server reads its name from the first line of the file:

  # yaml-language-server: $schema=eerf.schema.json

Bounds and what goes together is the matter of: featurizer config check`,
		Example: `  featurizer config schema > eerf.schema.json`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return config.JSONSchema(c.OutOrStdout()) },
	}
}
