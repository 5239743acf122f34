// Package docs tests the documentation: links lead somewhere, the commands, keys and files that pages name exist,
// the tutorial can be followed, and the package in python/ reads what the programs write.
package docs
