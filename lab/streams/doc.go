// Package streams generates the usual benchmark streams with changing relations, implemented from
// the papers that describe them. A stream is a function of its name, its seed and its number of
// rows. With the same seed, a stream without changes begins like the one with changes.
package streams
