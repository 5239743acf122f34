// Package integration tests the programs as separate processes, on the Apache Kafka that scripts/kafka.sh starts, and
// checks that none of them reveals secrets, wherever it runs.
package integration
