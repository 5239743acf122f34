// Package supervise keeps the lasting failure of one partition from ending the process. The partition is quarantined:
// reported, and tried again at growing intervals, while the other partitions go on.
//
// Credentials and rights that the broker refuses ([pipeline.ErrDenied]) are the same for all partitions and end the
// process. So does a control topic of one partition that cannot be read. Any other error belongs to the partition whose
// work failed. A one-shot command cannot wait for a partition to be tried again: without a [Policy] every error ends
// it.
package supervise
