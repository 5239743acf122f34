package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/pipeline/pipelinetest"
)

// manyPartitions reads 50 partitions concurrently with one client, which may fetch several in one
// request. Some are empty at first, one has a batch larger than a fetch, one no longer has its
// first records. Every reader gets the records of its partition in order and once, including
// records written while it waits, and all memory is released.
func manyPartitions(t *testing.T, s Source) {
	const partitions, large, cut = 50, 7, 8
	client := s.Open(t, Options{FetchMaxBytes: 20000})
	topic := pipelinetest.NewTopic(t, client, partitions, nil)
	counts := make([]int, partitions)
	for p := range partitions {
		for range p % 3 { // a batch each
			counts[p] += writeNumbered(t, client, topic, p, counts[p], 10, 100)
		}
	}
	counts[large] += writeNumbered(t, client, topic, large, counts[large], 2, 100000)
	if s.DeleteRecords != nil {
		s.DeleteRecords(t, topic, cut, 15)
	}

	group, ctx := errgroup.WithContext(pipelinetest.Context(t))
	for p := range partitions {
		group.Go(func() error { return readNumbered(ctx, client, topic, p, counts[p]+5, p == cut) })
	}
	for p := range partitions { // while they read and wait
		writeNumbered(t, client, topic, p, counts[p], 5, 1000)
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Eventually(t, "all fetch memory is released", func() bool { return client.FetchMemory().Used == 0 })
}

// writeNumbered writes one batch of n records that name their partition and number, and returns n.
func writeNumbered(t *testing.T, client Client, topic string, partition, from, n, size int) int {
	t.Helper()
	var records []pipeline.Record
	for i := range n {
		value := bytes.Repeat([]byte{byte(partition)}, size)
		records = append(records, pipeline.Record{Key: numbered(partition, from+i), Value: value})
	}
	pipelinetest.Produce(t, client, topic, partition, records...)
	return n
}

func numbered(partition, i int) []byte { return fmt.Appendf(nil, "%d of partition %d", i, partition) }

// readNumbered reads a partition from its beginning to the given end. With cut, its first records
// may be missing.
func readNumbered(ctx context.Context, client Client, topic string, partition, end int, cut bool) error {
	for at := int64(0); at < int64(end); {
		fetched, err := client.Fetch(ctx, topic, partition, at)
		var outside *pipeline.OffsetOutOfRangeError
		if cut && errors.As(err, &outside) && at == 0 {
			at = outside.First
			continue
		}
		if err != nil {
			return fmt.Errorf("partition %d at %d: %w", partition, at, err)
		}
		for _, r := range fetched.Records {
			same := r.Partition == partition && r.Offset == at && bytes.Equal(r.Key, numbered(partition, int(at)))
			if !same || bytes.Count(r.Value, []byte{byte(partition)}) != len(r.Value) {
				fetched.Release()
				return fmt.Errorf("partition %d at %d: got %q of partition %d at %d", partition, at, r.Key, r.Partition, r.Offset)
			}
			at++
		}
		if fetched.NextOffset != at {
			err = fmt.Errorf("partition %d: next is %d after record %d", partition, fetched.NextOffset, at-1)
		}
		fetched.Release()
		if err != nil {
			return err
		}
	}
	return nil
}
