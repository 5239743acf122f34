// Package supervise prevents a persistent failure of one partition from ending the process. The
// partition is quarantined: reported, and retried at growing intervals, while the other partitions
// continue.
//
// Credentials and rights refused by the broker ([pipeline.ErrDenied]) are the same for all
// partitions and end the process. So does an unreadable control topic of one partition. Any other
// error belongs to the partition whose work failed. One-shot commands cannot wait for a retry:
// without a [Policy] every error ends them.
package supervise
