package stages

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/eerf-stream/eerf/pipeline"
)

// LetterCount sums up dead letters of one stage for one reason.
type LetterCount struct {
	Stage   string    `json:"stage"`
	Reason  string    `json:"reason"`
	Letters int64     `json:"letters"`
	Rows    int64     `json:"rows"` // rejected ones; 0 for messages refused whole
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
}

// LetterList is what the dead-letters topic holds of what was asked for.
type LetterList struct {
	Total  int64
	Counts []LetterCount // by stage and reason
	Newest []Letter      // newest first, as many as were asked for
	Ledger *ReplayLedger
}

// ListLetters counts the selected dead letters and keeps the newest of them; limit 0 keeps all.
func ListLetters(ctx context.Context, r *Runtime, filter LetterFilter, limit int, progress func(done, total int64)) (LetterList, error) {
	list := LetterList{Ledger: NewReplayLedger()}
	counts := map[[2]string]*LetterCount{}
	err := VisitLetters(ctx, r, LetterVisitor{
		Letter: func(l Letter, _ pipeline.Record) error {
			if !filter.Matches(l) {
				return nil
			}
			list.Total++
			count(counts, l)
			list.Newest = append(list.Newest, l)
			if limit > 0 && len(list.Newest) >= 2*limit {
				list.cut(limit)
			}
			return nil
		},
		Note: list.Ledger.Note, Progress: progress,
	})
	list.cut(limit)
	for _, one := range counts {
		list.Counts = append(list.Counts, *one)
	}
	slices.SortFunc(list.Counts, func(a, b LetterCount) int {
		return cmp.Or(cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Reason, b.Reason))
	})
	return list, err
}

func count(counts map[[2]string]*LetterCount, l Letter) {
	key := [2]string{l.Stage, l.Reason}
	of := counts[key]
	if of == nil {
		of = &LetterCount{Stage: l.Stage, Reason: l.Reason, First: l.Time, Last: l.Time}
		counts[key] = of
	}
	of.Letters++
	of.Rows += int64(l.Rows)
	if l.Time.Before(of.First) {
		of.First = l.Time
	}
	if l.Time.After(of.Last) {
		of.Last = l.Time
	}
}

// cut keeps the newest letters.
func (l *LetterList) cut(limit int) {
	slices.SortStableFunc(l.Newest, func(a, b Letter) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.Place.Partition, b.Place.Partition), cmp.Compare(b.Place.Offset, a.Place.Offset))
	})
	if limit > 0 && len(l.Newest) > limit {
		l.Newest = slices.Clip(l.Newest[:limit])
	}
}
