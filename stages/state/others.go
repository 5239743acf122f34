package state

import (
	"fmt"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/pipeline"
)

// noteOther notes that another pipeline has feature sets on the topic; nil for a tombstone, which says nothing.
func noteOther(name string, r pipeline.Record) decoded {
	if r.Value == nil {
		return nil
	}
	return func(s *Snapshot) {
		at, known := slices.BinarySearch(s.Others, name)
		if !known {
			s.Others = slices.Insert(slices.Clone(s.Others), at, name)
		}
	}
}

// NoSetError says that a pipeline has no feature set, and which ones have: its name may be wrong.
type NoSetError struct {
	Pipeline, Topic string
	Others          []string
	Err             error // why it was not waited for any longer; nil = it was not
}

func (e *NoSetError) Error() string {
	text := fmt.Sprintf("pipeline %s has no feature set yet", e.Pipeline)
	if len(e.Others) > 0 {
		text += fmt.Sprintf("; topic %s holds those of %s: is pipeline.name right?", e.Topic, strings.Join(e.Others, ", "))
	}
	return text
}

func (e *NoSetError) Unwrap() error { return e.Err }

// NoSet is the error for callers that need a feature set in use before there is one; err is why they stopped waiting.
func (f *Follower) NoSet(err error) error {
	return &NoSetError{Pipeline: f.config.Pipeline, Topic: f.config.FeatureSets, Others: f.Snapshot().Others, Err: err}
}
