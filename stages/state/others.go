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

// noSetError says that a pipeline has no feature set, and which ones have: its name may be wrong.
type noSetError struct {
	text string
	err  error // why it was not waited for any longer; nil = it was not
}

func (e *noSetError) Error() string { return e.text }
func (e *noSetError) Unwrap() error { return e.err }

// NoSet is the error for callers that need a feature set in use before there is one; err is why they stopped waiting.
func (f *Follower) NoSet(err error) error {
	text := fmt.Sprintf("pipeline %s has no feature set yet", f.config.Pipeline)
	if others := f.Snapshot().Others; len(others) > 0 {
		text += fmt.Sprintf("; topic %s holds those of %s: is pipeline.name right?", f.config.FeatureSets, strings.Join(others, ", "))
	}
	return &noSetError{text, err}
}
