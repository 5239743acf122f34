// Package kafka implements [pipeline.Broker] for Apache Kafka, 3.1 or later, and anything that speaks its protocol, with kafka-go.
//
// Nouns: a Client is a pool of connections to one cluster; a Config says where the brokers are and how to talk to them.
// Everything else is the vocabulary of package pipeline.
//
// Reading. The response to a fetch is read from the connection and decoded here, not by kafka-go, because three
// promises need it:
//
//   - no batch can take the process down: the size of a response, of a decompressed batch and the number of its records
//     are checked against the budget and against the bytes that are there before anything is allocated, on the caller's
//     goroutine. (kafka-go decodes in a goroutine of its own, where a false record count causes a panic that nothing
//     can recover, and it decompresses without a bound.)
//   - reading always moves on: the next offset comes from the batch headers, so batches that compaction has emptied,
//     control batches and aborted transactions are skipped, and a batch that cannot be read is reported with the offset
//     after it;
//   - read committed: records of aborted transactions and control records are not returned. The end of a partition,
//     from Offsets and from every fetch, is the last stable offset. While a transaction is open nothing after its first
//     record can be read, so nobody should wait for it.
//
// Identity. Topics are fetched by id instead of name, so a response belongs to the log that was asked for, and a recreated topic is an
// error from which the client learns the new id. Brokers that cannot do this are refused. kafka-go knows no such version, so the requests
// for records and for ids are encoded with franz-go.
//
// Requests. Fetches of partitions with one leader travel together. Up to 24 that have data get a request each. Idle
// ones share requests that end when any of them has data. Two short requests serve fetches that find all others under
// way, so that they do not wait for the idle ones. Errors, offsets out of range and unreadable batches affect their
// partition only. If a partition comes back empty because its batch is larger than what was asked for, it gets the next
// request to itself.
//
// Memory. What all fetches hold is charged to a pool of FetchMemory bytes before it is allocated. The record set is
// charged when its length is known, with an estimate of what decoding will take, and the exact sum once it is decoded,
// until the records are released. A fetch that waits for data holds nothing. Nobody waits for ever, for these reasons:
//
//   - a fetch that waits for memory holds none: it takes all that it needs at once. If that was too little, it gives
//     everything back, waits for more, and asks the broker again, in the end with the memory of the largest fetch;
//   - the largest fetch fits the pool, whatever the input: a larger set is not read, and decoding stops at the budget;
//   - reading a response waits for no memory. A set without memory is skipped, and its fetch waits;
//   - fetching ahead ([pipeline.OnlyFree]) takes free memory only and never waits;
//   - holders of records release them without waiting for another fetch from the same account. Data and the
//     project's own state ([pipeline.ForState]) have one account each. Holders of data may wait for state; those who
//     apply state wait for no fetch;
//   - memory goes to the fetch that has waited longest. If it wants more than becomes free within a second, the others
//     get a turn of the same length, so neither a large batch nor a partition stuck with what it holds keeps the others
//     from reading.
//
// The windows of zstd and lz4 decoders, 48 MiB in all, come on top of that.
//
// Batches of format 2 are read. A message set of an older format is reported as unreadable. Values
// of records alias the fetched buffer.
//
// Writing. A produce request is one batch, acknowledged by all in-sync replicas. It is encoded here, so that long
// values are sent from where they lie without a copy. [Client.Produce] is not idempotent: when an acknowledgement is
// lost because of a broken connection or a timeout, the records may be in the log despite the error, and sending them
// again may write them twice.
//
// The batches of a writer ([Client.OpenWriter]) are numbered: brokers write each once, however often it is sent. The
// writer with a WriterID also has a transactional id. Opening it takes the next epoch of the id's producer and has the
// coordinator end a transaction without records in every partition that is written to. Its marker, which readers do not
// see, carries the epoch, and from then on the leaders refuse every earlier one. Records are never in a transaction, so
// nobody has to wait for one. A writer carries on by itself if brokers have forgotten it. If they know a later epoch,
// or lack records that they had acknowledged, it ends with [pipeline.ErrFenced]. Every few hours it takes the next
// epoch, because coordinators forget unused ids. It does without what brokers or rights do not allow, and logs that.
//
// Groups. Ownership uses the consumer group protocol with eager rebalancing: when members come or go, every run ends,
// at the next heartbeat, before partitions are handed out again. A member that has lost touch with the broker for
// longer than the session timeout may still be running while another one already owns its partitions. Its writers are
// refused, and where they are not, the records of the stages show whose they are. A member goes on reporting while its runs
// end, and gives its partitions up when the coordinator has not answered for half the session timeout.
//
// Names. A dynamic member that is killed is missed by every join until its session has expired, and a process that is killed while it
// joins is a member that will never answer: twelve in a row have held a group up for more than a minute. So members are static
// (KIP-345) where they can be: a process that joins under the name of a dead one replaces it at once, in whatever state the group is,
// and gets its partitions. [Config].GroupInstance says what name. If two live processes use one, the coordinator fences the older, which
// says so and goes on as a dynamic member; what it still writes is refused, since writers are fenced by partition, not by name. The
// requests of members are encoded with franz-go, because kafka-go's carry no names.
//
// Sessions. Clients authenticate before kafka-go sees a connection, and again between two of its requests before the
// session ends, as long as the broker says that it lasts (KIP-368): kafka-go does not learn that, and would lose
// connections and memberships in groups.
//
// Errors. Those that a retry would not change are marked as [pipeline.IsPermanent] expects: refused credentials,
// missing rights, requests that the broker's configuration forbids. A refused token is one only while brokers have never accepted any. Everything else, above all an absent broker, is
// worth another try. A request on a connection that the broker had closed, or to a broker that no longer leads the
// partition, is sent again, at most twice, before the caller gets an error.
//
// A Client is safe for concurrent use. It starts goroutines for its connections; Close ends them.
package kafka
