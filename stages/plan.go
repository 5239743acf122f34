package stages

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// ConfigHash names what a configuration asks of explorations: a pipeline whose newest exploration carries another
// hash starts a new one. When and where an exploration starts, and what memory it takes, is not part of it.
func (s Settings) ConfigHash() string {
	asked := struct {
		Events      EventsConfig
		Exploration ExplorationConfig
		Topic       string
	}{s.Events, s.Exploration, s.Topics.Events}
	e := &asked.Exploration
	e.Candidates, e.Rounds = e.CandidateCount(), e.rounds()
	e.Every, e.EveryOffsets, e.Deadline, e.CalibrationTimeout, e.Start = 0, 0, 0, 0, ""
	e.CandidateMemory, e.RowMemory = 0, 0
	document, err := json.Marshal(asked)
	if err != nil {
		panic(fmt.Sprintf("stages: settings do not marshal: %v", err)) // numbers are checked by config
	}
	sum := sha256.Sum256(document)
	return hex.EncodeToString(sum[:])
}

// newSpec is the plan of an exploration over the partitions, with what calibration found.
func newSpec(s Settings, found *Calibrated, calibrationRows, sequence int64, partitions []wire.Partition) *wire.Spec {
	e := s.Exploration
	spec := &wire.Spec{
		Pipeline: s.Pipeline.Name, Sequence: sequence, Status: wire.StatusRunning, ConfigHash: s.ConfigHash(),
		Encoder: found.Encoder,
		Candidates: scoring.Candidates{
			Map: e.Map, Distribution: e.Distribution, Sampler: e.Sampler, Sigma: found.Sigma, Mix: e.BandwidthMix, Seed: e.Seed,
			Dim: found.Encoder.Dim, Count: e.CandidateCount(),
		},
		Features: e.Features, Criterion: e.Criterion, Rounds: e.rounds(),
		SampleRate: e.SampleRate, SampleSeed: e.Seed, SampleRows: e.SampleRows,
		CalibrationRows: calibrationRows, BandwidthRule: found.BandwidthRule,
		Kernel: scoring.Kernel(), Limits: s.Limits.decoder(), EventsTopic: s.Topics.Events,
		Partitions: partitions,
	}
	if e.Distribution == scoring.Matern {
		spec.Candidates.Nu = e.Nu
	}
	spec.Exploration = explorationID(spec)
	return spec
}

// explorationID is <pipeline>.<sequence>.<first digits of the spec's hash>.
func explorationID(spec *wire.Spec) string {
	return fmt.Sprintf("%s.%d.%s", spec.Pipeline, spec.Sequence, spec.Hash()[:12])
}

// pipelineOfExploration returns the pipeline's name of an exploration id; names have no dots.
func pipelineOfExploration(id string) string {
	name, _, _ := strings.Cut(id, ".")
	return name
}

// shareQuota gives each partition its part of the rows asked for; the first ones take the remainder. One that gets
// none is closed at its start: a quota of 0 would be no bound. No rows asked for means no quotas.
func shareQuota(partitions []wire.Partition, rows int64) {
	if rows <= 0 {
		return
	}
	n := int64(len(partitions))
	for i := range partitions {
		partitions[i].Quota = rows / n
		if int64(i) < rows%n {
			partitions[i].Quota++
		}
		if partitions[i].Quota == 0 {
			partitions[i].EndOffset = partitions[i].StartOffset
		}
	}
}
