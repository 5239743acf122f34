// Command shop is the shop of the example: it makes orders and what became of them, and holds what others made of these topics
// against what it computes itself.
//
//	shop make          writes the topics events and labels
//	shop check-join    compares the topic labelled with the join made in memory
//	shop wait          waits until features stand for all events of a topic
//	shop check-predictions
//	                   waits for the predictions of all events, and compares them with what became of the orders
package main
