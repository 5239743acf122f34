// Package embedded starts a Kafka broker inside the process, for the demo and for tests: one node on the loopback
// address that speaks the Kafka protocol, keeps its log in a directory and needs nothing installed. Clients such as
// package pipeline/kafka connect to it as to any broker.
//
// Nouns: a Broker is the running node; its data directory is all its state. A broker started again on the same
// directory has every acknowledged record, topic, configuration and committed offset, unless it was killed while it compacted.
//
// It is kfake, the broker that the franz-go project tests its client with, and it differs from Apache Kafka:
//
//   - one node, so no replication: acks=all is acks=1, and a replication factor is stored but not carried out;
//   - an acknowledged record is with the operating system, not on disk: it survives the process, but not the machine.
//     Apache Kafka does the same, but has replicas;
//   - compaction works on whole batches, on a timer, always spares the newest batch, and leaves no empty batches;
//     Apache Kafka leaves them, and spares the active segment. It moves the first offset of the partition to the first
//     remaining record, which Apache Kafka does not, so a reader before that record finds its offset out of range. A broker that
//     is killed in the middle of it has lost the records of the partition;
//   - a group starts without the three seconds that Apache Kafka waits for further members
//     (group.initial.rebalance.delay.ms), and session timeouts may be far shorter;
//   - batches are checked for checksum and counts but not decompressed, requests may be of any size, and names and
//     configuration values of topics are not checked;
//   - asking for a topic never creates it;
//   - everything runs on one goroutine, so it says nothing about the speed or scaling of a cluster.
//
// A Broker is safe for concurrent use. Nobody else may use the directory meanwhile; on Unix systems a lock file ensures
// that.
package embedded
