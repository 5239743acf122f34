package conformance

import (
	"testing"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

func abortedRecords(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 1, nil)
	one := s.Writer(t, topic+"-one")
	two := s.Writer(t, topic+"-two")
	one.Begin(t)
	one.Produce(t, topic, pipelinetest.Values("aborted", "aborted")...) // 0 1
	two.Begin(t)
	two.Produce(t, topic, pipelinetest.Values("b")...) // 2
	pipelinetest.Produce(t, client, topic, 0, pipelinetest.Values("c")...)
	one.Produce(t, topic, pipelinetest.Values("aborted")...) // 4
	one.End(t, false)                                        // 5
	two.Produce(t, topic, pipelinetest.Values("d")...)       // 6
	two.End(t, true)                                         // 7
	one.Begin(t)
	one.Produce(t, topic, pipelinetest.Values("e")...) // 8
	one.End(t, true)                                   // 9
	two.Begin(t)
	two.Produce(t, topic, pipelinetest.Values("aborted")...) // 10
	two.End(t, false)                                        // 11

	const next = 12 // markers may be written after the end of a transaction is acknowledged
	pipelinetest.Eventually(t, "all markers are written", func() bool {
		_, now, err := client.Offsets(pipelinetest.Context(t), topic, 0)
		if err != nil || now > next {
			t.Fatalf("next offset %d, %v", now, err)
		}
		return now == next
	})
	const committed = "bcde"
	for from := range int64(next) {
		records := pipelinetest.ReadUntil(t, client, topic, 0, from, next)
		if got := pipelinetest.Joined(records); committed[len(committed)-len(got):] != got || from == 0 && got != committed {
			t.Errorf("from %d: %s", from, pipelinetest.Texts(records))
		}
		if len(records) > 0 && records[0].Offset < from {
			t.Errorf("from %d: offset %d", from, records[0].Offset)
		}
	}
	// Batch by batch, so that markers and data come in different fetches.
	small := s.Open(t, Options{FetchMaxBytes: 1})
	if got := pipelinetest.Joined(pipelinetest.ReadUntil(t, small, topic, 0, 0, next)); got != committed {
		t.Errorf("batch by batch: %s", got)
	}
}

func openTransaction(t *testing.T, s Source) {
	client := s.Open(t, Options{})
	topic := pipelinetest.NewTopic(t, client, 1, nil)
	writer := s.Writer(t, topic)
	pipelinetest.Produce(t, client, topic, 0, pipelinetest.Values("a")...)
	writer.Begin(t)
	writer.Produce(t, topic, pipelinetest.Values("b")...)
	pipelinetest.Produce(t, client, topic, 0, pipelinetest.Values("c")...)
	if got := pipelinetest.Texts(pipelinetest.ReadUntil(t, client, topic, 0, 0, 1)); got != "0:a" {
		t.Error(got)
	}
	fetched, err := client.Fetch(pipelinetest.Context(t), topic, 0, 1)
	if err != nil || len(fetched.Records) != 0 || fetched.NextOffset != 1 || fetched.End != 1 {
		t.Errorf("%+v, %v", fetched, err)
	}
	if first, next, err := client.Offsets(pipelinetest.Context(t), topic, 0); first != 0 || next != 1 || err != nil {
		t.Errorf("offsets %d, %d, %v while a transaction is open", first, next, err)
	}
	var now []pipeline.Record
	next, err := pipeline.ReadAll(pipelinetest.Context(t), client, zap.NewNop(), topic, 0, func(r pipeline.Record) error {
		now = append(now, r)
		return nil
	})
	if got := pipelinetest.Texts(now); got != "0:a" || next != 1 || err != nil {
		t.Errorf("readable records: %s, next %d, %v", got, next, err)
	}
	writer.End(t, true)
	if got := pipelinetest.Texts(pipelinetest.ReadUntil(t, client, topic, 0, 1, 4)); got != "1:b 2:c" {
		t.Error(got)
	}
}
