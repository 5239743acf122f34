package wire

import (
	"fmt"
	"slices"
)

// Exclusion is a partition of events that an exploration was planned without, because its work
// failed or it had no leader for long. Its range is empty.
type Exclusion struct {
	Partition int32  `json:"partition"`
	Reason    string `json:"reason" bound:"200"`
}

// maxExclusionReason bounds the bytes that a spec keeps of a reason: there may be one for each of a
// thousand partitions.
const maxExclusionReason = 200

// Exclude adds partitions to a list, ascending and each once; a partition already there keeps its
// reason.
func Exclude(list []Exclusion, more ...Exclusion) []Exclusion {
	list = slices.Clone(list)
	for _, w := range more {
		at, there := slices.BinarySearchFunc(
			list,
			w.Partition,
			func(a Exclusion, b int32) int { return int(a.Partition - b) },
		)
		if !there {
			w.Reason = cutText(w.Reason, maxExclusionReason)
			list = slices.Insert(list, at, w)
		}
	}
	return list
}

// Excludes reports whether the exploration was planned without the partition.
func (s *Spec) Excludes(partition int32) bool {
	return slices.ContainsFunc(s.Excluded, func(w Exclusion) bool { return w.Partition == partition })
}

// Reads reports whether the exploration has anything to read in the partition.
func (s *Spec) Reads(partition int32) bool {
	part, ok := s.Partition(partition)
	return ok && !part.Empty()
}

// validateExcluded checks that a running exploration does not read the partitions it was planned
// without.
func (s *Spec) validateExcluded() error {
	last := int32(-1)
	for _, w := range s.Excluded {
		if w.Partition <= last {
			return fmt.Errorf("without: partition %d follows %d; partitions must be distinct and ascending, from 0", w.Partition, last)
		}
		last = w.Partition
		if s.Status == StatusRunning && s.Reads(w.Partition) {
			return fmt.Errorf("partition %d is read, and planned without", w.Partition)
		}
	}
	return nil
}
