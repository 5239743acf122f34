package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"golang.org/x/sync/semaphore"

	"github.com/eerf-stream/eerf/pipeline"
)

// zstdWindowBytes is the largest supported window. Producers announce up to 8 MiB, at the highest
// levels 32 MiB, for data of any size, and a streaming decoder allocates the announced window.
const zstdWindowBytes = 32 << 20

// Memory of streaming decoders in addition to the window, and the largest window of a decoder that
// is reused.
const (
	zstdTableBytes = 2 << 20
	zstdKeptBytes  = 4 << 20
)

// codecs bounds the total memory of decoders that are decompressing, in the whole process.
var codecs = semaphore.NewWeighted(codecBytes)

// borrow waits for decoder memory, which the returned function releases. The caller must not wait
// for anything else in between.
func borrow(bytes int64) (giveBack func()) {
	bytes = min(bytes, codecBytes)
	if err := codecs.Acquire(context.Background(), bytes); err != nil {
		panic("kafka: memory of decoders: " + err.Error()) // cannot happen, because the context does not end
	}
	return func() { codecs.Release(bytes) }
}

// lz4Memory is the memory of the decoder of an lz4 frame, by the block size that the frame states.
func lz4Memory(frame []byte) int64 {
	const descriptor, tables = 5, 256 << 10
	largest := 4 << 20
	if len(frame) > descriptor {
		if code := frame[descriptor] >> 4 & 7; code >= 4 {
			largest = 64 << 10 << (2 * (code - 4))
		}
	}
	return int64(2*largest) + tables
}

// newZstdDecoder returns the decoder for frames that state their size; [setReader.streams] decode
// the others.
func newZstdDecoder(budget int) *zstd.Decoder {
	return mustDecoder(zstd.WithDecoderMaxMemory(uint64(max(budget, zstdWindowBytes))), zstd.WithDecodeAllCapLimit(true))
}

// newZstdStream returns a decoder for frames with windows up to the given size. It starts no
// goroutines, so it needs no Close.
func newZstdStream(window uint64) *zstd.Decoder {
	return mustDecoder(zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
}

// mustDecoder returns a decoder with options that are known to be valid.
func mustDecoder(options ...zstd.DOption) *zstd.Decoder {
	decoder, err := zstd.NewReader(nil, options...)
	if err != nil {
		panic("kafka: zstd refuses its options: " + err.Error())
	}
	return decoder
}

// expand decompresses the records of a batch into memory taken from the allowance.
func (s *setReader) expand(codec uint16, body []byte, memory *allowance) ([]byte, error) {
	if compressionOf(codec) == CompressionNone { // records alias the response
		if !memory.takeShared(len(body)) {
			return nil, fmt.Errorf("%d bytes: %w", len(body), pipeline.ErrOverBudget)
		}
		return body, nil
	}
	expanded, err := s.decompress(codec, body, min(memory.left, memory.room))
	if errors.Is(err, pipeline.ErrOverBudget) {
		memory.short = memory.room < memory.left
		return nil, err
	}
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return nil, fmt.Errorf("zstd window of more than %d bytes: %w", zstdWindowBytes, pipeline.ErrOverBudget)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v: %w", pipeline.ErrCorruptBatch, compressionOf(codec), err)
	}
	if !memory.take(cap(expanded), 1) {
		return nil, overLimit(memory.left)
	}
	return expanded, nil
}

// decompress returns at most limit bytes.
func (s *setReader) decompress(codec uint16, body []byte, limit int) ([]byte, error) {
	switch compressionOf(codec) {
	case CompressionGzip:
		return readLimited(len(body), limit, func() (io.Reader, error) { return gzip.NewReader(bytes.NewReader(body)) })
	case CompressionSnappy:
		return unsnappy(body, limit)
	case CompressionLZ4:
		defer borrow(lz4Memory(body))()
		return readLimited(len(body), limit, func() (io.Reader, error) { return lz4.NewReader(bytes.NewReader(body)), nil })
	case CompressionZstd:
		return s.unzstd(body, limit)
	}
	return nil, fmt.Errorf("%w: codec %d", pipeline.ErrCorruptBatch, codec)
}

// overLimit is the error of a batch of unknown size that exceeds the limit.
func overLimit(limit int) error {
	return fmt.Errorf("more than %d bytes decompressed: %w", limit, pipeline.ErrOverBudget)
}

// readLimited decompresses at most limit bytes. Rows of numbers at most double in size, so it
// starts with a buffer of that size. Larger data is measured before it is decoded, because a
// growing buffer would take twice its size.
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

// readInto reads until into is full or the input ends. Unlike io.ReadFull it distinguishes an end
// from a truncated input.
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

// unzstd decodes a single frame that states its size into exactly that memory, and others as a
// stream.
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
	if header.WindowSize <= zstdKeptBytes {
		expanded, err := s.unzstdKept(body, limit)
		if !errors.Is(err, zstd.ErrWindowSizeExceeded) { // from a later frame
			return expanded, err
		}
	}
	defer borrow(zstdWindowBytes + zstdTableBytes)()
	stream := newZstdStream(zstdWindowBytes)
	defer stream.Close()
	return streamZstd(stream, body, limit)
}

// unzstdKept decodes frames with small windows, the usual ones, with a reused decoder.
func (s *setReader) unzstdKept(body []byte, limit int) ([]byte, error) {
	defer borrow(zstdKeptBytes + zstdTableBytes)()
	stream := s.streams.Get().(*zstd.Decoder)
	defer func() {
		if stream.Reset(nil) == nil { // drops its reference to the body
			s.streams.Put(stream)
		}
	}()
	return streamZstd(stream, body, limit)
}

func streamZstd(stream *zstd.Decoder, body []byte, limit int) ([]byte, error) {
	return readLimited(len(body), limit, func() (io.Reader, error) { return stream, stream.Reset(bytes.NewReader(body)) })
}

// xerialHeader begins a snappy body as the Java library frames it: magic, version and least
// compatible version, then blocks preceded by their lengths. Other producers send one bare block.
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

// eachSnappyBlock calls do for the blocks of a body. The first field of a block is its expanded
// length.
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
