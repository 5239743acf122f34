package kafka_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"

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
