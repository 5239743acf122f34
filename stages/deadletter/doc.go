// Package deadletter makes, sends, lists and replays dead letters: records on the dead-letters
// topic for inputs that could not be used.
//
// A dead letter holds its whole input ([Refused]), the rejected rows ([Rejected]) or, for a batch
// that could not be read, only its coordinates ([RefusedBatch]). Its headers name the stage and the
// reason ([Reason]). Until it is sent it is a [Draft], which also has them as values. All stages
// send dead letters through a [Sender]. A dead letter goes to the partition of its input, and its
// position there is a [Place].
//
// A [Replayer] sends dead letters back to events. It keeps no record of them: the next replay
// resends them.
//
// Memory: a draft shares the memory of its source until it is cloned ([Draft.Clone]). A record
// passed to a visitor is valid only during the call. A replay remembers the offsets, and the
// numbers of rejected rows, of all inputs that it sent to the current partition. Concurrency:
// functions, Senders and Replayers are safe for concurrent use.
package deadletter
