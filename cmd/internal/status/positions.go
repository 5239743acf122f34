package status

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/stages/topics"
)

// Roles of topics, in the order of the flow.
const (
	roleEvents       = "events"
	roleExplorations = "explorations"
	roleScores       = "scores"
	roleSamples      = "samples"
	roleFeatureSets  = "feature-sets"
	roleFeatures     = "features"
	roleModels       = "models"
	roleLive         = "live"
	roleDeadLetters  = "dead-letters"
)

// topicsOf lists the topics of a pipeline with their roles.
func topicsOf(t topics.Config) []Topic {
	return []Topic{
		{Role: roleEvents, Name: t.Events}, {Role: roleExplorations, Name: t.Explorations}, {Role: roleScores,
			Name: t.Scores},
		{Role: roleSamples, Name: t.Samples}, {Role: roleFeatureSets, Name: t.FeatureSets}, {Role: roleFeatures,
			Name: t.Features},
		{Role: roleModels, Name: t.Models}, {Role: roleLive, Name: t.Live}, {Role: roleDeadLetters, Name: t.DeadLetters},
	}
}

// span is the range of offsets in a partition: from first up to, not including, next.
type span struct{ first, next int64 }

// positions holds the ends of the topics and the committed offsets at one time.
type positions struct {
	at        time.Time
	spans     map[string][]span // by role and partition; without unknown ones
	errs      map[string]error  // by role: missing or unreadable topics
	committed []int64           // by partition: offset that featurize has committed; -1 if unknown
}

// askedAtOnce bounds the concurrent requests.
const askedAtOnce = 8

// findPositions asks the broker for the topics and the committed offsets. Missing and denied topics
// are errors in the positions; any other error concerns the broker.
func findPositions(ctx context.Context, r *stages.Process) (positions, error) {
	p := positions{at: r.Env.Clock(), spans: map[string][]span{}, errs: map[string]error{}}
	for _, topic := range topicsOf(r.Settings.Topics) {
		if topic.Name == "" { // without a name the sets belong to another pipeline
			continue
		}
		spans, err := spansOf(ctx, r.Env.Broker, topic.Name)
		switch {
		case err == nil:
			p.spans[topic.Role] = spans
		case errors.Is(err, pipeline.ErrUnknownTopic), errors.Is(err, pipeline.ErrDenied):
			p.errs[topic.Role] = err
		default:
			return p, err
		}
	}
	p.committed = slices.Repeat([]int64{-1}, len(p.spans[roleEvents]))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(askedAtOnce)
	for partition := range p.committed {
		group.Go(func() error {
			next, err := r.Committed(ctx, meter.StageFeaturize, partition)
			if errors.Is(err, pipeline.ErrDenied) { // describing the group needs a right of its own
				return nil
			}
			if err == nil {
				p.committed[partition] = next
			}
			return err
		})
	}
	return p, group.Wait()
}

// spansOf returns the spans of the partitions of a topic.
func spansOf(ctx context.Context, log pipeline.Log, topic string) ([]span, error) {
	n, err := log.Partitions(ctx, topic)
	if err != nil {
		return nil, err
	}
	spans := make([]span, n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(askedAtOnce)
	for partition := range spans {
		group.Go(func() (err error) {
			spans[partition].first, spans[partition].next, err = log.Offsets(ctx, topic, partition)
			return err
		})
	}
	return spans, group.Wait()
}

// sum adds up the next offsets and the spans of a topic.
func (p positions) sum(role string) (next, kept int64) {
	for _, s := range p.spans[role] {
		next, kept = next+s.next, kept+s.next-s.first
	}
	return next, kept
}

// next is the next offset of a partition; 0 if unknown.
func (p positions) next(role string, partition int) int64 {
	if spans := p.spans[role]; partition < len(spans) {
		return spans[partition].next
	}
	return 0
}
