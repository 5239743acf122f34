// Package streams generates the rows on which methods for streams that change are usually compared, written anew from
// the papers that describe them. A stream is a function of its name, its seed and the number of its rows. With the same
// seed, one that does not change begins as the one that does.
package streams
