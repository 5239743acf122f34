package calibrate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// target is the predicted quantity of a pipeline's explorations and their events topic.
type target struct {
	Topic string
	Label []string
	Task  string // regression or classification; auto only in a configuration
}

func targetOf(spec *wire.Spec) target {
	task := encoder.TaskClassification
	if spec.Encoder.Label.Task == scoring.Regression {
		task = encoder.TaskRegression
	}
	return target{Topic: spec.EventsTopic, Label: spec.Encoder.Label.Columns, Task: task}
}

// equal reports whether two targets are the same, ignoring unknown parts.
func (t target) equal(other target) bool {
	task := t.Task == other.Task || t.Task == encoder.TaskAuto || other.Task == encoder.TaskAuto
	return t.Topic == other.Topic && slices.Equal(t.Label, other.Label) && task
}

func (t target) String() string {
	return fmt.Sprintf("%s of %s in topic %s", t.Task, strings.Join(t.Label, ", "), t.Topic)
}

// TakeoverError reports that a process would replace the feature sets and models of a pipeline by
// ones for another label, task or events topic. A second process with a copied pipeline name would
// do so by mistake.
type TakeoverError struct {
	Pipeline         string
	Present, Planned string // targets, for people
	Hash             string // value of pipeline.accept_change that allows the change
}

func (e *TakeoverError) Error() string {
	return fmt.Sprintf("pipeline %s is for %s but this process is configured for %s; no exploration is planned. "+
		"Choose another pipeline.name, or set pipeline.accept_change: %s to replace the feature sets and models",
		e.Pipeline, e.Present, e.Planned, e.Hash)
}

// CheckTakeover returns a [TakeoverError] if the target of these settings differs from the newest
// spec's, unless the change is accepted. If the task depends on the data, checkTask checks it once
// it is known.
func (s Settings) CheckTakeover(newest *wire.Spec) error { return s.checkTarget(newest, s.target()) }

// checkTask is CheckTakeover for the task of a plan. Changes that are visible without a plan were
// accepted before planning.
func (s Settings) checkTask(newest, planned *wire.Spec) error {
	if !hasTarget(newest) || !targetOf(newest).equal(s.target()) {
		return nil
	}
	return s.checkTarget(newest, targetOf(planned))
}

func (s Settings) target() target {
	return target{Topic: s.EventsTopic, Label: s.Events.Label, Task: cmp.Or(s.Events.Task, encoder.TaskAuto)}
}

func hasTarget(spec *wire.Spec) bool {
	return spec != nil && spec.Encoder != nil && spec.Encoder.Label != nil
}

func (s Settings) checkTarget(newest *wire.Spec, planned target) error {
	if !hasTarget(newest) {
		return nil
	}
	present := targetOf(newest)
	if present.equal(planned) {
		return nil
	}
	hash := changeHash(s.Pipeline, present, planned)
	if hash == s.AcceptChange {
		return nil
	}
	return &TakeoverError{Pipeline: s.Pipeline, Present: present.String(), Planned: planned.String(), Hash: hash}
}

// changeHash identifies one change of a pipeline's target, so that accepting it accepts no other
// change, in particular not the reverse.
func changeHash(pipeline string, from, to target) string {
	document, err := json.Marshal([]any{pipeline, from, to})
	if err != nil {
		panic(fmt.Sprintf("calibrate: targets do not marshal: %v", err))
	}
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:6])
}
