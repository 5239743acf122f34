// Package env holds the resources that a process passes to each of its stages.
package env
