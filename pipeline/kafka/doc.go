// Package kafka implements [pipeline.Broker] for Apache Kafka, 3.1 or later, and anything that
// speaks its protocol, with kafka-go.
//
// Nouns: a [Client] is a pool of connections to one cluster, configured by a [Config]. All other
// terms are defined in package pipeline.
//
// Reading. The response to a fetch is read from the connection and decoded here, not by kafka-go,
// for three reasons:
//
//   - no batch can end the process: the size of a response, the size of a decompressed batch and the number of its
//     records are checked against the budget and the received bytes before memory is allocated, on the caller's
//     goroutine. (kafka-go decodes in its own goroutine, where a false record count causes a panic that cannot be
//     recovered, and it decompresses without a limit.)
//   - reading always advances: the next offset comes from the batch headers, so batches emptied by compaction, control
//     batches and aborted transactions are skipped, and an unreadable batch is reported with the offset after it;
//   - read committed: records of aborted transactions and control records are not returned. The end of a partition,
//     from Offsets and from every fetch, is the last stable offset. Records after the first one of an open transaction
//     cannot be read yet, so callers should not wait for them.
//
// Identity. Topics are fetched by id instead of name, so a response belongs to the requested log,
// and a recreated topic is an error that makes the client look up the new id. Brokers without topic
// ids are refused. kafka-go does not implement these versions, so the requests for records and ids
// are encoded with franz-go.
//
// Requests. Fetches of partitions with the same leader share requests. Up to 24 partitions that had
// data get a request each. Idle ones share requests that end when any of them has data. Two short
// requests serve fetches that arrive while all others are under way. Errors, offsets out of range
// and unreadable batches affect their partition only. If the response for a partition is empty
// because its batch is larger than the requested size, the next request is for this partition
// alone.
//
// Memory. All fetches are charged to a pool of FetchMemory bytes before memory is allocated. A
// record set is charged when its length is known, with an estimate for decoding. The exact sum is
// charged after decoding, until the records are released. A fetch that waits for data holds no
// memory. The pool cannot deadlock, because
//
//   - a waiting fetch holds no memory: it takes all that it needs at once. If that was too little, it releases
//     everything, waits for more, and asks the broker again, at last with the memory of the largest fetch;
//   - the largest fetch fits the pool for any input: a larger set is not read, and decoding stops at the budget;
//   - reading a response never waits for memory. A set without memory is skipped, and its fetch waits;
//   - fetching ahead ([pipeline.OnlyFree]) takes free memory only and never waits;
//   - holders of records release them without waiting for another fetch from the same account. Data and the project's
//     own state ([pipeline.ForState]) have one account each. Holders of data may wait for state; code that applies state
//     waits for no fetch;
//   - memory goes to the fetch that has waited longest. If it needs more than becomes free within a second, the others
//     get a turn of the same length, so neither a large batch nor a stuck partition keeps the others from reading.
//
// The windows of zstd and lz4 decoders, 48 MiB in all, are extra.
//
// Only batches of format 2 are read; message sets of older formats are reported as unreadable.
// Values of records alias the fetched buffer.
//
// Writing. A produce request is one batch, acknowledged by all in-sync replicas. It is encoded
// here, so that long values are sent without a copy. [Client.Produce] is not idempotent: when an
// acknowledgement is lost because of a broken connection or a timeout, the records may be in the
// log despite the error, and a retry may write them twice.
//
// The batches of a writer ([Client.OpenWriter]) are numbered: brokers write each once, however
// often it is sent. A writer with a WriterID also has a transactional id. Opening it takes the next
// epoch of the id's producer and has the coordinator end a transaction without records in every
// target partition. Its marker, which readers do not see, carries the epoch, and from then on the
// leaders refuse earlier ones. Records are never in a transaction, so readers never wait for one. A
// writer recovers if brokers have forgotten it. If they know a later epoch, or lack records that
// they had acknowledged, it ends with [pipeline.ErrFenced]. Every few hours it takes the next
// epoch, because coordinators forget unused ids. Without support or rights for this, writers are
// less protected, which is logged.
//
// Groups. Ownership uses the consumer group protocol with eager rebalancing: when members come or
// go, every run ends, at the next heartbeat, before partitions are reassigned. A member without
// contact to the broker for longer than the session timeout may still be running while another one
// already owns its partitions. Its writes are refused, and where brokers do not do that, the
// records of the stages identify their writer. A member sends heartbeats while its runs end, and
// gives up its partitions when the coordinator has not answered for half the session timeout.
//
// Names. Every join waits for a killed dynamic member until its session expires, and for a process
// that was killed while joining: twelve in a row have blocked a group for more than a minute. So
// members are static (KIP-345) where possible: a process that joins under the name of a dead one
// replaces it at once, in any state of the group, and gets its partitions. [Config].GroupInstance
// sets the name. If two live processes use the same one, the coordinator fences the older, which
// logs that and continues as a dynamic member; its late writes are refused, since writers are
// fenced by partition, not by name. The requests of members are encoded with franz-go, because
// kafka-go's carry no names.
//
// Sessions. Clients authenticate before kafka-go gets a connection, and re-authenticate between two
// of its requests before the session lifetime that brokers announce is over (KIP-368). kafka-go
// ignores that lifetime, and would lose connections and group memberships.
//
// Errors. Errors that a retry would not change are permanent ([pipeline.IsPermanent]): refused
// credentials, missing rights, requests that the broker's configuration forbids. A refused token is
// permanent only until brokers have accepted one. All other errors, above all an unavailable
// broker, are worth a retry. A request on a connection that the broker had closed, or to a broker
// that no longer leads the partition, is resent at most twice before the caller gets an error.
//
// A Client is safe for concurrent use. It starts goroutines for its connections; Close ends them.
package kafka
