// Package cli holds the parts that the commands featurizer and trainer share: configuration flags,
// files of rows, logs, the connection to the brokers, output for people and for machines, progress,
// signals and exit codes. It decides nothing about the stages.
//
// A command writes its result to standard output: a table or a line for people, or with --json one
// object for machines. Everything else (errors, logs, progress) goes to standard error.
package cli
