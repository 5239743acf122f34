package crash

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
)

// eventLog is a log of events, until it is recreated or truncated.
type eventLog struct {
	id    string // of the topic; a loss does not change it
	input *Input // the messages sent to it, by offset
	// kept is the number of messages of each partition from the earlier, truncated log; 0 for a
	// recreated topic.
	kept [partitions]int
	sent [partitions]int // messages

	writers [partitions]pipeline.Producer // nil = not needed yet
}

// events is the present log of events.
func (r *run) events() *eventLog { return r.logs[len(r.logs)-1] }

// beginLog records that events is another log from now on: a new topic, or a truncated one with
// other messages after the remaining ones. A busy broker may not know a new topic yet, or still
// answer with the id of the deleted one, gone, which is empty without a deletion.
func (r *run) beginLog(ctx context.Context, gone string) error {
	topic := r.loaded.Stages.Topics.Events
	id, err := r.client.Identity(ctx, topic, 0, time.Now())
	for (err != nil || string(id) == gone) && sleep(ctx, 100*time.Millisecond) {
		id, err = r.client.Identity(ctx, topic, 0, time.Now())
	}
	if err != nil {
		return fmt.Errorf("identity of events: %w", err)
	}
	input, err := NewInput(r.plan.Input + uint64(len(r.logs)))
	if err != nil {
		return err
	}
	next := &eventLog{id: string(id), input: input}
	if len(r.logs) > 0 && r.events().id == next.id {
		for partition := range partitions {
			_, end, err := r.client.Offsets(ctx, topic, partition)
			if err != nil {
				return err
			}
			next.kept[partition], next.sent[partition] = int(end), int(end)
			copy(next.input[partition], r.events().input[partition][:end])
		}
	}
	r.logs = append(r.logs, next)
	return nil
}

// named returns the logs that a name in headers, lineages and ranges may mean, newest first. A
// truncation does not change the id, but processes that noticed it add a number.
func (r *run) named(name string) (found []int) {
	id, _, _ := strings.Cut(name, ".")
	for at := len(r.logs) - 1; at >= 0; at-- {
		if r.logs[at].id == id {
			found = append(found, at)
		}
	}
	return found
}

// origin returns the log that the message at an offset of a later log was sent to.
func (r *run) origin(at, partition int, offset int64) int {
	for offset < int64(r.logs[at].kept[partition]) {
		at--
	}
	return at
}

// lineageLogs returns the logs in which a feature set may have been explored.
func (r *run) lineageLogs(lineage wire.Lineage) ([]*eventLog, error) {
	var found []*eventLog
	for _, at := range r.named(lineage.EventsLog) {
		found = append(found, r.logs[at])
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("exploration %d reads log %s, which events never had", lineage.Sequence, lineage.EventsLog)
	}
	return found, nil
}

// inSomeLog reports whether match accepts the message at an offset of one of the logs.
func (r *run) inSomeLog(partition int, offset int64, match func(*Message) bool) bool {
	return slices.ContainsFunc(r.logs, func(l *eventLog) bool {
		messages := l.input[partition]
		return offset < int64(len(messages)) && match(&messages[offset])
	})
}
