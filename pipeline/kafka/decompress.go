package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// zstdWindowBytes is the greatest window that is decoded. Producers announce up to 8 MiB, at the highest levels
// 32 MiB, for data of any size; a decoder that reads a stream holds that much.
const zstdWindowBytes = 32 << 20

// newZstdDecoder makes the decoder of frames that say their size; [setReader.streams] decode the others.
func newZstdDecoder(budget int) *zstd.Decoder {
	return mustDecoder(zstd.WithDecoderMaxMemory(uint64(max(budget, zstdWindowBytes))), zstd.WithDecodeAllCapLimit(true))
}

// newZstdStream makes a decoder that starts no goroutines, so that it may be dropped.
func newZstdStream() any {
	return mustDecoder(zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindowBytes))
}

// mustDecoder makes a decoder with options that are known to be right.
func mustDecoder(options ...zstd.DOption) *zstd.Decoder {
	decoder, err := zstd.NewReader(nil, options...)
	if err != nil {
		panic("kafka: zstd refuses its options: " + err.Error())
	}
	return decoder
}

// expand decompresses the records of a batch into memory that it takes from the allowance.
func (s *setReader) expand(codec uint16, body []byte, memory *allowance) ([]byte, error) {
	if Compression(codec) == CompressionNone { // records alias the response
		if !memory.take(len(body), 1) {
			return nil, fmt.Errorf("%d bytes: %w", len(body), ErrOverBudget)
		}
		return body, nil
	}
	expanded, err := s.decompress(Compression(codec), body, memory.left)
	if errors.Is(err, ErrOverBudget) {
		return nil, err
	}
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return nil, fmt.Errorf("zstd window of more than %d bytes: %w", zstdWindowBytes, ErrOverBudget)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v: %w", ErrCorruptBatch, Compression(codec), err)
	}
	if !memory.take(cap(expanded), 1) {
		return nil, overLimit(memory.left)
	}
	return expanded, nil
}

// decompress makes at most limit bytes.
func (s *setReader) decompress(codec Compression, body []byte, limit int) ([]byte, error) {
	switch codec {
	case CompressionGzip:
		return readLimited(len(body), limit, func() (io.Reader, error) { return gzip.NewReader(bytes.NewReader(body)) })
	case CompressionSnappy:
		return unsnappy(body, limit)
	case CompressionLZ4:
		return readLimited(len(body), limit, func() (io.Reader, error) { return lz4.NewReader(bytes.NewReader(body)), nil })
	case CompressionZstd:
		return s.unzstd(body, limit)
	}
	return nil, fmt.Errorf("%w: codec %d", ErrCorruptBatch, uint16(codec))
}

// overLimit says how much of a batch is too much: its full size is not known.
func overLimit(limit int) error {
	return fmt.Errorf("more than %d bytes decompressed: %w", limit, ErrOverBudget)
}

// readLimited reads to the end, but no more than limit, from what has compressed bytes. Rows of numbers double at most, so
// there is room for that at first. What is larger is measured before there is room for it: a buffer that grows would take
// twice what it holds.
func readLimited(compressed, limit int, open func() (io.Reader, error)) ([]byte, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	into := make([]byte, min(2*compressed+bytes.MinRead, limit))
	n, err := readInto(into, r)
	if err != nil || n < len(into) {
		return into[:n], err
	}
	more, err := io.Copy(io.Discard, io.LimitReader(r, int64(limit-n)+1))
	if err != nil || more == 0 {
		return into, err
	}
	if more > int64(limit-n) {
		return nil, overLimit(limit)
	}
	if r, err = open(); err != nil {
		return nil, err
	}
	into = make([]byte, n+int(more))
	_, err = readInto(into, r)
	return into, err
}

// readInto reads until into is full or the input ends. Unlike io.ReadFull it tells that from an input that was cut.
func readInto(into []byte, r io.Reader) (n int, err error) {
	for n < len(into) && err == nil {
		var some int
		some, err = r.Read(into[n:])
		n += some
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// unzstd decodes into exactly the memory needed where the only frame says its size, as a stream otherwise.
func (s *setReader) unzstd(body []byte, limit int) ([]byte, error) {
	var header zstd.Header
	if err := header.Decode(body); err != nil {
		return nil, err
	}
	if header.HasFCS {
		if header.FrameContentSize > uint64(limit) {
			return nil, overLimit(limit)
		}
		expanded, err := s.zstd.DecodeAll(body, make([]byte, 0, header.FrameContentSize))
		if !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			return expanded, err
		}
	}
	stream := s.streams.Get().(*zstd.Decoder)
	defer func() {
		if stream.Reset(nil) == nil { // release the body
			s.streams.Put(stream)
		}
	}()
	return readLimited(len(body), limit, func() (io.Reader, error) { return stream, stream.Reset(bytes.NewReader(body)) })
}

// xerialHeader begins a snappy body as the Java library frames it: magic, version and least compatible
// version, then blocks with their lengths in front. Other producers send one bare block.
var xerialHeader = []byte("\x82SNAPPY\x00")

const xerialHeaderBytes = 16

func unsnappy(body []byte, limit int) ([]byte, error) {
	size := 0
	err := eachSnappyBlock(body, func(block []byte) error {
		n, err := snappy.DecodedLen(block)
		if err == nil && n > limit-size {
			err = overLimit(limit)
		}
		size += n
		return err
	})
	if err != nil {
		return nil, err
	}
	expanded := make([]byte, size)
	left := expanded
	err = eachSnappyBlock(body, func(block []byte) error {
		one, err := snappy.Decode(left, block)
		left = left[len(one):]
		return err
	})
	return expanded, err
}

// eachSnappyBlock calls do for the blocks of a body. The first field of a block is its expanded length.
func eachSnappyBlock(body []byte, do func(block []byte) error) error {
	if !bytes.HasPrefix(body, xerialHeader) || len(body) < xerialHeaderBytes {
		return do(body)
	}
	for rest := body[xerialHeaderBytes:]; len(rest) > 0; {
		if len(rest) < 4 {
			return io.ErrUnexpectedEOF
		}
		size := int64(binary.BigEndian.Uint32(rest))
		rest = rest[4:]
		if size > int64(len(rest)) {
			return io.ErrUnexpectedEOF
		}
		if err := do(rest[:size]); err != nil {
			return err
		}
		rest = rest[size:]
	}
	return nil
}
