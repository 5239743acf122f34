package state

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/eerf-stream/eerf/pipeline"
)

// Pipelines may share topics. Looking for a feature set under a wrong name names the existing ones.
func TestOtherPipelinesOnATopicAreNamed(t *testing.T) {
	broker := newTopics()
	set := testSet(1)
	value := setRecord(set).Value
	put(t, broker, pipeline.Record{Key: []byte("shop/" + set.ID()), Value: value}, currentRecord("shop", set.ID(), 1),
		currentRecord("fraud", set.ID(), 1), pipeline.Record{Key: []byte("gone/" + set.ID())}, pipeline.Record{Key: []byte("no key of a set"), Value: value})
	f := following(t, broker)
	now, err := f.Wait(t.Context(), anything)
	if err != nil || !slices.Equal(now.Others, []string{"fraud", "shop"}) || len(now.Sets) != 0 {
		t.Errorf("others %q, %d sets, %v", now.Others, len(now.Sets), err)
	}
	err = f.NoSet(context.DeadlineExceeded)
	const want = "pipeline test has no feature set yet; topic feature-sets holds those of fraud, shop: is pipeline.name right?"
	if err.Error() != want || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want %s", err, want)
	}
}
