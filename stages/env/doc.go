// Package env holds what a process gives to each of its stages.
package env
