// Package stagestest is the test kit of the stages: a broker, waiting, generated events whose rows,
// good and bad, are a function of a seed, their messages, readers of such messages, and float64
// references for the results of the stages. It imports no stage: package explored below it runs
// explorations.
//
// Results are released when the test ends, unless their comments say otherwise. All functions are
// safe for concurrent use, as far as testing.TB is.
package stagestest
