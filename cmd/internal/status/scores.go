package status

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/eerf-stream/eerf/arrowio"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/pipeline"
	"github.com/eerf-stream/eerf/scoring"
)

const (
	// sumsBytes bounds the sums that are kept of an exploration: where those of all candidates of all partitions take more, one
	// in so many candidates is kept.
	sumsBytes = 16 << 20
	// scoresBytes is what is read of the topic at a time, over all partitions, about.
	scoresBytes = 64 << 20
)

// scores follows the checkpoints of the newest exploration at the ends of the scores topic.
type scores struct {
	tail    tail
	decoder *arrowio.Decoder

	exploration string
	every       int // one in so many candidates is kept
	newest      map[int32]checkpoint
	sums        map[int]map[int32]*scoring.Sums // by pass, the first and the newest that scores, and partition
	spectrum    *Spectrum                       // of the sums; nil = to be made anew

	drawnRunning bool // the spectrum is of an exploration that runs
}

// checkpoint is what is kept of one beside its sums.
type checkpoint struct {
	pass       int
	nextOffset int64
	next       int64 // ordinal
	closed     wire.CloseReason
	counts     wire.Counts
	writtenAt  time.Time
}

func newScores(log pipeline.Log, topic string, limits arrowio.Limits) *scores {
	return &scores{tail: tail{log: log, topic: topic}, decoder: arrowio.NewDecoder(limits)}
}

// look reads what came. spans are those of the topic; spec is the newest exploration.
func (s *scores) look(ctx context.Context, spec *wire.Spec, spans []span) error {
	if spec == nil || spec.Encoder == nil {
		s.exploration, s.newest, s.sums, s.spectrum = "", nil, nil, nil
		return nil
	}
	if spec.Exploration != s.exploration {
		s.begin(spec, len(spans))
	}
	var faults []error
	for partition, span := range spans {
		err := s.tail.read(ctx, partition, span.first, span.next, func(r pipeline.Record) {
			if err := s.apply(spec, r); err != nil {
				faults = append(faults, err)
			}
		})
		if err != nil {
			return err
		}
	}
	return errors.Join(faults...)
}

// begin turns to an exploration. Its checkpoints may have been read past already, so the ends are read again: a short
// exploration leaves one checkpoint of each pass in a partition, and a tombstone.
func (s *scores) begin(spec *wire.Spec, partitions int) {
	s.exploration, s.newest, s.spectrum = spec.Exploration, map[int32]checkpoint{}, nil
	s.sums = map[int]map[int32]*scoring.Sums{}
	all := int64(spec.Candidates.Count) * int64(2+spec.Encoder.Outputs()) * 8 * int64(max(1, partitions)) * 2
	s.every = int((all + sumsBytes - 1) / sumsBytes)
	s.tail.forget()
	s.tail.first = int64(min(max(96/max(1, partitions), 3), 24))
	s.tail.most = s.tail.first
	s.tail.bytes = scoresBytes / max(1, partitions)
}

// apply takes a record in, if it is a checkpoint of the exploration.
func (s *scores) apply(spec *wire.Spec, r pipeline.Record) error {
	key := string(r.Key)
	if r.Value == nil || key != s.exploration && !strings.HasPrefix(key, s.exploration+"/") {
		return nil
	}
	c, err := wire.DecodeCheckpoint(s.decoder, r.Value)
	if err != nil {
		return err
	}
	if string(wire.CheckpointKey(c.Exploration, c.Pass)) != key || int(c.Partition) != r.Partition {
		return errors.New("checkpoint under the key or in the partition of another one")
	}
	last, known := s.newest[c.Partition]
	if known && (c.Pass < last.pass || c.Pass == last.pass && c.NextOrdinal < last.next) {
		return nil // of an owner that has lost the partition
	}
	s.newest[c.Partition] = checkpoint{c.Pass, c.NextOffset, c.NextOrdinal, c.CloseReason, c.Counts, c.WrittenAt}
	if c.Sums != nil && c.Sums.Candidates() == spec.Candidates.Count && c.Sums.Outputs() == spec.Encoder.Outputs() {
		s.keep(c)
	}
	return nil
}

// keep takes the sums of a checkpoint in. Of later passes those of the newest that scores are kept.
func (s *scores) keep(c *wire.Checkpoint) {
	if s.sums[c.Pass] == nil {
		s.sums[c.Pass] = map[int32]*scoring.Sums{}
		for pass := range s.sums {
			if pass != 0 && pass < c.Pass {
				delete(s.sums, pass)
			}
		}
	}
	s.sums[c.Pass][c.Partition] = thin(c.Sums, s.every)
	s.spectrum = nil
}

// thin returns the sums of one in so many candidates.
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
