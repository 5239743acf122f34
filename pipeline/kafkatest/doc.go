// Package kafkatest lets a test use, disturb and administer the Apache Kafka that scripts/kafka.sh started for it: a
// [Cluster] ends and starts single nodes, makes users and gives and takes rights.
package kafkatest
