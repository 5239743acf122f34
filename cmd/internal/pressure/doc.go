// Package pressure tests the programs, as separate processes, on a broker that is slow, refuses or
// hangs: their memory, that no event is lost, and their exit.
package pressure
