package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/lab/sets"
)

func newFetch() *cobra.Command {
	var dir string
	var fetcher sets.Fetcher
	c := &cobra.Command{
		Use:   "fetch NAME",
		Short: "Download a public data set",
		Long: `fetch downloads the files of a public data set from their publisher and verifies their checksums. It skips
files that exist. HTTPS_PROXY names a proxy. The sets are

` + listSets(),
		Args: cobra.ExactArgs(1),
	}
	addDir(c, &dir)
	c.Flags().StringVar(&fetcher.Mirror, "mirror", "", "download from this `URL` of a folder with copies of the files")
	c.RunE = func(c *cobra.Command, args []string) error {
		set, err := sets.Lookup(args[0])
		if err != nil {
			return err
		}
		paths, err := fetcher.Fetch(c.Context(), set, sets.Dir(dir))
		for _, path := range paths {
			fmt.Fprintln(c.OutOrStdout(), path)
		}
		if err == nil {
			fmt.Fprintf(c.OutOrStdout(), "%s\npublished at %s under %s\n", set.Title, set.Home, set.License)
		}
		return err
	}
	return c
}

// addDir adds the flag of the folder of data files.
func addDir(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "data-dir", "",
		"folder of the data files; empty = $"+sets.Variable+", or else "+sets.DefaultDir)
}

// listSets writes a line for each set.
func listSets() string {
	var lines []string
	for _, name := range sets.Names() {
		set, _ := sets.Lookup(name)
		lines = append(lines, fmt.Sprintf("  %-12s %s", name, set.Title))
	}
	return strings.Join(lines, "\n")
}
