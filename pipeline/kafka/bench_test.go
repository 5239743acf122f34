package kafka_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

func benchmarkClient(b *testing.B, addrs []string, compression kafka.Compression) *kafka.Client {
	b.Helper()
	c := kafka.Config{Brokers: addrs, Compression: compression, FetchMaxWait: 50 * time.Millisecond}
	client, err := kafka.New(c, zap.NewNop())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { client.Close() })
	return client
}

// message is a value that compresses about as well as rows of floats.
func message(bytes int) []byte {
	value := make([]byte, bytes)
	state := uint32(1)
	for i := range value {
		state = state*1664525 + 1013904223
		if value[i] = byte(state >> 24); i%4 == 3 {
			value[i] = 0x3f
		}
	}
	return value
}

func BenchmarkProduce(b *testing.B) {
	addrs := connect(b).addrs
	for _, compression := range []kafka.Compression{kafka.CompressionNone, kafka.CompressionLZ4, kafka.CompressionZstd} {
		for _, bytes := range []int{64 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%v/%dKiB", compression, bytes>>10), func(b *testing.B) {
				client := benchmarkClient(b, addrs, compression)
				topic := pipelinetest.NewTopic(b, client, 1, map[string]string{"max.message.bytes": "8000000"})
				records := []pipeline.Record{{Value: message(bytes)}}
				b.SetBytes(int64(bytes))
				for b.Loop() {
					if _, err := client.Produce(context.Background(), topic, 0, records); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkWriters compares plain with numbered and fenced writes, in turn and by medians, so that other load on the machine
// affects all alike.
func BenchmarkWriters(b *testing.B) {
	client := benchmarkClient(b, connect(b).addrs, kafka.CompressionNone)
	for _, bytes := range []int{1 << 10, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dKiB", bytes>>10), func(b *testing.B) {
			topic := pipelinetest.NewTopic(b, client, 3, map[string]string{"max.message.bytes": "8000000"})
			writers := []pipeline.Producer{client, openWriter(b, client, topic, false), openWriter(b, client, topic, true)}
			records := []pipeline.Record{{Value: message(bytes)}}
			took := make([][]time.Duration, len(writers))
			for round := 0; b.Loop(); round++ {
				for turn := range writers {
					i := (turn + round) % len(writers)
					began := time.Now()
					if _, err := writers[i].Produce(context.Background(), topic, (turn+2*round)%3, records); err != nil {
						b.Fatal(err)
					}
					took[i] = append(took[i], time.Since(began))
				}
			}
			for i, name := range []string{"plain", "numbered", "fenced"} {
				slices.Sort(took[i])
				b.ReportMetric(float64(took[i][len(took[i])/2].Nanoseconds())/1000, "µs/"+name)
			}
		})
	}
}

// BenchmarkTakeOver measures opening the writers of that many writers together, each fencing three partitions.
func BenchmarkTakeOver(b *testing.B) {
	client := benchmarkClient(b, connect(b).addrs, kafka.CompressionNone)
	for _, writers := range []int{1, 24, 200} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			topics := make([]string, 3)
			for i := range topics {
				topics[i] = pipelinetest.NewTopic(b, client, writers, nil)
			}
			for b.Loop() {
				var opening errgroup.Group
				for p := range writers {
					opening.Go(func() error {
						_, err := client.OpenWriter(context.Background(), &pipeline.WriterID{Group: "group", Topic: topics[0], Partition: p},
							pipeline.Target{Topic: topics[0], Partition: p}, pipeline.Target{Topic: topics[1], Partition: p},
							pipeline.Target{Topic: topics[2], Partition: p})
						return err
					})
				}
				if err := opening.Wait(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFetch(b *testing.B) {
	const total = 64 << 20
	addrs := connect(b).addrs
	for _, compression := range []kafka.Compression{kafka.CompressionNone, kafka.CompressionLZ4, kafka.CompressionZstd} {
		for _, bytes := range []int{1 << 10, 64 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%v/%dKiB", compression, bytes>>10), func(b *testing.B) {
				client := benchmarkClient(b, addrs, compression)
				topic := pipelinetest.NewTopic(b, client, 1, map[string]string{"max.message.bytes": "8000000"})
				var records []pipeline.Record
				for range max(1, 256<<10/bytes) { // batches of a quarter of a megabyte to one megabyte
					records = append(records, pipeline.Record{Value: message(bytes)})
				}
				for range total / (bytes * len(records)) {
					pipelinetest.Produce(b, client, topic, 0, records...)
				}
				b.SetBytes(total)
				b.ReportAllocs()
				for b.Loop() {
					pipelinetest.ReadUntil(b, client, topic, 0, 0, int64(total/bytes))
				}
			})
		}
	}
}

// BenchmarkOwn measures the time from the call of Own to the first run and from the end of its context to its return, with a
// new group each time.
func BenchmarkOwn(b *testing.B) {
	client := benchmarkClient(b, connect(b).addrs, kafka.CompressionNone)
	topic := pipelinetest.NewTopic(b, client, 1, nil)
	var toRun, toEnd time.Duration
	n := 0
	for b.Loop() {
		ctx, stop := context.WithCancel(context.Background())
		start := time.Now()
		var running, ending time.Time
		err := client.Own(ctx, fmt.Sprint(topic, n), topic, func(ctx context.Context, _ pipeline.Ownership) error {
			running = time.Now()
			stop()
			ending = time.Now()
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		toRun += running.Sub(start)
		toEnd += time.Since(ending)
		n++
	}
	b.ReportMetric(float64(toRun.Microseconds())/float64(n)/1000, "ms/first-run")
	b.ReportMetric(float64(toEnd.Microseconds())/float64(n)/1000, "ms/leave")
}
