// Package docscheck holds the tests of the documentation: that links lead somewhere, that commands, keys and files which pages
// name exist, that the tutorial can be followed, and that the Python of docs/wire-formats.md reads what the programs write.
package docscheck
