package kafka_test

import (
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/kafka"
)

func begin(t *testing.T, client *kgo.Client) {
	t.Helper()
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
}

func end(t *testing.T, client *kgo.Client, commit kgo.TransactionEndTry) {
	t.Helper()
	if err := client.EndTransaction(background(t), commit); err != nil {
		t.Fatal(err)
	}
}

func abortedRecords(t *testing.T, on *cluster) {
	client := dial(t, on.config())
	topic := newTopic(t, client, 1, nil)
	one := otherClient(t, on, kgo.TransactionalID(topic+"-one"))
	two := otherClient(t, on, kgo.TransactionalID(topic+"-two"))
	begin(t, one)
	otherProduce(t, one, topic, "aborted", "aborted") // 0 1
	begin(t, two)
	otherProduce(t, two, topic, "b") // 2
	produce(t, client, topic, 0, values("c")...)
	otherProduce(t, one, topic, "aborted") // 4
	end(t, one, kgo.TryAbort)              // 5
	otherProduce(t, two, topic, "d")       // 6
	end(t, two, kgo.TryCommit)             // 7
	begin(t, one)
	otherProduce(t, one, topic, "e") // 8
	end(t, one, kgo.TryCommit)       // 9
	begin(t, two)
	otherProduce(t, two, topic, "aborted") // 10
	end(t, two, kgo.TryAbort)              // 11

	const next = 12 // markers may be written after the end of a transaction is acknowledged
	eventually(t, "all markers are written", func() bool {
		_, now, err := client.Offsets(background(t), topic, 0)
		if err != nil || now > next {
			t.Fatalf("next offset %d, %v", now, err)
		}
		return now == next
	})
	const committed = "bcde"
	for from := range int64(next) {
		records := readUntil(t, client, topic, 0, from, next)
		if got := joined(records); committed[len(committed)-len(got):] != got || from == 0 && got != committed {
			t.Errorf("from %d: %s", from, texts(records))
		}
		if len(records) > 0 && records[0].Offset < from {
			t.Errorf("from %d: offset %d", from, records[0].Offset)
		}
	}
	// Batch by batch, so that markers and data come in different fetches.
	small := on.config()
	small.FetchMaxBytes = 1
	if got := joined(readUntil(t, dial(t, small), topic, 0, 0, next)); got != committed {
		t.Errorf("batch by batch: %s", got)
	}
}

func openTransaction(t *testing.T, on *cluster) {
	client := dial(t, on.config())
	topic := newTopic(t, client, 1, nil)
	writer := otherClient(t, on, kgo.TransactionalID(topic))
	produce(t, client, topic, 0, values("a")...)
	begin(t, writer)
	otherProduce(t, writer, topic, "b")
	produce(t, client, topic, 0, values("c")...)
	if got := texts(readUntil(t, client, topic, 0, 0, 1)); got != "0:a" {
		t.Error(got)
	}
	fetched, err := client.Fetch(background(t), topic, 0, 1)
	if err != nil || len(fetched.Records) != 0 || fetched.NextOffset != 1 || fetched.End != 1 {
		t.Errorf("%+v, %v", fetched, err)
	}
	if first, next, err := client.Offsets(background(t), topic, 0); first != 0 || next != 1 || err != nil {
		t.Errorf("offsets %d, %d, %v while a transaction is open", first, next, err)
	}
	if got, next := readAll(t, client, topic); got != "0:a" || next != 1 {
		t.Errorf("what can be read now: %s, next %d", got, next)
	}
	end(t, writer, kgo.TryCommit)
	if got := texts(readUntil(t, client, topic, 0, 1, 4)); got != "1:b 2:c" {
		t.Error(got)
	}
}

func expandingBatch(t *testing.T, on *cluster) {
	const budget = 1 << 20
	for _, codec := range []struct {
		name  string
		codec kgo.CompressionCodec
	}{{"zstd", kgo.ZstdCompression()}, {"gzip", kgo.GzipCompression()}, {"lz4", kgo.Lz4Compression()}, {"snappy", kgo.SnappyCompression()}} {
		t.Run(codec.name, func(t *testing.T) {
			c := on.config()
			c.BatchBudgetBytes, c.FetchMaxBytes = budget, budget
			client := dial(t, c)
			topic := newTopic(t, client, 1, map[string]string{"max.message.bytes": "4000000"})
			produce(t, client, topic, 0, values("before")...)
			writer := otherClient(t, on, kgo.ProducerBatchCompression(codec.codec), kgo.ProducerBatchMaxBytes(1<<30),
				kgo.BrokerMaxWriteBytes(1<<30), kgo.MaxBufferedBytes(1<<30))
			bomb := string(make([]byte, 20*budget))
			otherProduce(t, writer, topic, bomb, "in the same batch")
			produce(t, client, topic, 0, values("after")...)

			fetched, err := client.Fetch(background(t), topic, 0, 0)
			if err != nil || texts(fetched.Records) != "0:before" || fetched.NextOffset != 1 {
				t.Fatalf("%s, next %d, %v", texts(fetched.Records), fetched.NextOffset, err)
			}
			var oversized *pipeline.UnreadableBatchError
			allocated := allocatedBy(func() {
				_, err = client.Fetch(background(t), topic, 0, 1)
			})
			if !errors.As(err, &oversized) || oversized.Offset != 1 || oversized.NextOffset != 3 ||
				oversized.Topic != topic || !errors.Is(err, kafka.ErrOverBudget) {
				t.Fatal(err)
			}
			if allocated > 16*budget { // codecs have buffers of a few megabytes
				t.Errorf("allocated %d bytes for it", allocated)
			}
			if got := texts(readUntil(t, client, topic, 0, oversized.NextOffset, 4)); got != "3:after" {
				t.Error(got)
			}
		})
	}
}
