package status

import (
	"context"
	"errors"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/stages/state"
)

// scoresBytes is about how much of the topic is read at a time, over all partitions.
const scoresBytes = 64 << 20

// scores reads the checkpoints of the newest exploration at the ends of the scores topic.
type scores struct {
	tail    tail
	decoder *arrowio.Decoder
	config  state.Config

	board *state.Scoreboard // of the exploration; nil = none
	spec  *wire.Spec        // the newest of the exploration
}

func newScores(log pipeline.Log, config state.Config) *scores {
	return &scores{tail: tail{log: log, topic: config.Scores}, decoder: arrowio.NewDecoder(config.Limits()),
		config: config}
}

// look reads new records. spans are the topic's; spec is the newest exploration.
func (s *scores) look(ctx context.Context, spec *wire.Spec, spans []span) error {
	if spec == nil || spec.Encoder == nil {
		s.board, s.spec = nil, nil
		return nil
	}
	if spec.Exploration != s.exploration() {
		s.begin(spec, len(spans))
	}
	s.spec = spec
	var faults []error
	for partition, span := range spans {
		err := s.tail.read(ctx, partition, span.first, span.next, func(r pipeline.Record) {
			if err := s.board.Apply(s.decoder, r); err != nil {
				faults = append(faults, err)
			}
		})
		if err != nil {
			return err
		}
	}
	return errors.Join(faults...)
}

// begin switches to an exploration. Its checkpoints may have been skipped already, so the ends are
// reread: a short exploration leaves one checkpoint and a tombstone in a partition.
func (s *scores) begin(spec *wire.Spec, partitions int) {
	s.board, s.spec = state.NewScoreboard(s.config), spec
	s.board.Exploration, s.board.WithoutSums = spec.Exploration, true
	s.tail.forget()
	s.tail.most = int64(min(max(96/max(1, partitions), 3), 24))
	s.tail.bytes = scoresBytes / max(1, partitions)
}

// exploration returns the exploration whose checkpoints are known; empty = none.
func (s *scores) exploration() string {
	if s.spec == nil {
		return ""
	}
	return s.spec.Exploration
}

// newest returns the newest checkpoints of the exploration by partition.
func (s *scores) newest() map[int32]*wire.Checkpoint {
	if s.spec == nil {
		return nil
	}
	return s.board.Newest(string(wire.CheckpointKey(s.spec.Exploration)))
}
