package deadletter

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/eerf-stream/eerf/pipeline"
)

// Count summarizes the dead letters of one stage for one reason.
type Count struct {
	Stage   string    `json:"stage"`
	Reason  string    `json:"reason"`
	Letters int64     `json:"letters"`
	Rows    int64     `json:"rows"` // rejected rows; 0 if whole messages were refused
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
}

// Listing summarizes the selected dead letters on the topic.
type Listing struct {
	Total  int64
	Counts []Count  // by stage and reason
	Newest []Letter // newest first, up to the limit
}

// List counts the selected dead letters and keeps the newest of them; limit 0 keeps all.
func List(
	ctx context.Context,
	log pipeline.Log,
	logger *zap.Logger,
	topic string,
	filter Filter,
	limit int,
	progress func(done, total int64),
) (Listing, error) {
	var list Listing
	counts := map[[2]string]*Count{}
	err := Visit(ctx, log, logger, topic, func(l Letter, _ pipeline.Record) error {
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
	}, progress)
	list.cut(limit)
	for _, one := range counts {
		list.Counts = append(list.Counts, *one)
	}
	slices.SortFunc(list.Counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Reason, b.Reason))
	})
	return list, err
}

func count(counts map[[2]string]*Count, l Letter) {
	key := [2]string{l.Stage, l.Reason}
	of := counts[key]
	if of == nil {
		of = &Count{Stage: l.Stage, Reason: l.Reason, First: l.Time, Last: l.Time}
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

// cut keeps the newest dead letters.
func (l *Listing) cut(limit int) {
	slices.SortStableFunc(l.Newest, func(a, b Letter) int {
		return cmp.Or(
			b.Time.Compare(a.Time),
			cmp.Compare(a.Place.Partition, b.Place.Partition),
			cmp.Compare(b.Place.Offset, a.Place.Offset),
		)
	})
	if limit > 0 && len(l.Newest) > limit {
		l.Newest = slices.Clip(l.Newest[:limit])
	}
}
