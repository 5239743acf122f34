package subsample

import (
	"slices"
	"sort"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/eerf-stream/eerf/arrowio/encoder"
	"github.com/eerf-stream/eerf/arrowio/rowid"
	"github.com/eerf-stream/eerf/arrowio/wire"
	"github.com/eerf-stream/eerf/scoring"
	"github.com/eerf-stream/eerf/stages/deadletter"
	"github.com/eerf-stream/eerf/stages/events"
	"github.com/eerf-stream/eerf/stages/meter"
	"github.com/eerf-stream/eerf/training"
)

// Subsampler makes the pass of an exploration over the range of one partition.
type Subsampler struct {
	spec     *wire.Spec
	specHash string
	part     wire.Partition
	sums     *scoring.Accumulator

	nextOffset  int64
	nextOrdinal int64
	closedBy    wire.CloseReason
	counts      wire.Counts
	attempt     int

	mark    wire.SampleMark // covers all samples collected so far
	samples *wire.Samples   // samples since the last ClearSamples; nil = the criterion needs no rows

	rows  encoder.Rows // reused
	take  []int32      // reused: sampled rows of the current batch; never nil, because nil means all rows
	split split        // reused: the rows that are not held out

	hasher *rowid.Hasher
	ids    []uint64 // identities of the rows in take; memory of the hasher
}

// New starts the partition at the start of its range, or at the checkpoint, whose sums it then
// owns. The bank holds the candidates of the spec and is shared by the partitions.
func New(spec *wire.Spec, bank *scoring.Bank, part wire.Partition, from *wire.Checkpoint) (*Subsampler, error) {
	s := &Subsampler{
		spec: spec, specHash: spec.Hash(), part: part, nextOffset: part.StartOffset, take: []int32{},
		hasher: rowid.NewHasher(spec.Identity),
	}
	sums := scoring.NewSums(spec.Candidates.Count, spec.Encoder.Outputs())
	if from != nil {
		if err := from.CheckAgainst(spec, scoring.Arithmetic()); err != nil {
			return nil, err
		}
		sums = from.Sums
		s.nextOffset, s.nextOrdinal, s.counts = from.NextOffset, from.NextOrdinal, from.Counts
		s.closedBy, s.mark, s.attempt = from.CloseReason, from.Samples, from.Attempt
	}
	s.sums = scoring.NewAccumulator(bank, sums)
	if spec.Criterion.NeedsRows() {
		s.samples = &wire.Samples{SpecHash: s.specHash, Partition: part.Partition, Dim: spec.Encoder.Dim}
	}
	hasher := scoring.NewHasher(spec.SampleSeed^scoring.CalibrationTag, part.Partition)
	s.rows.Number = func(row int32) int64 { return s.nextOrdinal + int64(row) }
	s.rows.Teaching = func(row int32) uint64 { return hasher.Row(s.nextOrdinal + int64(row)) }
	s.closeAtEnd()
	return s, nil
}

// Begin starts the attempt with the given number. Its samples are at or after offset firstSample of
// their topic.
func (s *Subsampler) Begin(attempt int, firstSample int64) {
	s.attempt = attempt
	if s.samples != nil {
		s.mark = wire.SampleMark{FirstOffset: firstSample}
	}
}

// Use encodes the next message in the memory of a slot, until Trim is called with the slot.
func (s *Subsampler) Use(slot *events.Slot) { s.rows.Exchange(&slot.Rows) }

// Trim returns the memory of a slot and frees the extra memory of a large message.
func (s *Subsampler) Trim(slot *events.Slot) {
	s.rows.Exchange(&slot.Rows)
	if s.take = events.Trim(s.take); s.take == nil {
		s.take = []int32{}
	}
	s.split.trim()
	s.hasher.Trim()
	s.ids = nil
}

// NextOffset returns the next offset of events to read.
func (s *Subsampler) NextOffset() int64 { return s.nextOffset }

// NextOrdinal returns the ordinal of the next row.
func (s *Subsampler) NextOrdinal() int64 { return s.nextOrdinal }

// Closed reports whether the partition needs no more rows.
func (s *Subsampler) Closed() bool { return s.closedBy != "" }

// Counts returns the outcomes of the rows so far.
func (s *Subsampler) Counts() wire.Counts { return s.counts }

// Samples returns the sampled rows collected since the last ClearSamples, in ordinal order; nil
// under a criterion that needs only sums. They are valid until the next call of Add or
// ClearSamples.
func (s *Subsampler) Samples() *wire.Samples { return s.samples }

