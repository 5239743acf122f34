// Package deadletter makes, sends, lists and replays dead letters: records on the dead-letters topic for inputs that
// could not be used.
//
// A dead letter holds its whole input ([Refused]), the rows that were rejected ([Rejected]) or, for a batch that could
// not be read, its coordinates only ([RefusedBatch]). Its headers say which stage refused it and why ([Reason]). All
// stages send dead letters through a [Sender]. A dead letter goes to the partition of its input, and its position there
// is a [Place].
//
// A [Replayer] sends dead letters back to events. It keeps no record of what it sent: the next replay sends it again.
//
// Memory: a dead letter points to what its source points to until it is cloned ([Clone]). A record passed to a visitor
// is valid during the call only. A replay remembers the offset, and the numbers of rejected rows, of everything that it
// sent to the current partition. Concurrency: functions, Senders and Replayers are safe for concurrent use.
package deadletter
