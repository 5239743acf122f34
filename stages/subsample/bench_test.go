package subsample_test

import (
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/stagestest"
	kit "github.com/eerf-stream/eerf/stages/stagestest/bench"
	"github.com/eerf-stream/eerf/stages/subsample"
)

// BenchmarkStage measures from topic to the closing checkpoint, compared with only reading the same
// messages.
func BenchmarkStage(b *testing.B) {
	for _, shape := range stagestest.WideShapes {
		for _, candidates := range []int{2000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", shape, candidates), func(b *testing.B) {
				k := kit.New(b, shape, 16)
				k.PublishSpec(candidates, k.Messages)
				k.Follow()
				var took, read []time.Duration
				for b.Loop() {
					took = append(took, roundSubsample(k, k.Topics.Events))
					read = append(read, roundRead(k))
				}
				k.Report(took, read, 0, "read")
			})
		}
	}
}

func roundSubsample(k *kit.Kit, topic string) time.Duration {
	output, drop := k.FreshTopic(map[string]string{"cleanup.policy": "compact"})
	defer drop()
	s := k.Stopwatch(output, 1)
	s.Events = topic
	r := &subsample.Runner{
		Broker: s, State: k.Follower, Meter: meter.New(), Logger: zap.NewNop(), Clock: time.Now, Pipeline: "test", Group: "subsample",
		Topics: k.Topics, Config: subsample.Config{CheckpointRows: 1 << 40, CheckpointInterval: time.Hour},
		CandidateMemory: scoring.DefaultMemory, DrainTimeout: time.Second,
	}
	r.Topics.Events, r.Topics.Scores = topic, output
	return k.Run(s, r.Run)
}

func roundRead(k *kit.Kit) time.Duration {
	begun := time.Now()
	for next := int64(0); next < k.Messages; {
		fetched, err := k.Client.Fetch(k.Context(), k.Topics.Events, 0, next)
		if err != nil {
			k.Fatal(err)
		}
		next = fetched.NextOffset
		fetched.Release()
	}
	return time.Since(begun)
}
