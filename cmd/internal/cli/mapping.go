package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/stages/featurize"
	"github.com/eerf-stream/eerf/stages/meter"
)

// MappingFlags are the flags of commands that map the rows of a file to another file.
type MappingFlags struct {
	Out          string
	JSON         bool
	Notes        []string // on the rows; set after mapping
	data, format string
	files        FileFlags
}

// Add defines the flags on a command.
func (f *MappingFlags) Add(c *cobra.Command) {
	c.Flags().StringVar(&f.data, "data", "", "file of rows (required)")
	c.Flags().StringVar(&f.Out, "out", "", "file to write (required)")
	c.Flags().StringVar(&f.format, "out-format", "", "arrow, parquet or csv; empty = by the file's extension")
	f.files.Add(c)
	JSONFlag(c, &f.JSON)
}

// Check reports missing required flags before the work, and an output that is also an input. file
// is the value of the required flag; others are further input files.
func (f *MappingFlags) Check(flag, file string, others ...string) error {
	if file == "" || f.data == "" || f.Out == "" {
		return Usagef("--%s, --data and --out are required", flag)
	}
	return CheckOut(f.Out, append(others, file, f.data)...)
}

// Map writes the output file, which appears only when it is complete. fits names the mapper's
// feature set or model in errors; passthrough lists columns that the rows must have.
func (f *MappingFlags) Map(
	c *cobra.Command,
	mapper *featurize.FileMapper,
	doing, fits string,
	passthrough ...string,
) (counts meter.FeaturizeCounts, err error) {
	bar := NewProgress(c, f.JSON)
	defer bar.Done()
	rows, err := f.files.OpenFor(f.data, mapper.Encoder(), bar, passthrough...)
	if err != nil {
		return counts, err
	}
	defer rows.Close()
	if err := mapper.Check(rows.Schema()); err != nil {
		return counts, fmt.Errorf("%s does not fit the %s: %w", f.data, fits, err)
	}
	for _, name := range passthrough {
		if !rows.Schema().HasField(name) {
			return counts, Usagef("--passthrough: %s has no column %q", f.data, name)
		}
	}
	schema := mapper.Schema(rows.Schema())
	out, err := files.Create(f.Out, schema, f.format)
	if errors.Is(err, files.ErrNoFormat) {
		err = Usagef("%w with --out-format", err)
	}
	if err != nil {
		return counts, err
	}
	counts, err = mapper.Map(c.Context(), rows.Rows(doing+" "+f.data), schema, out)
	if err != nil {
		return counts, errors.Join(fmt.Errorf("%s %s: %w", doing, f.data, err), out.Discard())
	}
	f.Notes = slices.Concat(mapper.Warnings, rows.Notes(), mapper.Notes)
	if len(mapper.Warnings) > 0 {
		bar.Done()
		Warn(c, mapper.Warnings)
	}
	return counts, out.Close()
}
