// Package files reads rows from files as Arrow records, and writes Arrow records to files.
//
// Open returns a Reader for a CSV, Parquet or Arrow IPC (file or stream) file. Create
// returns a Writer for an Arrow, Parquet or CSV file. Both stream: however long the file, a Reader
// holds one record of at most Options.BatchRows rows, and the data it is cut from (for Arrow the
// record batch, for Parquet a page of each column). CSV files state no types, so they
// are read twice: Open infers the column types from the whole file, Next reads the rows.
// Options.Schema avoids the first pass, for example to read a second file with the types of the
// first; a pipe can then be read too.
//
// Files named .gz, and those whose content starts like gzip, are decompressed on the fly.
//
// Files may be damaged. A fault is an *Error that names the file and, for text, the line and
// column. No file makes a Reader panic, and no length claimed inside a file is believed before the
// bytes are there.
//
// Records belong to the caller, who releases them. A Reader or Writer is for one goroutine;
// Reader.Progress may be called from any.
package files
