// Command shop is the shop of the example: it makes orders and their outcomes, and compares what others make of these topics
// with what it computes itself.
//
//	shop make          writes the topics events and labels
//	shop check-join    compares the topic labelled with the join made in memory
//	shop wait          waits until all events of a topic have features
//	shop check-predictions
//	                   waits for the predictions of all events, and compares them with the outcomes of the orders
package main
