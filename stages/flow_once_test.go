package stages_test

import (
	"github.com/eerf-stream/eerf/stages"
)

// smallParts makes a message of 30 rows give several output messages.
func smallParts(s *stages.Settings) {
	s.Exploration.SampleRows = 200
	s.Featurize.MaxOutputBytes = 12 * (4*8 + 64)
}

// source is the origin of an output row.
type source struct {
	partition int32
	offset    int64
	row       int32
}

// checkOnce checks that every row of a partition's messages is in the output once, in order, with the key of its
// message, and that each message was made with one set. It returns the sets in order of use.
func (f *flow) checkOnce(partition int, rowsPerMessage int32, messages int64) (sets []string) {
	f.t.Helper()
	events := f.all(f.settings.Topics.Events, partition)
	seen := map[source]int{}
	setOf := map[int64]string{}
	for _, out := range f.features(partition) {
		if out.SourceTopic != f.settings.Topics.Events || int(out.SourcePartition) != partition || out.SourceRows != rowsPerMessage {
			f.t.Errorf("partition %d: features message %d comes from %+v", partition, out.record.Offset, out.FeatureBatch)
		}
		if want := events[out.SourceOffset].Key; string(out.record.Key) != string(want) {
			f.t.Errorf("partition %d: key %q, the event's is %q", partition, out.record.Key, want)
		}
		for _, row := range out.rows {
			seen[source{out.SourcePartition, out.SourceOffset, row}]++
		}
		if was, ok := setOf[out.SourceOffset]; ok && was != out.FeatureSetID {
			f.t.Errorf("partition %d offset %d: parts of sets %s and %s", partition, out.SourceOffset, was, out.FeatureSetID)
		}
		setOf[out.SourceOffset] = out.FeatureSetID
		if len(sets) == 0 || sets[len(sets)-1] != out.FeatureSetID {
			sets = append(sets, out.FeatureSetID)
		}
	}
	for offset := range messages {
		for row := range rowsPerMessage {
			if n := seen[source{int32(partition), offset, row}]; n != 1 {
				f.t.Fatalf("partition %d offset %d row %d is in the output %d times", partition, offset, row, n)
			}
		}
	}
	if int64(len(seen)) != messages*int64(rowsPerMessage) {
		f.t.Errorf("partition %d: %d rows in the output, %d in %d messages", partition, len(seen), messages*int64(rowsPerMessage), messages)
	}
	return sets
}
