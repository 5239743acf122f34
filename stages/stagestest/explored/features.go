package explored

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/stagestest"
)

// Featurized is a message of features as its readers see it.
type Featurized struct {
	wire.FeatureBatch
	Record     pipeline.Record
	Rows       []int32
	Features   []float32
	Identities []uint64 // nil = by place
	Body       arrow.Record
}

// ReadFeatures reads a valid message with m features per row.
func ReadFeatures(t testing.TB, r pipeline.Record, m int) Featurized {
	t.Helper()
	part, err := wire.ParseFeatureHeaders(r.Headers)
	if err != nil {
		t.Fatal(err)
	}
	body := stagestest.Decode(t, r.Value)[0]
	rows, z, err := wire.DecodeFeatures(body, m)
	if err == nil {
		err = part.CheckRows(rows)
	}
	if err != nil {
		t.Fatal(err)
	}
	ids, err := wire.DecodeIdentities(body)
	if err != nil {
		t.Fatal(err)
	}
	return Featurized{part, r, rows, z, ids, body}
}

// Features reads a partition of a features topic.
func Features(t testing.TB, log pipeline.Log, topic string, partition, m int) (all []Featurized) {
	t.Helper()
	for _, record := range stagestest.All(t, log, topic, partition) {
		all = append(all, ReadFeatures(t, record, m))
	}
	return all
}

// FeaturizedUpTo waits until a partition of a features topic covers events before the offset.
func FeaturizedUpTo(t testing.TB, log pipeline.Log, topic string, partition int, next int64) {
	t.Helper()
	stagestest.Until(t, fmt.Sprintf("features of partition %d up to offset %d", partition, next), func() bool {
		_, end, err := log.Offsets(t.Context(), topic, partition)
		if err != nil || end == 0 {
			return false
		}
		fetched, err := log.Fetch(t.Context(), topic, partition, end-1)
		defer fetched.Release()
		if err != nil || len(fetched.Records) == 0 {
			return false
		}
		part, err := wire.ParseFeatureHeaders(fetched.Records[len(fetched.Records)-1].Headers)
		return err == nil && part.Last() && part.SourceOffset+1 >= next
	})
}

// CheckOnce checks rows like [CheckRows], and that each event was mapped with one set.
func CheckOnce(t testing.TB, sources []pipeline.Record, features []Featurized, rowsPerEvent int64) (sets []string) {
	t.Helper()
	setOf := map[int64]string{}
	for _, out := range features {
		if was, ok := setOf[out.SourceOffset]; ok && was != out.FeatureSetID {
			t.Errorf("offset %d: parts of sets %s and %s", out.SourceOffset, was, out.FeatureSetID)
		}
		setOf[out.SourceOffset] = out.FeatureSetID
	}
	return CheckRows(t, sources, features, rowsPerEvent)
}

// CheckRows checks that every row of a partition's events, each of rowsPerEvent rows, is in the
// features once, in order, with the key of its event. It returns the sets in order of use.
func CheckRows(t testing.TB, sources []pipeline.Record, features []Featurized, rowsPerEvent int64) (sets []string) {
	t.Helper()
	var at int64 // rows seen so far
	for _, out := range features {
		source := sources[out.SourceOffset]
		if out.SourceTopic != source.Topic || int(out.SourcePartition) != source.Partition ||
			int64(out.SourceRows) != rowsPerEvent {
			t.Errorf("features message %d comes from %+v", out.Record.Offset, out.FeatureBatch)
		}
		if string(out.Record.Key) != string(source.Key) {
			t.Errorf("key %q, the event's is %q", out.Record.Key, source.Key)
		}
		for _, row := range out.Rows {
			if out.SourceOffset*rowsPerEvent+int64(row) != at {
				t.Fatalf("offset %d row %d, want offset %d row %d", out.SourceOffset, row, at/rowsPerEvent, at%rowsPerEvent)
			}
			at++
		}
		if len(sets) == 0 || sets[len(sets)-1] != out.FeatureSetID {
			sets = append(sets, out.FeatureSetID)
		}
	}
	if want := int64(len(sources)) * rowsPerEvent; at != want {
		t.Errorf("features have %d rows, want %d for %d events", at, want, len(sources))
	}
	return sets
}
