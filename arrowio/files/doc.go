// Package files reads rows from files as Arrow records, and writes Arrow
// records to files.
//
// Open gives a Reader of a CSV, Parquet, Arrow IPC (file or stream) or LIBSVM
// file; Create gives a Writer of an Arrow, Parquet or CSV file. Both stream: a
// Reader holds one record of at most Options.BatchRows rows (and for Arrow the
// record batch, for Parquet a page of each column, that it is cut from), whatever
// the length of the file. CSV and LIBSVM state no types, so these files are read
// twice: Open finds the column types over the whole file, Next reads the rows.
// Options.Schema spares the first pass, and reads a second file with the types
// of a first one; with it, a pipe can be read too.
//
// gzip is undone on the fly, for files named .gz and for those whose content
// starts as gzip does.
//
// Files are taken as possibly damaged: a fault is an *Error that names the file
// and, for text, the line and column; no file makes a Reader panic, and no
// length claimed inside a file is believed before the bytes are there.
//
// Records belong to the caller, who releases them. A Reader or Writer is for
// one goroutine; Reader.Progress may be called from any.
package files
