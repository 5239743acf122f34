// Package deadletter makes, sends, lists and replays dead letters: the records of the dead-letters topic that stand for
// inputs which could not be used.
//
// One holds what its input held ([Refused]), the rows of it that were rejected ([Rejected]) or, of a batch that could
// not be read, its coordinates alone ([RefusedBatch]); its headers say which stage refused it and why ([Reason]). All
// stages send theirs by a [Sender]. A dead letter stands in the partition of its input, at a [Place].
//
// A replay ([Replayer]) feeds them back to events, each input once: it writes notes of what it begins and what it has
// done to the dead-letters topic, from which a [Ledger] knows what was replayed, whatever interrupted it.
//
// Memory: a dead letter points to what its source points to until it is cloned ([Clone]); records that are visited are valid
// during the call alone. Concurrency: functions and Senders are safe from several goroutines, a Ledger and a replay belong
// to one.
package deadletter
