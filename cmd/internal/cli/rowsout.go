package cli

import (
	"errors"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/files"
	"github.com/eerf-stream/eerf/stages/events"
)

// WriteRows lets do write rows to a file, which appears only when it is complete. format is that of --out-format; empty =
// by the name.
func WriteRows(path, format string, schema *arrow.Schema, do func(events.RowWriter) error) error {
	out, err := files.Create(path, schema, format)
	if errors.Is(err, files.ErrNoFormat) {
		err = Usagef("%w with --out-format", err)
	}
	if err != nil {
		return err
	}
	if err := do(out); err != nil {
		return errors.Join(err, out.Discard())
	}
	return out.Close()
}
