// Package kafkatest lets a test use, disturb and administer the Apache Kafka that scripts/kafka.sh
// started for it: a [Cluster] stops and starts single nodes, creates users, grants rights, and has
// a [TokenEndpoint].
package kafkatest
