package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/config"
	"github.com/eerf-stream/eerf/internal/bytesize"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
)

func newConfig() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:     "config",
		Short:   "Print, check and explain the configuration",
		Example: `  featurizer config print > eerf.yaml`,
	}, newConfigPrint(), newConfigCheck(), newConfigExplain())
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
			values, err := loaded.Values(true)
			if err != nil {
				return err
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
	var serves, asJSON bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Report every fault at once, and the sizes that follow from the settings",
		Long: `check loads the configuration as the other commands do and lists everything that is wrong with it: unknown keys, wrong
types, values out of bounds, settings that contradict each other. If nothing is wrong, it prints how large checkpoints,
feature sets and messages get, and the most memory that a process with these stages (--stages) and partitions
(memory.partitions) can need: with the largest messages allowed in all of them at once. Needing more than memory.limit
is a fault. Needing more than a limit from elsewhere, such as the container's, is a note.`,
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
				if memory, err = loaded.CheckMemory(names); serves {
					memory, err = loaded.CheckServing()
				}
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
	c.Flags().StringSliceVar(&names, "stages", meter.Stages(), "stages of the process whose memory is computed")
	c.Flags().BoolVar(&serves, "serve", false, "compute the memory of featurizer serve instead")
	cli.JSONFlag(c, &asJSON)
	return c
}

// printSizes writes the sizes; assumptions are listed once, below.
func printSizes(w io.Writer, sizes []config.Size) {
	t := cli.NewTable(w, "", "what", "topic", "at most", "limit", "set by")
	var assumed []string
	for _, size := range sizes {
		limit := ""
		if size.Limit > 0 {
			limit = bytesize.Text(size.Limit)
		}
		t.AppendRow([]any{size.What, size.Topic, bytesize.Text(size.Bytes), limit, size.LimitKey})
		for one := range strings.SplitSeq(size.Assumes, ", ") {
			if one != "" && !slices.Contains(assumed, one) {
				assumed = append(assumed, one)
			}
		}
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 3, Align: text.AlignRight}, {Number: 4, Align: text.AlignRight}})
	t.Render()
	for _, one := range assumed {
		fmt.Fprintln(w, "assuming", one)
	}
}

// printMemory writes what a process may need and what it may have.
func printMemory(w io.Writer, plan config.MemoryPlan) {
	t := cli.NewTable(w, "", fmt.Sprintf("memory of a process with %d partitions", plan.Partitions), "at most", "set by")
	for _, need := range plan.Needs {
		t.AppendRow([]any{need.What, bytesize.Text(need.Bytes), strings.Join(need.Keys, ", ")})
	}
	t.AppendSeparator()
	t.AppendRow([]any{"all", bytesize.Text(plan.Bytes), ""})
	if plan.Limit > 0 {
		t.AppendRow([]any{"limit, less what is not the Go runtime's", bytesize.Text(plan.Soft), plan.Source})
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
