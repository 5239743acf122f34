package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/datasets"
)

func newFetch() *cobra.Command {
	var dir, mirror string
	var asJSON bool
	c := &cobra.Command{
		Use:   "fetch NAME",
		Short: "Download a public data set for compare",
		Long: `fetch downloads the files of a public data set from where they are published, and verifies their checksums. Run again, it
resumes a broken download, and leaves complete files alone. HTTPS_PROXY names a proxy. The sets are

` + listSets(),
		Example: `  trainer fetch letter --data-dir data
  EERF_DATA=~/data trainer fetch mnist
  trainer fetch adult --mirror https://files.example.com/eerf --json`,
		Args: cobra.ExactArgs(1),
	}
	c.Flags().StringVar(&dir, "data-dir", "", "folder of the data files; empty = that of "+datasets.Variable+", else "+datasets.DefaultDir)
	c.Flags().StringVar(&mirror, "mirror", "", "URL of a folder with copies of the files, to download from")
	cli.JSONFlag(c, &asJSON)
	c.RunE = func(c *cobra.Command, args []string) error {
		set, err := datasets.Lookup(args[0])
		if err != nil {
			return &cli.UsageError{Err: err}
		}
		dir := datasets.Dir(dir)
		bar := cli.NewProgress(c, asJSON)
		defer bar.Done()
		fetcher := datasets.Fetcher{Mirror: mirror, Watch: bar.Show}
		found, err := fetcher.Fetch(c.Context(), set, dir)
		bar.Done()
		if err != nil {
			return err
		}
		if asJSON {
			return cli.WriteJSON(c.OutOrStdout(), fetchSummary{set.Name, dir, set.Home, set.License, found})
		}
		printFetched(c.OutOrStdout(), set, dir, found)
		return nil
	}
	return c
}

// fetchSummary describes what was fetched for machines.
type fetchSummary struct {
	Name    string             `json:"name"`
	Dir     string             `json:"dir"`
	Home    string             `json:"home"`
	License string             `json:"license"`
	Files   []datasets.Fetched `json:"files"`
}

// listSets writes a line for each set.
func listSets() string {
	var b strings.Builder
	for _, name := range datasets.Names() {
		set, err := datasets.Lookup(name)
		if err != nil {
			panic(err) // the name came from the list
		}
		fmt.Fprintf(&b, "  %-12s %s\n", name, set.Title)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func printFetched(w io.Writer, set *datasets.Set, dir string, found []datasets.Fetched) {
	t := cli.NewTable(w, "", "file", "bytes of content", "what", "checksum")
	for _, f := range found {
		t.AppendRow([]any{f.Path, cli.Thousands(float64(f.Bytes)), f.Status, checksumWord(f)})
	}
	t.Render()
	fmt.Fprintf(w, "%s\npublished at %s under %s\n", set.Title, set.Home, set.License)
	fmt.Fprintf(w, "compare methods on it with: trainer compare --dataset %s --data-dir %s\n", set.Name, dir)
}

// checksumWord says what the checksum showed.
func checksumWord(f datasets.Fetched) string {
	switch {
	case !f.Checked:
		return "none is known"
	case f.Status == datasets.Kept:
		return "not as published: left alone"
	}
	return "as published"
}
