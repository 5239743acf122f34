package wire

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Block holds the errors of the predictions of live rows in a contiguous piece of one partition of
// events. Blocks of different pieces add up.
type Block struct {
	Pipeline  string `json:"pipeline"`
	Partition int32  `json:"partition"` // of events
	SourceLog string `json:"source_log,omitempty" bound:"128"`
	// Provisional marks a block that is still open. The final block with the same key replaces it.
	Provisional bool `json:"provisional,omitempty"`
	// The piece is the rows from FirstRow of FirstOffset up to, not including, NextRow of
	// NextOffset.
	FirstOffset int64 `json:"first_offset"`
	FirstRow    int32 `json:"first_row"`
	NextOffset  int64 `json:"next_offset"`
	NextRow     int32 `json:"next_row"`
	// From is the time of its earliest event, To of the latest.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Models has the sums of each model that predicted some of its rows, in the order of their
	// first rows.
	Models []LiveSums `json:"models" bound:"list 1024"`
}

// MaxBlockBytes bounds the memory of a block. Featurizers close a block before it exceeds the
// bound, readers refuse larger blocks, and windows have room for a block of this size.
const MaxBlockBytes = 1 << 20

// sumsBytes is the memory of a block or of the sums of a model, without lists.
const sumsBytes = 512

// Memory is the approximate memory of a block.
func (b *Block) Memory() int64 {
	bytes := int64(sumsBytes)
	for i := range b.Models {
		bytes += b.Models[i].Memory()
	}
	return bytes
}

// Memory is the approximate memory of sums.
func (s *LiveSums) Memory() int64 {
	bins := len(s.Scores[0]) + len(s.Scores[1])
	return sumsBytes + int64(len(s.Model)+len(s.Column)+8*len(s.Classes)+40*len(s.Outputs)+16*bins)
}

// Fits reports whether a block with more sums stays within [MaxBlockBytes].
func (b *Block) Fits(more *LiveSums) bool { return b.Memory()+more.Memory() <= MaxBlockBytes }

// BlockKey is the key of a block, which its provisional versions share.
func BlockKey(b *Block) []byte {
	return fmt.Appendf(nil, "%s/%d/%s/%d/%d", b.Pipeline, b.Partition, b.SourceLog, b.FirstOffset, b.FirstRow)
}

// Rows is the number of compared rows.
func (b *Block) Rows() (rows int64) {
	for i := range b.Models {
		rows += b.Models[i].Rows
	}
	return rows
}

// Add adds the rows of sums.
func (b *Block) Add(s *LiveSums) {
	at := slices.IndexFunc(b.Models, func(m LiveSums) bool { return m.Model == s.Model && m.Alike(s) })
	if at < 0 {
		b.Models = append(b.Models, s.Clone())
		return
	}
	b.Models[at].Merge(s)
}

// Validate returns an error for a block that no featurizer makes.
func (b *Block) Validate() error {
	if err := checkName("pipeline", b.Pipeline); err != nil {
		return err
	}
	forward := b.NextOffset > b.FirstOffset || b.NextOffset == b.FirstOffset && b.NextRow > b.FirstRow
	if b.Partition < 0 || b.FirstOffset < 0 || b.FirstRow < 0 || b.NextRow < 0 || !forward ||
		b.NextOffset == math.MaxInt64 {
		return fmt.Errorf("partition %d from offset %d row %d up to offset %d row %d",
			b.Partition, b.FirstOffset, b.FirstRow, b.NextOffset, b.NextRow)
	}
	if bytes := b.Memory(); bytes > MaxBlockBytes {
		return fmt.Errorf("%d bytes of sums, at most %d", bytes, MaxBlockBytes)
	}
	if b.To.Before(b.From) {
		return fmt.Errorf("from %v to %v", b.From, b.To)
	}
	if len(b.Models) == 0 {
		return errors.New("a block without models")
	}
	for i := range b.Models {
		if err := b.Models[i].Validate(); err != nil {
			return fmt.Errorf("model %d: %w", i, err)
		}
	}
	return nil
}

func (b *Block) describe() string { return "block" }

func (b *Block) canonical() {
	b.From = canonicalTime(b.From)
	b.To = canonicalTime(b.To)
}

// EncodeBlock returns the message for b.
func EncodeBlock(b *Block) ([]byte, error) { return encodeControl(blockDocument, b) }

// DecodeBlock reads a message that [EncodeBlock] wrote.
func DecodeBlock(value []byte) (*Block, error) { return decodeControl[Block](blockDocument, value) }
