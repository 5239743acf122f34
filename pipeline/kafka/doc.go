// Package kafka implements [pipeline.Broker] on Apache Kafka, or anything that speaks its protocol, by means
// of kafka-go.
//
// Nouns: a Client is a pool of connections to one cluster; a Config says where the brokers are and how to
// talk to them. Everything else is the vocabulary of package pipeline.
//
// Reading. The response to a fetch is read from the connection and decoded here, not by kafka-go, because
// three promises need it:
//
//   - no batch can take the process down: the size of a response, of a decompressed batch and the number of
//     its records are checked against the budget and against the bytes that are there before anything is
//     allocated, on the caller's goroutine. (kafka-go decodes in a goroutine of its own, where a record count
//     that lies is a panic that nothing can recover, and decompresses without a bound.)
//   - reading always moves on: the next offset comes from the batch headers, so batches that compaction has
//     emptied, control batches and aborted transactions are passed, and a batch that cannot be read is
//     reported with the offset behind it;
//   - read committed: records of aborted transactions and control records are not handed out. The end of a
//     partition, from Offsets and of every fetch, is the last stable offset: where a transaction is open nothing
//     behind its first record can be read, so nobody should wait for it.
//
// Batches of format 2 (Kafka 0.11, 2017) are read; a message set of an older format is reported as a batch
// that cannot be read. Values of records alias the fetched buffer.
//
// Writing. A produce request is one batch, acknowledged by all in-sync replicas. It is encoded here, so that long
// values are sent from where they lie and not copied. It is not idempotent:
// when an acknowledgement is lost, by a broken connection or a time-out, the records may be in the log
// although an error came back, and sending them again may write them twice. Readers that must not count twice
// look at what the records say about their origin.
//
// Groups. Ownership is by the consumer group protocol with eager rebalancing: when members come or go, every
// run ends, at the next heartbeat, before partitions are handed out again. A member that has lost touch
// with the broker for longer than the session timeout may still be running while another one already owns
// its partitions; nothing but the stages' own records can show it, so they are written to allow for it. After the
// loss of a coordinator the members come back as new ones, and the group is whole once the old memberships
// have expired with the session timeout.
//
// Errors. Those that stay the same when asked again are marked as [pipeline.IsPermanent] sees them: refused
// credentials, missing rights, requests that the broker's configuration forbids. Everything else, above
// all a broker that is away, is worth another try. A request on a connection that the broker had closed
// meanwhile, or to a broker that no longer leads the partition, is sent again, twice at most, before the
// caller hears of it.
//
// A Client is safe for concurrent use. It starts goroutines for its connections; Close ends them.
package kafka
