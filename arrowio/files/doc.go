// Package files reads rows from files as Arrow records, and writes Arrow records to files.
//
// Open returns a Reader for a CSV, Parquet or Arrow IPC (file or stream) file. Create returns a
// Writer for an Arrow, Parquet or CSV file. Both stream: however long the file, a Reader holds one
// record of at most Options.BatchRows rows, and the data of that record's source (for Arrow the
// record batch, for Parquet a page of each column). CSV files state no types, so they are read
// twice: Open infers the column types from the whole file, Next reads the rows. Options.Schema
// avoids the first pass, for example to read a second file with the types of the first; a pipe can
// then be read too.
//
// Files named .gz, and files that start like gzip, are decompressed while they are read.
//
// Files are the user's own, but may be damaged. A fault is an *Error that names the file and, for
// text, the line and column. The Arrow library reads Arrow and Parquet files: schemas are checked
// before it sees them, its panics become errors, every array that it makes is checked before it is
// used, and a single buffer larger than the memory limit of the process is an error. A file built
// to do harm can still exhaust the memory or the time of the process; bytes from strangers belong
// on a topic, where package arrowio guards them.
//
// Records belong to the caller, who releases them. A Reader or Writer is for one goroutine;
// Reader.Progress may be called from any.
package files