// ClearSamples drops the collected samples once they are written.
func (s *Subsampler) ClearSamples() {
	s.samples.Reset()
	s.samples.Ordinal, s.samples.X = events.Trim(s.samples.Ordinal), events.Trim(s.samples.X)
	s.samples.Identity = events.Trim(s.samples.Identity)
	s.samples.Targets.Class = events.Trim(s.samples.Targets.Class)
	s.samples.Targets.Values = events.Trim(s.samples.Targets.Values)
}

// Reject receives the rejected rows of a piece of a message. rowBase is the number of the piece's
// first row in the message.
type Reject func(piece arrow.Record, rowBase int32, rows []deadletter.RejectedRow) error

// Add takes the rows of the message at the offset. It calls reject, if not nil, for each piece with
// rejected rows. It skips offsets below NextOffset or after the range, and all messages after the
// close. After an error, possibly one of reject, the sums hold part of the message and the state is
// unusable.
func (s *Subsampler) Add(offset int64, batches []arrow.Record, reject Reject) error {
	if offset < s.nextOffset || offset >= s.part.EndOffset || s.Closed() {
		s.Advance(offset)
		return nil
	}
	var rowBase int64
	for _, batch := range batches {
		err := events.EachChunk(batch, s.spec.Encoder.Dim, func(first int64, chunk arrow.Record) error {
			if s.Closed() {
				return nil
			}
			rows, err := s.addChunk(chunk)
			if err != nil || len(rows) == 0 || reject == nil {
				return err
			}
			return reject(chunk, int32(rowBase+first), rows)
		})
		if err != nil {
			return err
		}
		rowBase += batch.NumRows()
	}
	s.counts.Messages++
	s.nextOffset = offset + 1
	s.closeAtEnd()
	return nil
}

// Refuse counts an unusable message and continues at nextOffset. It does nothing after the close,
// or for offsets already counted.
func (s *Subsampler) Refuse(nextOffset int64) {
	if s.Closed() || nextOffset <= s.nextOffset {
		return
	}
	s.counts.Messages++
	s.counts.Undecodable++
	s.Advance(nextOffset)
}

// Skip counts a tombstone and continues at nextOffset, with the exceptions of Refuse.
func (s *Subsampler) Skip(nextOffset int64) {
	if s.Closed() || nextOffset <= s.nextOffset {
		return
	}
	s.counts.Messages++
	s.counts.Tombstones++
	s.Advance(nextOffset)
}

// Advance skips offsets without a message, up to the end of the range. After the close it does
// nothing.
func (s *Subsampler) Advance(nextOffset int64) {
	if s.Closed() {
		return
	}
	s.nextOffset = max(s.nextOffset, min(nextOffset, s.part.EndOffset))
	s.closeAtEnd()
}

// Attempt is the number of refused attempts before the current one.
func (s *Subsampler) Attempt() int { return s.attempt }

// CloseReason returns the reason why the partition needs no more rows; empty while it is open.
func (s *Subsampler) CloseReason() wire.CloseReason { return s.closedBy }

// Lose closes the partition because the log lost offsets of its range or was replaced.
func (s *Subsampler) Lose() { s.closedBy = wire.CloseLost }

// Tallies returns the use of the values of the columns in the sampled rows.
func (s *Subsampler) Tallies() []encoder.Tally {
	_, all := s.rows.Tallies()
	return all
}

// Disagree closes the partition because the schema registry's answers differ from those at
// planning.
func (s *Subsampler) Disagree() { s.closedBy = wire.CloseRegistry }

func (s *Subsampler) closeAtEnd() {
	if !s.Closed() && s.nextOffset >= s.part.EndOffset {
		s.closedBy = wire.CloseEnd
	}
}

func (s *Subsampler) addChunk(batch arrow.Record) ([]deadletter.RejectedRow, error) {
	rows := batch.NumRows()
	s.sample(rows)
	s.identify(batch)
	if err := s.spec.Encoder.Encode(&s.rows, batch, s.take); err != nil {
		return nil, err
	}
	if last, fills := s.quotaRow(); fills {
		rows = int64(last) + 1
		s.take = s.take[:sort.Search(len(s.take), func(i int) bool { return s.take[i] > last })]
		if err := s.spec.Encoder.Encode(&s.rows, batch, s.take); err != nil {
			return nil, err
		}
		s.closedBy = wire.CloseQuota
	}
	rejected := s.count(rows)
	s.score()
	s.nextOrdinal += rows
	return rejected, nil
}

