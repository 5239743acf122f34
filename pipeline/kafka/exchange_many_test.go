package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// part is the part of a response about a partition.
type part struct {
	partition int32
	code      int16
	aborted   int
	set       []byte
}

// encodeParts encodes a response about partitions of one topic with franz-go.
func encodeParts(parts ...part) []byte {
	topic := kmsg.FetchResponseTopic{Topic: "t"}
	topic.TopicID = uuidOf(testLog)
	for _, p := range parts {
		aborted := make([]kmsg.FetchResponseTopicPartitionAbortedTransaction, p.aborted)
		for i := range aborted {
			aborted[i] = kmsg.FetchResponseTopicPartitionAbortedTransaction{ProducerID: 8, FirstOffset: 9}
		}
		topic.Partitions = append(topic.Partitions, kmsg.FetchResponseTopicPartition{
			Partition: p.partition, ErrorCode: p.code, HighWatermark: 7, LastStableOffset: 6, LogStartOffset: 5,
			AbortedTransactions: aborted, RecordBatches: p.set,
		})
	}
	response := kmsg.FetchResponse{Version: fetchVersion, Topics: []kmsg.FetchResponseTopic{topic}}
	b := append(binary.BigEndian.AppendUint32(make([]byte, 4), 42), 0) // no tags in the header
	b = response.AppendTo(b)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// outcome names the outcome of a fetch.
func outcome(a *pendingFetch) string {
	var large *oversizedSetError
	var room *roomError
	switch latest, waits := a.waits(); {
	case waits && latest == nil:
		return "nothing said"
	case waits:
		return "waits"
	case errors.As(a.err, &large):
		return "oversized"
	case errors.As(a.err, &room):
		return "no room"
	case a.err != nil:
		return "failed"
	case a.response == nil:
		return "left"
	case a.response.code != 0:
		return kafkago.Error(a.response.code).Title()
	}
	return string(a.response.set)
}

func TestPartitionsOfAResponseAreAnsweredSeparately(t *testing.T) {
	long, large := bytes.Repeat([]byte("x"), 100), make([]byte, 101)
	for name, test := range map[string]struct {
		parts []part
		want  []string
		bad   bool // the whole response
	}{
		"all": {
			[]part{{3, 0, 0, []byte("a")}, {4, 0, 1, []byte("b")}, {5, 0, 0, []byte("c")}},
			[]string{"a", "b", "c"},
			false,
		},
		"in another order": {
			[]part{{5, 0, 0, []byte("c")}, {3, 0, 0, []byte("a")}, {4, 0, 0, nil}},
			[]string{"a", "waits", "c"},
			false,
		},
		"an error": {
			[]part{{3, 1, 0, nil}, {4, 0, 0, []byte("b")}, {5, 6, 0, nil}},
			[]string{"Offset Out Of Range", "b", "Not Leader For Partition"},
			false,
		},
		"an oversized set": {
			[]part{{3, 0, 0, large}, {4, 0, 0, []byte("b")}, {5, 0, 0, nil}},
			[]string{"oversized", "b", "waits"},
			false,
		},
		"too much in all": {
			[]part{{3, 0, 0, long}, {4, 0, 0, long}, {5, 0, 0, long}},
			[]string{string(long), string(long), "no room"},
			false,
		},
		"too many aborted": {
			[]part{{3, 0, maxAborted(4<<20) + 1, []byte("a")}, {4, 0, 0, []byte("b")}, {5, 0, 0, nil}},
			[]string{"failed", "b", "waits"},
			false,
		},
		"one is missing": {
			[]part{{3, 0, 0, []byte("a")}, {5, 0, 0, []byte("c")}},
			[]string{"a", "nothing said", "c"},
			false,
		},
		"one that nobody asked for": {
			[]part{{3, 0, 0, []byte("a")}, {6, 0, 0, []byte("b")}, {5, 0, 0, []byte("c")}},
			[]string{"a", "nothing said", "nothing said"},
			true,
		},
		"one twice": {
			[]part{{3, 0, 0, []byte("a")}, {3, 0, 0, []byte("b")}, {5, 0, 0, []byte("c")}},
			[]string{"a", "nothing said", "nothing said"},
			true,
		},
	} {
		fetches := testFetches()
		err := exchange(encodeParts(test.parts...), fetches...)
		var outcomes []string
		for _, a := range fetches {
			outcomes = append(outcomes, outcome(a))
		}
		if !slices.Equal(outcomes, test.want) || (err != nil) != test.bad {
			t.Errorf("%s: %q, %v", name, outcomes, err)
		}
	}
}

// TestAbandonedFetchGetsNoMemory checks that a caller that leaves before or after its response
// leaves no memory taken.
func TestAbandonedFetchGetsNoMemory(t *testing.T) {
	fetches := testFetches()
	fetches[0].abandon()
	fetches[1].funds = fetches[1].memory.try(50)
	fetches[1].abandon()
	if err := exchange(encodeParts(part{
		3,
		0,
		0,
		[]byte("a"),
	}, part{4, 0, 0, []byte("b")}, part{5, 0, 0, []byte("c")}), fetches...); err != nil {
		t.Fatal(err)
	}
	if outcome(fetches[0]) != "left" || outcome(fetches[1]) != "left" || outcome(fetches[2]) != "c" {
		t.Error(outcome(fetches[0]), outcome(fetches[1]), outcome(fetches[2]))
	}
	fetches[2].abandon()
	if used := fetches[2].memory.used; used != 0 {
		t.Errorf("%d bytes are still taken", used)
	}
}
