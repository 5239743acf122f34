package events

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
)

// RowReader returns the rows of a file batch by batch, and io.EOF at the end. The caller releases
// the batches.
type RowReader interface {
	Next() (arrow.Record, error)
}

// RowWriter takes batches of rows. The caller keeps ownership of the batch.
type RowWriter interface {
	Write(batch arrow.Record) error
}

// EachBatch opens a file and calls do for its batches, numbered from 0, until the end, an error, or
// io.EOF from do. It closes a reader that is an [io.Closer]. The batch is valid until do returns.
func EachBatch(
	ctx context.Context,
	open func() (RowReader, error),
	do func(number int64, batch arrow.Record) error,
) error {
	reader, err := open()
	if err != nil {
		return err
	}
	defer func() { _ = CloseReader(reader) }() // read only
	for number := int64(0); ; number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = do(number, batch)
		batch.Release()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// CloseReader closes a reader if it is an [io.Closer].
func CloseReader(reader RowReader) error {
	if closer, ok := reader.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}
