package status

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/meter"
)

// Bounds of what is read and kept of the dead letters.
const (
	lettersRead  = 512 // per poll, over all partitions
	lettersBytes = 8 << 20
	lettersShown = 12
	reasonsKept  = 64
	detailRunes  = 300
)

// letters counts dead letters at the end of their topic by reason.
type letters struct {
	tail   tail
	read   int64
	from   time.Time
	counts map[meter.Cause]LetterCount
	newest []Letter
}

func newLetters(log pipeline.Log, topic string) *letters {
	return &letters{tail: tail{log: log, topic: topic}, counts: map[meter.Cause]LetterCount{}}
}

// look reads new letters.
func (l *letters) look(ctx context.Context, spans []span) error {
	n := max(1, len(spans))
	l.tail.most, l.tail.bytes = int64(max(8, lettersRead/n)), max(1<<16, lettersBytes/n)
	for partition, span := range spans {
		if err := l.tail.read(ctx, partition, span.first, span.next, l.apply); err != nil {
			return err
		}
	}
	return nil
}

// apply counts a record. It ignores records that are not dead letters.
func (l *letters) apply(r pipeline.Record) {
	letter, err := wire.ParseDeadLetterHeaders(r.Headers)
	if err != nil {
		return
	}
	cause := meter.Cause{Stage: meter.Stage(letter.Stage), Reason: letter.Reason}
	count, known := l.counts[cause]
	if !known && len(l.counts) >= reasonsKept {
		cause = meter.Cause{Reason: "other"}
		count = l.counts[cause]
	}
	count.Stage, count.Reason = cause.Stage, cause.Reason
	count.Letters, count.Rows = count.Letters+1, count.Rows+int64(letter.Rows)
	count.Last = newestOf(count.Last, letter.Time)
	l.counts[cause] = count
	if l.read++; l.from.IsZero() || letter.Time.Before(l.from) {
		l.from = letter.Time
	}
	l.show(Letter{
		Time: letter.Time, Stage: letter.Stage, Reason: letter.Reason, Detail: cut(letter.Detail), Topic: letter.Topic,
		Partition: letter.Partition, Offset: letter.Offset, Rows: letter.Rows,
	})
}

// show keeps a dead letter if it is among the newest.
func (l *letters) show(letter Letter) {
	at, _ := slices.BinarySearchFunc(l.newest, letter, func(a, b Letter) int { return b.Time.Compare(a.Time) })
	if at < lettersShown {
		l.newest = slices.Insert(l.newest, at, letter)
		l.newest = l.newest[:min(len(l.newest), lettersShown)]
	}
}

// cut shortens a text.
func cut(text string) string {
	if runes := []rune(text); len(runes) > detailRunes {
		return string(runes[:detailRunes]) + "…"
	}
	return text
}

// list returns the known dead letters, with the counts of this process.
func (l *letters) list(here map[meter.Cause]int64) Letters {
	out := Letters{Read: l.read, Unread: l.tail.passed, From: l.from, Newest: slices.Clone(l.newest),
		Reasons: []LetterCount{}}
	if out.Newest == nil {
		out.Newest = []Letter{}
	}
	counts := make(map[meter.Cause]LetterCount, len(l.counts))
	for cause, count := range l.counts {
		counts[cause] = count
	}
	for cause, n := range here {
		count := counts[cause]
		count.Stage = cause.Stage
		count.Reason = cause.Reason
		count.Here = n
		counts[cause] = count
	}
	for _, count := range counts {
		out.Reasons = append(out.Reasons, count)
	}
	slices.SortFunc(out.Reasons, func(a, b LetterCount) int {
		return cmp.Or(cmp.Compare(b.Letters, a.Letters), cmp.Compare(b.Here, a.Here), cmp.Compare(a.Stage, b.Stage),
			cmp.Compare(a.Reason, b.Reason))
	})
	return out
}
