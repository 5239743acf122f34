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
		Short:   "Print every key with its effective value, secrets hidden",
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
	var texts []string
	var serves, asJSON bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Report all faults at once, and the sizes that follow from the settings",
		Long: `check loads the configuration as the other commands do and lists everything that is wrong with it: unknown
keys, wrong types, values out of bounds, contradictory settings. If nothing is wrong, it prints the largest
size of checkpoints, feature sets and messages, and the most memory that a process with these stages (--stages)
and partitions (memory.partitions) can need when all partitions hold the largest allowed messages at once. A
need beyond memory.limit is a fault. A need beyond another limit, such as the container's, is a note.`,
		Example: `  featurizer config check -c eerf.yaml
  featurizer config check -c eerf.yaml --stages featurize --set memory.limit=1GiB`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			names, err := stages.Parse(texts)
			if err != nil {
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
				if serves {
					memory, err = loaded.CheckServing()
				} else {
					memory, err = loaded.CheckMemory(names)
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
				notes = append(notes, fmt.Sprintf("feature sets and models come from pipeline %s (featurize.sets_from), "+
					"which alone explores and trains; keys of exploration, subsample and train, and the columns of events, "+
					"have no effect here", from))
			case len(loaded.Stages.Events.Label) == 0:
				notes = append(notes, "events.label is not set: the stage calibrate needs a column to score against")
			}
			if over := memory.Over(); over != "" {
				notes = append(notes, over)
			}
			if asJSON {
				return cli.WriteJSON(c.OutOrStdout(), map[string]any{
					"ok":     true,
					"notes":  notes,
					"sizes":  loaded.Sizes(),
					"memory": memory,
				})
			}
			fmt.Fprintln(c.OutOrStdout(), "no faults")
			cli.WriteNotes(c.OutOrStdout(), notes)
			printSizes(c.OutOrStdout(), loaded.Sizes())
			printMemory(c.OutOrStdout(), memory)
			return nil
		},
	}
	flags.Add(c)
	c.Flags().
		StringSliceVar(&texts, "stages", stages.Texts(stages.Names()), "stages of the process whose memory is computed")
	c.Flags().BoolVar(&serves, "serve", false, "compute the memory of featurizer serve instead")
	cli.JSONFlag(c, &asJSON)
	return c
}

// printSizes writes the sizes, and each assumption once below them.
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

// printMemory writes how much memory a process may need, and its limit.
func printMemory(w io.Writer, plan config.MemoryPlan) {
	title := fmt.Sprintf("memory of a process with %d partitions", plan.Partitions)
	t := cli.NewTable(w, "", title, "at most", "set by")
	for _, need := range plan.Needs {
		t.AppendRow([]any{need.What, bytesize.Text(need.Bytes), strings.Join(need.Keys, ", ")})
	}
	t.AppendSeparator()
	t.AppendRow([]any{"all", bytesize.Text(plan.Bytes), ""})
	if plan.Limit > 0 {
		t.AppendRow([]any{"limit, less memory outside the Go runtime", bytesize.Text(plan.Soft), plan.Source})
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, Align: text.AlignRight}})
	t.Render()
	if plan.Assumes != "" {
		fmt.Fprintln(w, "assuming", plan.Assumes)
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
