// Package pressure tests the programs, as separate processes, on a broker that is slow, refuses or hangs: how much
// memory they take, that nothing is lost, and how they end.
package pressure
