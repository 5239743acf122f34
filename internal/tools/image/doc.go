// Command image makes the container image of the programs, for several processors, without a
// container engine: it lays out files that scripts/build.sh has built, the licence, and Mozilla's
// root certificates, with the library of crane.
//
//	image -out FILE.tar LICENSE linux/amd64=FOLDER linux/arm64=FOLDER     an OCI layout in a tar file
//	image -push NAME LICENSE linux/amd64=FOLDER linux/arm64=FOLDER        to a registry, with the credentials of docker login
//
// The image runs as an ordinary user, writes no files and has no shell. Times are the commit's and
// files are in a fixed order, so the same commit gives the same digest.
package main
