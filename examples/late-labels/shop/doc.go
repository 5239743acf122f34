// Command shop is the shop of the example: it generates orders and their outcomes, and compares the
// results of the job and the pipelines with its own.
//
//	shop make          writes the topics events and labels
//	shop check-join    compares the topic labelled with a join in memory
//	shop wait          waits until all events of a topic have features
//	shop check-predictions
//	                   waits for the predictions of all events, and compares them with the outcomes of the orders
package main
