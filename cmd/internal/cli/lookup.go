package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/internal/nearest"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages"
)

// How long a topic may be unknown before it counts as missing, and how often it is looked up meanwhile: a new one reaches the brokers
// one by one.
const (
	unknownFor   = time.Second
	unknownEvery = 200 * time.Millisecond
)

// LookUp waits for the brokers until ctx ends and returns an error once a topic is known to be missing. One-shot commands call it
// first, because the stages would wait for the topic.
func LookUp(ctx context.Context, r *stages.Process, topics ...string) error {
	for _, topic := range topics {
		err := pipeline.Try(ctx, r.Logger, "look up topic "+topic, func() error { return isThere(ctx, r.Broker, topic) })
		if errors.Is(err, pipeline.ErrUnknownTopic) {
			return explainMissing(ctx, r, topic, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// otherPipelinesError says that a topic of a pipeline is missing while other pipelines have theirs: the pipeline's name may be wrong.
type otherPipelinesError struct {
	pipeline string
	others   []string
	err      error
}

func (e *otherPipelinesError) Error() string {
	text := fmt.Sprintf("%v; pipeline.name is %s, and the pipelines here are %s", e.err, e.pipeline, strings.Join(e.others, ", "))
	if near := nearest.Name(e.pipeline, e.others); near != "" {
		text += fmt.Sprintf("; did you mean %s?", near)
	}
	return text
}

func (e *otherPipelinesError) Unwrap() error { return e.err }

// explainMissing adds to the error about a missing topic what was probably meant: if the topic is named after the pipeline, the
// pipelines that do have one, else the topic with a similar name.
func explainMissing(ctx context.Context, r *stages.Process, topic string, err error) error {
	topics, listing := r.Broker.Topics(ctx)
	if listing != nil {
		return err // the first error counts
	}
	name := r.Settings.SetsOf()
	if others := pipelinesWith(topics, topic, name); len(others) > 0 {
		return &otherPipelinesError{name, others, err}
	}
	if near := nearest.Name(topic, topics); near != "" {
		return fmt.Errorf("%w; did you mean topic %s?", err, near)
	}
	return err
}

// pipelinesWith returns the pipelines that have a topic of the same kind, if the topic is named after the pipeline of that name, else
// none.
func pipelinesWith(topics []string, topic, name string) (pipelines []string) {
	kind, named := strings.CutPrefix(topic, name)
	if !named || !strings.HasPrefix(kind, ".") {
		return nil
	}
	for _, one := range topics {
		if other, ok := strings.CutSuffix(one, kind); ok {
			pipelines = append(pipelines, other)
		}
	}
	slices.Sort(pipelines)
	return pipelines
}

func isThere(ctx context.Context, broker pipeline.Source, topic string) error {
	for began := time.Now(); ; {
		_, err := broker.Partitions(ctx, topic)
		if !errors.Is(err, pipeline.ErrUnknownTopic) {
			return err
		}
		if time.Since(began) >= unknownFor {
			return pipeline.Permanent(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(unknownEvery):
		}
	}
}
