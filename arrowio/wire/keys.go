package wire

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	currentSuffix  = "current"
	progressSuffix = "/progress"
	requestInfix   = "/request/"
)

// SpecKey is the key of a pipeline's spec in the explorations topic: the pipeline's name.
func SpecKey(pipeline string) []byte { return []byte(pipeline) }

// RequestKey is the key of one request in the explorations topic. Its id keeps it from replacing
// the spec, or another request, when the topic is compacted.
func RequestKey(pipeline, id string) []byte { return []byte(pipeline + requestInfix + id) }

// ProgressKey is the key, in the explorations topic, of the progress of the running exploration's
// selection.
func ProgressKey(pipeline string) []byte { return []byte(pipeline + progressSuffix) }

// ParseRequestKey splits a key made by [RequestKey]; ok is false for any other key.
func ParseRequestKey(key []byte) (pipeline, id string, ok bool) {
	pipeline, id, ok = strings.Cut(string(key), requestInfix)
	if !ok || pipeline == "" || id == "" || strings.Contains(pipeline, "/") {
		return "", "", false
	}
	return pipeline, id, true
}

// CheckpointKey is the key of an exploration's checkpoints, refusals and samples: the exploration's
// ID. Each partition of the scores and samples topics holds the records of the events partition
// with the same number.
func CheckpointKey(exploration string) []byte { return []byte(exploration) }

// ExplorationID is <pipeline>.<sequence>.<first digits of the plan's hash>.
func ExplorationID(plan *Plan) string {
	return fmt.Sprintf("%s.%d.%s", plan.Pipeline, plan.Sequence, plan.Hash()[:12])
}

// ParseCheckpointKey returns the pipeline and the sequence number in the key of a checkpoint; ok is
// false for any other key.
func ParseCheckpointKey(key []byte) (pipeline string, sequence int64, ok bool) {
	pipeline, rest, ok := strings.Cut(string(key), ".") // names of pipelines have no dots
	if !ok || pipeline == "" {
		return "", 0, false
	}
	number, _, ok := strings.Cut(rest, ".")
	if !ok {
		return "", 0, false
	}
	sequence, err := strconv.ParseInt(number, 10, 64)
	return pipeline, sequence, err == nil && validSequence(sequence)
}

// SetKey is the key of one feature set or model in its topic.
func SetKey(pipeline, id string) []byte { return []byte(pipeline + "/" + id) }

// CurrentKey is the key of the pointer to the current feature set or model.
func CurrentKey(pipeline string) []byte { return SetKey(pipeline, currentSuffix) }

// ParseSetKey splits a key of the feature-sets or models topic. current is set if the value is a
// [Current]; id is then empty. ok is false for other keys.
func ParseSetKey(key []byte) (pipeline, id string, current, ok bool) {
	pipeline, id, ok = strings.Cut(string(key), "/")
	if !ok || pipeline == "" || id == "" || strings.Contains(id, "/") {
		return "", "", false, false
	}
	if id == currentSuffix {
		return pipeline, "", true, true
	}
	return pipeline, id, false, true
}

// maxNameBytes bounds the names and ids that become message keys.
const maxNameBytes = 255

// checkName refuses a name that cannot stand in a message key.
func checkName(what, name string) error {
	if name == "" {
		return fmt.Errorf("%s is empty", what)
	}
	if len(name) > maxNameBytes {
		return fmt.Errorf("%s has %d bytes, at most %d are allowed", what, len(name), maxNameBytes)
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("%s %q is not valid UTF-8", what, name)
	}
	if strings.Contains(name, "/") {
		return fmt.Errorf("%s %q contains a slash, which separates the parts of a message key", what, name)
	}
	return nil
}
