package stages

import (
	"sort"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
)

// Subsampler makes one pass of an exploration over the rows of one partition. What it holds after some rows
// depends on these rows, their order and the spec alone, not on how they came in messages.
type Subsampler struct {
	spec     *wire.Spec
	specHash string
	part     wire.Partition
	pass     pass
	held     *heldRows // gets the scored rows; nil = nobody wants them
	encoder  rowEncoder

	nextOffset  int64
	nextOrdinal int64
	closedBy    wire.CloseReason
	counts      wire.Counts

	rows encoder.Rows // reused
	take []int32      // reused: sampled rows of the batch in hand; never nil, which would mean all of them
}

// NewSubsampler starts the partition at the spec's start offset, or where the checkpoint left off. The bank
// is that of [NewBank] and is shared by the partitions.
func NewSubsampler(spec *wire.Spec, bank *scoring.Bank, part wire.Partition, from *wire.Checkpoint) (*Subsampler, error) {
	s := &Subsampler{
		spec: spec, specHash: spec.Hash(), part: part, encoder: newRowEncoder(spec.Encoder, spec.Candidates.Map),
		nextOffset: part.StartOffset, take: []int32{},
	}
	if from != nil {
		if err := s.restore(from); err != nil {
			return nil, err
		}
	}
	s.pass = newPass(spec, bank, from)
	s.closeAtEnd()
	return s, nil
}

func (s *Subsampler) restore(from *wire.Checkpoint) error {
	if err := from.CheckAgainst(s.spec, scoring.Kernel()); err != nil {
		return err
	}
	s.nextOffset, s.nextOrdinal = from.NextOffset, from.NextOrdinal
	s.counts = from.Counts
	if from.Closed {
		s.closedBy = from.CloseReason
	}
	return nil
}

// NextOffset is the next offset of events to read.
func (s *Subsampler) NextOffset() int64 { return s.nextOffset }

// NextOrdinal is the ordinal that the next row gets.
func (s *Subsampler) NextOrdinal() int64 { return s.nextOrdinal }

// Closed reports whether the partition needs no more rows.
func (s *Subsampler) Closed() bool { return s.closedBy != "" }

// Counts are the outcomes of the rows so far.
func (s *Subsampler) Counts() wire.Counts { return s.counts }

// Add takes the rows of the message at the offset and returns, for each batch, the rows that it rejected.
// Offsets below NextOffset and messages after the close are passed over.
func (s *Subsampler) Add(offset int64, batches []arrow.Record) ([][]RejectedRow, error) {
	if offset < s.nextOffset || s.Closed() {
		return nil, nil
	}
	rejected := make([][]RejectedRow, len(batches))
	for i, batch := range batches {
		var err error
		if rejected[i], err = s.addBatch(batch); err != nil {
			return nil, err
		}
	}
	s.counts.Messages++
	s.nextOffset = offset + 1
	s.closeAtEnd()
	return rejected, nil
}

// Refuse counts a message that could not be used and goes on at nextOffset. After the close it does nothing.
func (s *Subsampler) Refuse(nextOffset int64) {
	if s.Closed() {
		return
	}
	s.counts.Messages++
	s.counts.Undecodable++
	s.Advance(nextOffset)
}

// Advance moves over offsets that hold no message. After the close it does nothing.
func (s *Subsampler) Advance(nextOffset int64) {
	if s.Closed() {
		return
	}
	s.nextOffset = max(s.nextOffset, nextOffset)
	s.closeAtEnd()
}

func (s *Subsampler) closeAtEnd() {
	if !s.Closed() && s.part.EndOffset >= 0 && s.nextOffset >= s.part.EndOffset {
		s.closedBy = wire.CloseEnd
	}
}

