package pipeline

import "time"

// GroupStatus says where a member of a consumer group, one call of [Owner].Own, stands.
type GroupStatus struct {
	Group string
	Topic string
	// Joined says that the process is a member of the present generation, with partitions or without.
	Joined bool
	// Since is when Joined last changed; before the first change, when Own was called.
	Since time.Time
	// Joins counts the generations that the process was a member of: the first, and one for each rebalance.
	Joins int64
	// Partitions are those assigned in the present generation; none while not joined.
	Partitions []int
	// Err is why the last attempt to join failed; nil after one that did not.
	Err error
}

// GroupReporter tells of the groups that a process takes part in.
type GroupReporter interface {
	Groups() []GroupStatus
}
