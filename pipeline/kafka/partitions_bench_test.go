package kafka_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// sockets counts the sockets of the process; half of them belong to a broker in it.
func sockets(t testing.TB) (n int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	for _, entry := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// BenchmarkPartitions reads a topic of many partitions in parallel, to its end.
func BenchmarkPartitions(b *testing.B) {
	const messages, bytes = 1000, 64 << 10
	addrs := connect(b).addrs
	for _, partitions := range []int{1, 24, 200, 1000} {
		b.Run(fmt.Sprint(partitions), func(b *testing.B) {
			topic := pipelinetest.NewTopic(b, benchmarkClient(b, addrs, kafka.CompressionNone), partitions, nil)
			writer := benchmarkClient(b, addrs, kafka.CompressionNone)
			for i := range messages {
				pipelinetest.Produce(b, writer, topic, i%partitions, pipeline.Record{Value: message(bytes)})
			}
			writer.Close()
			client := benchmarkClient(b, addrs, kafka.CompressionNone)
			before := sockets(b)
			b.SetBytes(messages * bytes)
			b.ReportAllocs()
			most := 0
			for b.Loop() {
				group, ctx := errgroup.WithContext(b.Context())
				for p := range partitions {
					group.Go(func() error {
						r := pipeline.NewReader(client, zap.NewNop(), topic, p, pipeline.ReadOptions{Until: pipeline.PresentEnd, Ahead: true})
						for _, err := range r.Fetches(ctx) {
							if err != nil {
								return err
							}
						}
						return nil
					})
				}
				if err := group.Wait(); err != nil {
					b.Fatal(err)
				}
				most = max(most, sockets(b)-before)
			}
			b.ReportMetric(float64(most)/2, "connections")
		})
	}
}

// BenchmarkLatency has readers wait for messages to any of their partitions, one message at a time.
func BenchmarkLatency(b *testing.B) {
	addrs := connect(b).addrs
	for _, partitions := range []int{1, 24, 200, 1000} {
		b.Run(fmt.Sprint(partitions), func(b *testing.B) {
			writer := benchmarkClient(b, addrs, kafka.CompressionNone)
			topic := pipelinetest.NewTopic(b, writer, partitions, nil)
			before := sockets(b)
			client := benchmarkClient(b, addrs, kafka.CompressionNone)
			ctx, stop := context.WithCancel(b.Context())
			arrived := make(chan struct{}, 1)
			var readers sync.WaitGroup
			for p := range partitions {
				readers.Go(func() {
					r := pipeline.NewReader(client, zap.NewNop(), topic, p, pipeline.ReadOptions{Until: pipeline.Forever, Ahead: true})
					for fetched, err := range r.Fetches(ctx) {
						if err == nil && len(fetched.Records) > 0 {
							arrived <- struct{}{}
						}
					}
				})
			}
			produce := func(i int) {
				pipelinetest.Produce(b, writer, topic, i*7919%partitions, pipeline.Record{Value: []byte("event")})
				<-arrived
			}
			for i := range 100 {
				produce(i)
			}
			var took []time.Duration
			for i := 100; b.Loop(); i++ {
				begun := time.Now()
				produce(i)
				took = append(took, time.Since(begun))
			}
			b.ReportMetric(float64(sockets(b)-before)/2, "connections")
			stop()
			readers.Wait()
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-p50")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
		})
	}
}
