package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/cmd/internal/cli"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/topics"
)

// messagesFile is the file that describes the exported messages.
const messagesFile = "messages.json"

// exportFlags are the flags of `featurizer topics export`.
type exportFlags struct {
	topics     cli.TopicFlags
	topic, out string
	limit      int
}

// messageEntry describes an exported message.
type messageEntry struct {
	Partition int           `json:"partition"`
	Offset    int64         `json:"offset"`
	Time      time.Time     `json:"time,omitzero"` // absent if unknown
	Key       exportText    `json:"key"`
	Headers   []headerEntry `json:"headers"`
	Bytes     int           `json:"bytes"`
	File      string        `json:"file,omitempty"` // empty for a tombstone, a message without a value
}

// headerEntry is one header.
type headerEntry struct {
	Key   string     `json:"key"`
	Value exportText `json:"value"`
}

// exportText holds bytes that are usually text. In JSON: a string if they are UTF-8, else
// {"base64": ...}; null if absent.
type exportText []byte

// MarshalJSON implements json.Marshaler.
func (t exportText) MarshalJSON() ([]byte, error) {
	switch {
	case t == nil:
		return []byte("null"), nil
	case utf8.Valid(t):
		return json.Marshal(string(t))
	default:
		return json.Marshal(map[string][]byte{"base64": t})
	}
}

func newTopicsExport() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export",
		Short: "Write the messages of a topic to files, for programs without a Kafka client",
		Long: `export writes each message of a topic, from its start to its current end, to its own file in a new or empty
folder: P-O.arrow for partition P and offset O, or P-O.json if the message is a JSON document. ` + messagesFile + ` lists the messages with their keys, headers and times;
keys and headers that are not text are written as {"base64": ...}. The package in python/ reads such folders.`,
		Example: `  featurizer topics export -c eerf.yaml --topic features --out features`,
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	f.topics.Add(c, 30*time.Second)
	c.Flags().StringVar(&f.topic, "topic", "", "name of the topic (required)")
	c.Flags().StringVar(&f.out, "out", "", "folder to write to, new or empty (required)")
	c.Flags().IntVar(&f.limit, "limit", 1000,
		"how many messages to write, partition by partition, the oldest first; 0 = all")
	return c
}

func (f *exportFlags) run(c *cobra.Command) error {
	switch {
	case f.topic == "":
		return cli.Usagef("--topic is required: the topic to read")
	case f.out == "":
		return cli.Usagef("--out is required: the folder to write to")
	case f.limit < 0:
		return cli.Usagef("--limit %d: expected 1 or more, or 0 for all", f.limit)
	}
	messages := []messageEntry{}
	err := f.topics.Connected(c, func(ctx context.Context, r *stages.Process) (err error) {
		messages, err = f.export(ctx, c, r)
		return err
	})
	if err != nil {
		return err
	}
	if f.topics.JSON {
		return cli.WriteJSON(c.OutOrStdout(), map[string]any{"topic": f.topic, "folder": f.out, "messages": messages})
	}
	fmt.Fprintf(c.OutOrStdout(), "%d messages of %s written to %s\n", len(messages), f.topic, f.out)
	return nil
}

// errEnough stops reading at the limit.
var errEnough = errors.New("enough messages")

func (f *exportFlags) export(ctx context.Context, c *cobra.Command, r *stages.Process) ([]messageEntry, error) {
	messages := []messageEntry{}
	if err := cli.LookUp(ctx, r, f.topic); err != nil {
		return nil, err
	}
	if err := emptyFolder(f.out); err != nil {
		return nil, err
	}
	bar := cli.NewProgress(c, f.topics.JSON)
	defer bar.Done()
	err := topics.Read(ctx, r.Env.Broker, r.Env.Logger, f.topic, func(rec pipeline.Record) error {
		if f.limit > 0 && len(messages) == f.limit {
			return errEnough
		}
		entry := entryOfRecord(rec)
		messages = append(messages, entry)
		if entry.File == "" {
			return nil
		}
		return os.WriteFile(filepath.Join(f.out, entry.File), rec.Value, 0o600)
	}, func(done, total int64) { bar.Show("reading "+f.topic, done, total) })
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return messages, writeJSON(exportFolder(f.out), messagesFile, map[string]any{"topic": f.topic, "messages": messages})
}

// entryOfRecord describes a message without keeping its memory.
func entryOfRecord(rec pipeline.Record) messageEntry {
	e := messageEntry{
		Partition: rec.Partition, Offset: rec.Offset, Time: rec.KnownTime(), Bytes: len(rec.Value),
		Key: exportText(bytes.Clone(rec.Key)), Headers: make([]headerEntry, 0, len(rec.Headers)),
	}
	for _, h := range rec.Headers {
		e.Headers = append(e.Headers, headerEntry{h.Key, bytes.Clone(h.Value)})
	}
	if rec.Value != nil {
		extension := "arrow"
		if wire.IsJSON(rec.Value) {
			extension = "json"
		}
		e.File = fmt.Sprintf("%d-%d.%s", rec.Partition, rec.Offset, extension)
	}
	return e
}
