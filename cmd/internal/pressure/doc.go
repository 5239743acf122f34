// Package pressure holds the tests of the programs, as processes of their own, on a broker that is slow, refuses or hangs:
// how much memory they take, that nothing is lost, and how they end.
package pressure
