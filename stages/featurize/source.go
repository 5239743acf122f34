package featurize

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// sourceLog identifies the log of the offsets in the headers of outputs: its id, and how often it was found to have lost its end.
// After a loss the log holds other events at offsets that outputs already name, so it counts as a different log.
type sourceLog struct {
	id     pipeline.LogID
	losses int
}

// String returns `id`, or `id.losses` if there were losses. Ids contain no dots.
func (s sourceLog) String() string {
	if s.losses == 0 {
		return string(s.id)
	}
	return string(s.id) + "." + strconv.Itoa(s.losses)
}

func parseSourceLog(text string) sourceLog {
	id, losses, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(losses)
	if err != nil || n < 0 {
		n = 0
	}
	return sourceLog{pipeline.LogID(id), n}
}

// after returns the log as it is after a gap.
func (s sourceLog) after(g pipeline.Gap) sourceLog {
	if g.Kind == pipeline.GapRecreated {
		return sourceLog{id: g.Now}
	}
	return sourceLog{s.id, s.losses + 1}
}

// errOtherLog means that the events no longer come from the log that the records in hand were assumed to come from.
var errOtherLog = errors.New("the log of events is another one")

// confirmation says, once done, whether records come from the log that they were assumed to come from. It is requested while they
// are mapped.
type confirmation struct {
	done chan struct{}
	err  error
}

// confirm asks who leads the partition now that the records are there, unless the fetch already said so.
func (p *partition) confirm(ctx context.Context, fetched pipeline.Fetched) *confirmation {
	if p.source.id == "" || fetched.Log == p.source.id {
		return nil
	}
	c, was, fetchedAt := &confirmation{done: make(chan struct{})}, p.source.id, time.Now()
	go func() {
		defer close(c.done)
		now, err := pipeline.Retry(ctx, p.logger, "look up the identity of "+p.Topics.Events, func() (pipeline.LogID, error) {
			return p.Broker.Identity(ctx, p.Topics.Events, p.number, fetchedAt)
		})
		if c.err = err; err == nil && now != "" && now != was {
			c.err = fmt.Errorf("%w: %s, not %s", errOtherLog, now, was)
		}
	}()
	return c
}

// wait returns why the records must not be used.
func (c *confirmation) wait() error {
	if c == nil {
		return nil
	}
	<-c.done
	return c.err
}

// follows reports whether the log may be a later state of another one, so that offsets of the other may be positions in it.
func (s sourceLog) follows(other sourceLog) bool { return s.id == other.id }
