package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/internal/printable"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/deadletter"
)

// listFile is the file that describes the exported dead letters.
const listFile = "letters.json"

// letterFile returns the name of a dead letter's file: an Arrow stream of rejected rows, or the
// bytes of a message.
func letterFile(l deadletter.Letter) string {
	extension := "bin"
	if l.Rows > 0 {
		extension = "arrow"
	}
	return fmt.Sprintf("letter-%d-%d.%s", l.Place.Partition, l.Place.Offset, extension)
}

var letterFileName = regexp.MustCompile(`^letter-(\d+)-(\d+)\.(arrow|bin)$`)

func newLettersExport() *cobra.Command {
	var f letterFlags
	var out string
	c := &cobra.Command{
		Use:   "export",
		Short: "Write dead letters to files, for inspection and repair",
		Long: `export writes each selected dead letter to its own file in a new or empty folder. letter-P-O.bin holds a
message that was refused whole, byte for byte; letter-P-O.arrow holds the rejected rows of a message, as an
Arrow stream with their row numbers (eerf_row) and reasons (eerf_reason). P and O are the dead letter's
partition and offset. ` + listFile + ` describes all of them.

Send repaired files back with: featurizer dead-letters replay --from FOLDER. Delete the files that should not
be sent. Repaired rows must keep the column eerf_row; you may drop rows and the column eerf_reason.`,
		Example: `  featurizer dead-letters export -c eerf.yaml --reason nan_feature --since 24h --out letters`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			filter, err := f.filter(time.Now())
			switch {
			case err != nil:
				return err
			case out == "":
				return cli.Usagef("--out is required: the folder to write to")
			case out == standardOutput && f.topics.JSON:
				return cli.Usagef("--out - does not go with --json: both write to standard output")
			}
			var written exported
			err = f.topics.Connected(c, func(ctx context.Context, r *stages.Process) error {
				written, err = f.export(ctx, c, r, filter, out)
				return err
			})
			if err != nil {
				return err
			}
			if f.topics.JSON {
				return cli.WriteJSON(c.OutOrStdout(), written)
			}
			said := c.OutOrStdout()
			if out == standardOutput {
				said = c.ErrOrStderr()
				out = "standard output"
			}
			fmt.Fprintf(said, "%d dead letters written to %s\n", len(written.Letters), out)
			if written.Left > 0 {
				fmt.Fprintf(said, "%d more were left out (--limit)\n", written.Left)
			}
			return nil
		},
	}
	f.add(c, 1000, "how many dead letters to write, partition by partition, the oldest first")
	c.Flags().StringVar(&out, "out", "",
		"folder to write to, new or empty; - = a tar archive on standard output (required)")
	return c
}

// exported is the output of `dead-letters export`.
type exported struct {
	Folder  string        `json:"folder"`
	Letters []letterEntry `json:"letters"`
	Left    int64         `json:"left_out"` // beyond the limit
}

func (f *letterFlags) export(
	ctx context.Context,
	c *cobra.Command,
	r *stages.Process,
	filter deadletter.Filter,
	out string,
) (exported, error) {
	written := exported{Folder: out, Letters: []letterEntry{}}
	topic := r.Settings.Topics.DeadLetters
	if err := cli.LookUp(ctx, r, topic); err != nil {
		return written, err
	}
	files, err := newExportOut(out, printable.Raw(c.OutOrStdout()))
	if err != nil {
		return written, err
	}
	bar := cli.NewProgress(c, f.topics.JSON)
	defer bar.Done()
	err = deadletter.Visit(ctx, r.Env.Broker, r.Env.Logger, topic, func(l deadletter.Letter, rec pipeline.Record) error {
		if !filter.Matches(l) {
			return nil
		}
		if f.limit > 0 && len(written.Letters) >= f.limit {
			written.Left++
			return nil
		}
		entry := entryOf(l)
		if l.Bytes > 0 {
			entry.File = letterFile(l)
			if err := files.write(entry.File, rec.Value); err != nil {
				return err
			}
		}
		written.Letters = append(written.Letters, entry)
		return nil
	}, func(done, total int64) { bar.Show("reading "+topic, done, total) })
	if err != nil {
		return written, err
	}
	if err := writeJSON(files, listFile, map[string]any{"letters": written.Letters}); err != nil {
		return written, err
	}
	return written, files.close()
}

// emptyFolder creates a folder, or refuses one that is not empty.
func emptyFolder(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return cli.Usagef("--out %s: the folder is not empty", path)
	}
	return nil
}
