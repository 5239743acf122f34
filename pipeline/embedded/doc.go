// Package embedded starts a Kafka broker inside the process, for the demo and for tests: one node
// on the loopback address that implements the Kafka protocol, keeps its log in a directory and
// needs no installation. Clients such as package pipeline/kafka connect to it as to any broker.
//
// Nouns: a [Broker] is the running node; its data directory holds all its state. A broker restarted
// on the same directory has all acknowledged records, topics, configurations and committed offsets,
// unless it was killed during compaction.
//
// It is kfake, the test broker of the franz-go project, and differs from Apache Kafka:
//
//   - it has one node and no replication: acks=all is acks=1, and a replication factor is stored without effect;
//   - an acknowledged record is in the operating system's cache, not on disk: it survives the process, but not the
//     machine. Apache Kafka does the same, but has replicas;
//   - compaction works on whole batches, on a timer, keeps the newest batch, and leaves no empty batches; Apache Kafka
//     leaves them, and keeps the active segment. It moves the first offset of the partition to the first remaining
//     record, which Apache Kafka does not, so a reader before that record finds its offset out of range. A broker killed
//     during compaction loses the records of the partition;
//   - a group starts without the three seconds that Apache Kafka waits for further members
//     (group.initial.rebalance.delay.ms), and session timeouts may be far shorter;
//   - batches are checked for checksum and counts but not decompressed, and names and configuration values of topics are
//     not checked;
//   - a metadata request never creates a topic;
//   - all requests run on one goroutine, so its speed does not predict the speed of a cluster.
//
// A Broker is safe for concurrent use. It needs its directory for itself; on Unix systems a lock
// file ensures that.
package embedded
