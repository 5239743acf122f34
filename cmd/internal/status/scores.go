package status

import (
	"context"
	"errors"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/state"
)

const (
	// sumsBytes bounds the sums kept of an exploration. If those of all candidates of all partitions take more, only one
	// candidate in scores.every is kept.
	sumsBytes = 16 << 20
	// scoresBytes is roughly how much of the topic is read at a time, over all partitions.
	scoresBytes = 64 << 20
)

// scores reads the checkpoints of the newest exploration at the ends of the scores topic.
type scores struct {
	tail    tail
	decoder *arrowio.Decoder
	config  state.Config

	board    *state.Scoreboard // of the exploration; nil = none
	spec     *wire.Spec        // the newest of the exploration
	every    int               // keeps one in this many candidates
	spectrum *Spectrum         // of the sums; nil = has to be computed
}

func newScores(log pipeline.Log, config state.Config) *scores {
	return &scores{tail: tail{log: log, topic: config.Scores}, decoder: arrowio.NewDecoder(config.Limits()), config: config}
}

// look reads new records. spans are those of the topic; spec is the newest exploration.
func (s *scores) look(ctx context.Context, spec *wire.Spec, spans []span) error {
	if spec == nil || spec.Encoder == nil {
		s.board, s.spec, s.spectrum = nil, nil, nil
		return nil
	}
	if spec.Exploration != s.exploration() {
		s.begin(spec, len(spans))
	}
	s.spec = spec
	var faults []error
	for partition, span := range spans {
		err := s.tail.read(ctx, partition, span.first, span.next, func(r pipeline.Record) {
			if err := s.apply(r); err != nil {
				faults = append(faults, err)
			}
		})
		if err != nil {
			return err
		}
	}
	return errors.Join(faults...)
}

// begin switches to an exploration. Its checkpoints may have been skipped already, so the ends are read again: a short
// exploration leaves one checkpoint in a partition, and a tombstone.
func (s *scores) begin(spec *wire.Spec, partitions int) {
	s.board, s.spec, s.spectrum = state.NewScoreboard(s.config), spec, nil
	s.board.Exploration, s.board.Keep = spec.Exploration, s.thin
	all := int64(spec.Candidates.Count) * int64(2+spec.Encoder.Outputs()) * 8 * int64(max(1, partitions)) * 2
	s.every = int((all + sumsBytes - 1) / sumsBytes)
	s.tail.forget()
	s.tail.most = int64(min(max(96/max(1, partitions), 3), 24))
	s.tail.bytes = scoresBytes / max(1, partitions)
}

// exploration is the one whose checkpoints are known; empty = none.
func (s *scores) exploration() string {
	if s.spec == nil {
		return ""
	}
	return s.spec.Exploration
}

// apply stores a record if it is a checkpoint of the exploration.
func (s *scores) apply(r pipeline.Record) error {
	s.spectrum = nil
	return s.board.Apply(s.decoder, r)
}

// newest returns the newest checkpoints of the exploration by partition.
func (s *scores) newest() map[int32]*wire.Checkpoint {
	if s.spec == nil {
		return nil
	}
	return s.board.Newest(string(wire.CheckpointKey(s.spec.Exploration)))
}

// thin keeps only some candidates' sums in a checkpoint.
func (s *scores) thin(c *wire.Checkpoint) {
	if c.Sums == nil || c.Sums.Candidates() != s.spec.Candidates.Count || c.Sums.Outputs() != s.spec.Encoder.Outputs() {
		c.Sums = nil
		return
	}
	c.Sums = thin(c.Sums, s.every)
}

// thin returns the sums of one candidate in `every`.
func thin(s *scoring.Sums, every int) *scoring.Sums {
	if every <= 1 {
		return s
	}
	m := s.Candidates()
	kept := scoring.NewSums((m+every-1)/every, s.Outputs())
	kept.Rows = s.Rows
	copy(kept.Y, s.Y)
	copy(kept.YSq, s.YSq)
	copy(kept.YMin, s.YMin)
	copy(kept.YMax, s.YMax)
	for i := range kept.Candidates() {
		kept.Phi[i], kept.PhiSq[i] = s.Phi[i*every], s.PhiSq[i*every]
		for k := range s.Outputs() {
			kept.YPhi[k*kept.Candidates()+i] = s.YPhi[k*m+i*every]
		}
	}
	return kept
}
