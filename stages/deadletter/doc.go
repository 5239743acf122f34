// Package deadletter makes, sends, lists and replays dead letters: records on the dead-letters topic for inputs that
// could not be used.
//
// A dead letter holds its whole input ([Refused]), the rows that were rejected ([Rejected]) or, for a batch that could
// not be read, its coordinates only ([RefusedBatch]). Its headers say which stage refused it and why ([Reason]). All
// stages send dead letters through a [Sender]. A dead letter goes to the partition of its input, and its position there
// is a [Place].
//
// A [Replayer] feeds dead letters back to events, each input once. It writes notes to the dead-letters topic before it
// replays and when it is done. From these a [Ledger] knows what was replayed, whatever interrupted it.
//
// Memory: a dead letter points to what its source points to until it is cloned ([Clone]). A record passed to a visitor
// is valid during the call only. Concurrency: functions and Senders are safe for concurrent use; a Ledger and a replay
// belong to one goroutine.
package deadletter
