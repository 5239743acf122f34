// Package integration tests the programs as separate processes, on the Apache Kafka that
// scripts/kafka.sh starts, and checks, also without Kafka, that they reveal no secrets.
package integration
