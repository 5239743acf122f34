package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/twmb/franz-go/pkg/kgo"
)

// message is a record read by another program's consumer.
type message struct {
	partition int
	offset    int64
	value     []byte
}

// checkForeign reads the committed records of features with a consumer of another library and
// counts their rows with a plain Arrow reader. The result must equal that of the project's own
// reader.
func (r *run) checkForeign(ctx context.Context) error {
	topic := r.loaded.Stages.Topics.Features
	var ends [partitions]int64
	wanted := map[string]bool{}
	for partition := range partitions {
		messages, err := r.features(ctx, partition)
		if err != nil {
			return err
		}
		for _, m := range messages {
			wanted[fmt.Sprint(partition, m.record.Offset)] = true
		}
		if _, ends[partition], err = r.client.Offsets(ctx, topic, partition); err != nil {
			return err
		}
	}
	found, err := r.broker.Consume(ctx, topic, ends)
	if err != nil {
		return fmt.Errorf("another consumer of %s: %w", topic, err)
	}
	for _, m := range found {
		key := fmt.Sprint(m.partition, m.offset)
		if !wanted[key] {
			r.fault("features/%d offset %d: seen only by another consumer, or twice", m.partition, m.offset)
		}
		delete(wanted, key)
		rows, err := arrowRows(m.value)
		if err != nil {
			r.fault("features/%d offset %d: another Arrow reader fails: %v", m.partition, m.offset, err)
		}
		r.result.Foreign += rows
	}
	if len(wanted) > 0 {
		r.fault("features: %d messages are hidden from another consumer", len(wanted))
	}
	if r.result.Foreign != r.result.Rows+r.result.Duplicates {
		r.fault("features: another consumer counts %d rows, want %d and %d repeats",
			r.result.Foreign, r.result.Rows, r.result.Duplicates)
	}
	return nil
}

// arrowRows counts the rows of an Arrow stream.
func arrowRows(value []byte) (rows int64, err error) {
	reader, err := ipc.NewReader(bytes.NewReader(value))
	if err != nil {
		return 0, err
	}
	defer reader.Release()
	for reader.Next() {
		rows += reader.Record().NumRows()
	}
	return rows, reader.Err()
}

// Consume reads a topic up to the given ends with franz-go.
func (b *embeddedBroker) Consume(ctx context.Context, topic string, ends [partitions]int64) ([]message, error) {
	from := map[int32]kgo.Offset{}
	left := 0
	for partition, end := range ends {
		if end > 0 {
			from[int32(partition)], left = kgo.NewOffset().AtStart(), left+1
		}
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(b.Addrs()...),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords())
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var found []message
	for left > 0 {
		fetches := client.PollFetches(ctx)
		if err := errors.Join(fetches.Err0(), ctx.Err()); err != nil {
			return nil, err
		}
		fetches.EachRecord(func(rec *kgo.Record) {
			if rec.Offset == ends[rec.Partition]-1 {
				left--
			}
			if !rec.Attrs.IsControl() {
				found = append(found, message{int(rec.Partition), rec.Offset, rec.Value})
			}
		})
	}
	return found, nil
}

// Consume reads a topic with Kafka's own consumer, which stops when no more records arrive.
func (k *kafkaNode) Consume(ctx context.Context, topic string, _ [partitions]int64) ([]message, error) {
	command := exec.CommandContext(ctx, k.script, "consume", topic)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("kafka.sh consume %s: %w\n%s", topic, err, complaints.Bytes())
	}
	var found []message
	for line := range strings.Lines(string(out)) {
		m, err := parseMessage(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("kafka.sh consume %s: %q: %w", topic, line, err)
		}
		found = append(found, m)
	}
	return found, nil
}

// parseMessage reads a line of Kafka's console consumer: Partition:0, Offset:7 and a value whose
// non-ASCII bytes are escaped as \xFF.
func parseMessage(line string) (m message, err error) {
	fields := strings.SplitN(line, "\t", 3)
	if len(fields) != 3 {
		return m, fmt.Errorf("%d fields", len(fields))
	}
	var errs [2]error
	m.partition, errs[0] = strconv.Atoi(strings.TrimPrefix(fields[0], "Partition:"))
	m.offset, errs[1] = strconv.ParseInt(strings.TrimPrefix(fields[1], "Offset:"), 10, 64)
	for text := fields[2]; text != ""; {
		value, tail := text[0], text[1:]
		if value == '\\' {
			if len(tail) < 3 {
				return m, errors.New("truncated escape")
			}
			number, err := strconv.ParseUint(tail[1:3], 16, 8)
			if err != nil {
				return m, err
			}
			value, tail = byte(number), tail[3:]
		}
		m.value, text = append(m.value, value), tail
	}
	return m, errors.Join(errs[:]...)
}
