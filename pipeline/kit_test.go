package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	errAway  = errors.New("broker away")
	errFault = errors.New("no way")
)

// newLog returns a broker with one partition of topic "t" that holds n records, whose values are
// their offsets.
func newLog(t testing.TB, n int) *pipelinetest.Broker {
	t.Helper()
	log := pipelinetest.NewBroker()
	log.AddTopic("t", 1)
	write(t, log, n)
	return log
}

// write appends n records, whose values are their offsets.
func write(t testing.TB, log pipeline.Broker, n int) {
	t.Helper()
	_, next, err := log.Offsets(context.Background(), "t", 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		value := fmt.Appendf(nil, "%d", next+int64(i))
		if _, err := log.Produce(context.Background(), "t", 0, []pipeline.Record{{Value: value}}); err != nil {
			t.Fatal(err)
		}
	}
}

// upTo is [first, first+1, …, next-1].
func upTo(first, next int64) []int64 {
	var offsets []int64
	for o := first; o < next; o++ {
		offsets = append(offsets, o)
	}
	return offsets
}
