// Package integration holds the tests of the programs as processes of their own: on the Apache Kafka that
// scripts/kafka.sh starts, and for what no process may say, wherever it runs.
package integration
