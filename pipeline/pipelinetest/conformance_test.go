package pipelinetest_test

import (
	"testing"
	"time"

	"github.com/eerf-stream/eerf/pipeline/conformance"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// closable wraps the broker as its own client.
type closable struct{ *pipelinetest.Broker }

func (closable) Close() error { return nil }

// TestConformance checks that the in-memory broker behaves like real ones. It has neither
// transactions nor compaction, one member per group, and no nodes.
func TestConformance(t *testing.T) {
	broker := pipelinetest.NewBroker()
	conformance.Test(t, conformance.Source{
		Open: func(t testing.TB, o conformance.Options) conformance.Client {
			if o.FetchMaxWait > 0 {
				broker.SetFetchWait(o.FetchMaxWait)
				t.Cleanup(func() { broker.SetFetchWait(20 * time.Millisecond) })
			}
			return closable{broker}
		},
		DeleteRecords: func(_ testing.TB, topic string, partition int, before int64) {
			broker.Expire(topic, partition, before)
		},
	})
}