// sample sets take to the rows of the next batch whose hash is below the spec's rate.
func (s *Subsampler) sample(rows int64) {
	s.take = s.take[:0]
	for row := range rows {
		hash := scoring.Hash(s.spec.SampleSeed, s.part.Partition, s.nextOrdinal+row)
		if scoring.Sampled(hash, s.spec.SampleRate) {
			s.take = append(s.take, int32(row))
		}
	}
}

// quotaRow returns the row of the batch that fills the quota of scored rows, if one does.
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

// score adds the labelled rows of the encoded batch that are not held out to the sums, and collects
// all labelled rows.
func (s *Subsampler) score() {
	s.rows.KeepLabelled()
	if s.rows.N == 0 {
		return
	}
	x, n, targets := s.rows.X[:s.rows.N*s.rows.Dim], s.rows.N, s.rows.Targets
	if s.spec.Criterion.HoldsOut() {
		x, n, targets = s.split.kept(&s.rows, s.heldOut)
		s.counts.HeldOut += int64(s.rows.N - n)
	}
	if n > 0 {
		s.sums.Add(x, n, targets)
	}
	if s.samples == nil {
		return
	}
	first := s.samples.Rows()
	for _, row := range s.rows.Row[:s.rows.N] {
		s.samples.Ordinal = append(s.samples.Ordinal, s.nextOrdinal+int64(row))
		if !s.spec.Identity.ByPlace() {
			s.samples.Identity = append(s.samples.Identity, s.identity(row))
		}
	}
	s.samples.X = append(s.samples.X, s.rows.X[:s.rows.N*s.rows.Dim]...)
	s.samples.Targets.Outputs = s.rows.Targets.Outputs
	s.samples.Targets.Class = append(s.samples.Targets.Class, s.rows.Targets.Class...)
	s.samples.Targets.Values = append(s.samples.Targets.Values, s.rows.Targets.Values...)
	s.mark.Add(s.samples, first)
}

// heldOut reports whether a row of the next batch is held out of the sums.
func (s *Subsampler) heldOut(row int32) bool {
	return scoring.HeldOut(s.spec.SampleSeed, s.identity(row))
}

// identify sets ids, and drops the rows from take whose identities judge models: no sample contains
// them, so that a copy that arrives after the exploration was not learned from.
func (s *Subsampler) identify(batch arrow.Record) {
	rule := s.spec.Identity
	if rule.ByPlace() {
		return
	}
	s.ids = s.hasher.Identities(batch, s.take, s.place)
	kept := 0
	for i, id := range s.ids {
		if training.HeldOut(rule.HeldOutSeed, id, rule.HeldOutFraction) {
			continue
		}
		s.take[kept], s.ids[kept] = s.take[i], id
		kept++
	}
	s.take, s.ids = s.take[:kept], s.ids[:kept]
}

// identity returns the identity of a sampled row of the next batch.
func (s *Subsampler) identity(row int32) uint64 {
	if s.spec.Identity.ByPlace() {
		return s.place(row)
	}
	at, _ := slices.BinarySearch(s.take, row)
	return s.ids[at]
}

// place returns the identity of the place of a row of the next batch.
func (s *Subsampler) place(row int32) uint64 {
	return rowid.PlaceOf(s.part.Partition, s.nextOrdinal+int64(row), 0)
}

// count adds up the outcomes of the batch's first rows, of which the rows in take were sampled, and
// returns the rejected ones.
func (s *Subsampler) count(rows int64) []deadletter.RejectedRow {
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
	var rejected []deadletter.RejectedRow
	for _, r := range s.rows.Rejected {
		if !r.Labelled {
			c.Unlabelled++
			continue
		}
		c.Rejected++
		rejected = append(rejected, deadletter.RejectedRow{Row: r.Row, Reason: r.Reason})
	}
	meter.Add(&s.counts, c)
	return rejected
}

// Checkpoint returns the state of the partition. Its sums are a copy.
func (s *Subsampler) Checkpoint(now time.Time) *wire.Checkpoint {
	return &wire.Checkpoint{
		Exploration: s.spec.Exploration,
		Sequence:    s.spec.Sequence,
		SpecHash:    s.specHash,
		Partition:   s.part.Partition,
		Attempt:     s.attempt,
		NextOffset:  s.nextOffset,
		NextOrdinal: s.nextOrdinal,
		Closed:      s.Closed(),
		CloseReason: s.closedBy,
		Counts:      s.counts,
		Sums:        s.sums.Sums().Clone(),
		Samples:     s.mark,
		Arithmetic:  scoring.Arithmetic(),
		WrittenAt:   now,
	}
}
