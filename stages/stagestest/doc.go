// Package stagestest is the kit of the tests of the stages: a broker, waiting, generated events whose rows, good and bad, are
// a function of a seed, the messages that hold them, what reads such messages, and in float64 what the stages should make of
// them. It imports no stage: what explores is in the package explored below it.
//
// What it returns is released when the test ends, unless its comment says otherwise. All of it is safe from several
// goroutines, as far as testing.TB is.
package stagestest
