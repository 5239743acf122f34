// Package cputime measures the processor time of this process: a measure of work that is hardly
// affected by other programs on the machine.
package cputime