// addBatch takes the rows of a batch, so many at a time that their dense form stays within encodeBytes.
func (s *Subsampler) addBatch(batch arrow.Record) ([]RejectedRow, error) {
	var rejected []RejectedRow
	err := eachChunk(batch, s.spec.Encoder.Dim, func(first int64, chunk arrow.Record) error {
		if s.Closed() {
			return nil
		}
		rows, err := s.addChunk(chunk)
		for _, row := range rows {
			row.Row += int32(first)
			rejected = append(rejected, row)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return rejected, nil
}

func (s *Subsampler) addChunk(batch arrow.Record) ([]RejectedRow, error) {
	rows := batch.NumRows()
	s.sample(rows)
	if err := s.encoder.encode(&s.rows, batch, s.take); err != nil {
		return nil, err
	}
	if last, fills := s.quotaRow(); fills {
		rows = int64(last) + 1
		s.take = s.take[:sort.Search(len(s.take), func(i int) bool { return s.take[i] > last })]
		if err := s.encoder.encode(&s.rows, batch, s.take); err != nil {
			return nil, err
		}
		s.closedBy = wire.CloseQuota
	}
	s.score()
	rejected := s.count(rows)
	s.nextOrdinal += rows
	s.held.passed(s.nextOrdinal)
	return rejected, nil
}

// sample fills take with the rows of the next batch whose hash is below the spec's rate.
func (s *Subsampler) sample(rows int64) {
	s.take = s.take[:0]
	for row := range rows {
		hash := scoring.Hash(s.spec.SampleSeed, s.part.Partition, s.nextOrdinal+row)
		if scoring.Taken(hash, s.spec.SampleRate) {
			s.take = append(s.take, int32(row))
		}
	}
}

// quotaRow returns the row of the batch with which the quota of scored rows is filled, if it is.
func (s *Subsampler) quotaRow() (row int32, fills bool) {
	if s.part.Quota <= 0 {
		return 0, false
	}
	missing := s.part.Quota - s.counts.Scored
	for i := range s.rows.N {
		if !s.rows.Labelled[i] {
			continue
		}
		if missing--; missing == 0 {
			return s.rows.Row[i], true
		}
	}
	return 0, false
}

// score adds the labelled rows of the encoded batch to the sums.
func (s *Subsampler) score() {
	for first := 0; first < s.rows.N; {
		if !s.rows.Labelled[first] {
			first++
			continue
		}
		last := first + 1
		for last < s.rows.N && s.rows.Labelled[last] {
			last++
		}
		x, targets := s.rows.X[first*s.rows.Dim:last*s.rows.Dim], sliceTargets(s.rows.Targets, first, last)
		s.pass.Add(x, last-first, targets)
		s.held.add(x, last-first, targets)
		first = last
	}
}

func sliceTargets(t scoring.Targets, first, last int) scoring.Targets {
	if t.Class != nil {
		t.Class = t.Class[first:last]
	} else {
		t.Values = t.Values[first*t.Outputs : last*t.Outputs]
	}
	return t
}

// count books the outcome of the batch's first rows, of which take was sampled.
func (s *Subsampler) count(rows int64) []RejectedRow {
	c := wire.Counts{
		Rows: rows, NotSampled: rows - int64(len(s.take)),
		Imputed: s.rows.Counts.Imputed, UnseenCategory: s.rows.Counts.UnseenCategory,
		Clipped: s.rows.Counts.Clipped, UnseenClass: s.rows.Counts.UnseenClass,
	}
	for _, labelled := range s.rows.Labelled[:s.rows.N] {
		if labelled {
			c.Scored++
		} else {
			c.Unlabelled++
		}
	}
	var rejected []RejectedRow
	for _, r := range s.rows.Rejected {
		if !r.Labelled {
			c.Unlabelled++
			continue
		}
		c.Rejected++
		rejected = append(rejected, RejectedRow{Row: r.Row, Reason: r.Reason})
	}
	s.counts.Add(c)
	return rejected
}

// takeHeld makes the pass over rows that were held, as if they had been read, and closes the partition.
func (s *Subsampler) takeHeld(rows *heldRows) {
	rows.feed(&s.pass)
	s.nextOffset, s.nextOrdinal, s.closedBy = s.part.EndOffset, rows.nextOrdinal, wire.CloseEnd
	s.counts = wire.Counts{Rows: int64(rows.rows), Scored: int64(rows.rows)}
}

// CanSave reports whether the state of the partition can be saved now: a Gram can only once its partition is closed.
func (s *Subsampler) CanSave() bool { return s.pass.gram == nil || s.Closed() }

// Checkpoint is the state of the partition; its sums are a copy.
func (s *Subsampler) Checkpoint(now time.Time) *wire.Checkpoint {
	checkpoint := &wire.Checkpoint{
		Exploration: s.spec.Exploration, Sequence: s.spec.Sequence,
		SpecHash: s.specHash, Pass: s.spec.Pass, Partition: s.part.Partition, NextOffset: s.nextOffset, NextOrdinal: s.nextOrdinal,
		Closed: s.Closed(), CloseReason: s.closedBy, Counts: s.counts,
		Kernel: scoring.Kernel(), WrittenAt: now,
	}
	checkpoint.Sums, checkpoint.Products = s.pass.copySums()
	return checkpoint
}
