package kafka_test

import (
	"bytes"
	"cmp"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/conformance"
	"github.com/eerf-stream/eerf/pipeline/kafka"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// TestConformance checks everything that package pipeline requires of a broker, and the
// requirements on Kafka alone. It uses the embedded broker or the one in EERF_TEST_BROKERS: one
// node or several, open or secured.
func TestConformance(t *testing.T) {
	on := connect(t)
	t.Run("every compression is read", func(t *testing.T) { everyCompression(t, on) })
	conformance.Test(t, on.source()) // last: a restarted embedded broker ends with the test that restarted it
}

func TestThreeEmbeddedBrokersConform(t *testing.T) {
	conformance.Test(t, newEmbeddedThree(t).source())
}

// source describes the cluster to the suite.
func (on *cluster) source() conformance.Source {
	return conformance.Source{
		Open: func(t testing.TB, o conformance.Options) conformance.Client {
			c := on.config()
			c.FetchMaxWait = cmp.Or(o.FetchMaxWait, c.FetchMaxWait)
			c.FetchMaxBytes = cmp.Or(o.FetchMaxBytes, c.FetchMaxBytes)
			c.SessionTimeout = cmp.Or(o.SessionTimeout, c.SessionTimeout)
			return dial(t, c)
		},
		DeleteRecords: func(t testing.TB, topic string, partition int, before int64) {
			deleteRecords(t, on, topic, int32(partition), before)
		},
		Writer: func(t testing.TB, transactionalID string) conformance.Writer {
			if transactionalID == "" {
				return otherWriter{otherClient(t, on)}
			}
			return otherWriter{otherClient(t, on, kgo.TransactionalID(transactionalID))}
		},
		Groups: true, Fences: true, Compacts: on.compacts, EmptyBatches: on.real != nil,
		Move: on.move, Kill: on.kill, Start: on.start,
	}
}

// otherWriter is a [conformance.Writer] that uses another client library.
type otherWriter struct{ client *kgo.Client }

func (w otherWriter) Begin(t testing.TB) {
	t.Helper()
	if err := w.client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
}

func (w otherWriter) Produce(t testing.TB, topic string, records ...pipeline.Record) {
	t.Helper()
	var batch []*kgo.Record
	for _, r := range records {
		batch = append(batch, &kgo.Record{Topic: topic, Key: r.Key, Value: r.Value})
	}
	if err := w.client.ProduceSync(pipelinetest.Context(t), batch...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

func (w otherWriter) End(t testing.TB, commit bool) {
	t.Helper()
	if err := w.client.EndTransaction(pipelinetest.Context(t), kgo.TransactionEndTry(commit)); err != nil {
		t.Fatal(err)
	}
}

func everyCompression(t *testing.T, on *cluster) {
	for _, compression := range []kafka.Compression{kafka.CompressionNone, kafka.CompressionGzip,
		kafka.CompressionSnappy, kafka.CompressionLZ4, kafka.CompressionZstd} {
		t.Run(string(compression), func(t *testing.T) {
			c := on.config()
			c.Compression = compression
			client := dial(t, c)
			topic := pipelinetest.NewTopic(t, client, 1, nil)
			long := bytes.Repeat([]byte("compress me "), 30000)
			pipelinetest.Produce(t, client, topic, 0, pipeline.Record{Value: []byte("short")}, pipeline.Record{Value: long})
			got := pipelinetest.ReadUntil(t, client, topic, 0, 0, 2)
			if len(got) != 2 || string(got[0].Value) != "short" || !bytes.Equal(got[1].Value, long) {
				t.Errorf("%d records differ from the written ones", len(got))
			}
		})
	}
}
