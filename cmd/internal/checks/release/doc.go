// Package release tests what is published: the programs are static, have nothing of a machine in them and report their stamp, the image
// is built from what they need, and every place that names the version names the same one.
package release
