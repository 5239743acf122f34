// Package cputime says what this process has used of the processors: a measure of work that other programs on the machine change
// little.
package cputime
