// Package docs tests the documentation: links resolve, the commands, keys and files that pages name
// exist, the tutorial's commands succeed, and the package in python/ reads the output of the
// programs.
package docs
