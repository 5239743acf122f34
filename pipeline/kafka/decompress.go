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
func newZstdDecoder(budget int) (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderMaxMemory(uint64(max(budget, zstdWindowBytes))))
}

// newZstdStream makes a decoder that starts no goroutines, so that it may be dropped.
func newZstdStream() any {
	stream, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(zstdWindowBytes))
	if err != nil {
		panic("kafka: zstd refuses constant options: " + err.Error())
	}
	return stream
}

// expand decompresses the records of a batch, to limit bytes at most.
func (s *setReader) expand(codec uint16, body []byte, limit int) ([]byte, error) {
	var expanded []byte
	var err error
	switch Compression(codec) {
	case CompressionNone:
		return body, nil
	case CompressionGzip:
		var r *gzip.Reader
		if r, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			expanded, err = readLimited(r, len(body), limit)
		}
	case CompressionSnappy:
		expanded, err = unsnappy(body, limit)
	case CompressionLZ4:
		expanded, err = readLimited(lz4.NewReader(bytes.NewReader(body)), len(body), limit)
	case CompressionZstd:
		expanded, err = s.unzstd(body, limit)
	default:
		return nil, fmt.Errorf("%w: codec %d", ErrCorruptBatch, codec)
	}
	if errors.Is(err, ErrOverBudget) {
		return nil, err
	}
	if errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return nil, fmt.Errorf("zstd window of more than %d bytes: %w", zstdWindowBytes, ErrOverBudget)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %v: %w", ErrCorruptBatch, Compression(codec), err)
	}
	return expanded, nil
}

// overLimit says how much of a batch is too much: its full size is not known.
func overLimit(limit int) error {
	return fmt.Errorf("more than %d bytes decompressed: %w", limit, ErrOverBudget)
}

// readLimited reads to the end, but no more than limit, from what has compressed bytes. It makes room for
// them to double at first, as rows of numbers do at most.
func readLimited(r io.Reader, compressed, limit int) ([]byte, error) {
	var into bytes.Buffer
	into.Grow(min(2*compressed, limit) + bytes.MinRead)
	n, err := into.ReadFrom(io.LimitReader(r, int64(limit)+1))
	if n > int64(limit) {
		return nil, overLimit(limit)
	}
	return into.Bytes(), err
}

// unzstd decodes into exactly the memory needed where the first frame says its size, as a stream otherwise.
func (s *setReader) unzstd(body []byte, limit int) ([]byte, error) {
	var header zstd.Header
	if err := header.Decode(body); err != nil {
		return nil, err
	}
	if !header.HasFCS {
		stream := s.streams.Get().(*zstd.Decoder)
		defer func() {
			if stream.Reset(nil) == nil { // release the body
				s.streams.Put(stream)
			}
		}()
		if err := stream.Reset(bytes.NewReader(body)); err != nil {
			return nil, err
		}
		return readLimited(stream, len(body), limit)
	}
	if header.FrameContentSize > uint64(limit) {
		return nil, overLimit(limit)
	}
	expanded, err := s.zstd.DecodeAll(body, nil)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || len(expanded) > limit {
		return nil, overLimit(limit)
	}
	return expanded, err
}

// xerialHeader begins a snappy body as the Java library frames it: magic, version and least compatible
// version, then blocks with their lengths in front. Other producers send one bare block.
var xerialHeader = []byte("\x82SNAPPY\x00")

const xerialHeaderBytes = 16

func unsnappy(body []byte, limit int) ([]byte, error) {
	if !bytes.HasPrefix(body, xerialHeader) || len(body) < xerialHeaderBytes {
		return unsnappyBlock(nil, body, limit)
	}
	var expanded []byte
	for rest := body[xerialHeaderBytes:]; len(rest) > 0; {
		if len(rest) < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		size := int64(binary.BigEndian.Uint32(rest))
		rest = rest[4:]
		if size > int64(len(rest)) {
			return nil, io.ErrUnexpectedEOF
		}
		var err error
		if expanded, err = unsnappyBlock(expanded, rest[:size], limit); err != nil {
			return nil, err
		}
		rest = rest[size:]
	}
	return expanded, nil
}

// unsnappyBlock appends a block, whose first field is its expanded length.
func unsnappyBlock(to, block []byte, limit int) ([]byte, error) {
	n, err := snappy.DecodedLen(block)
	if err != nil {
		return nil, err
	}
	if n > limit-len(to) {
		return nil, overLimit(limit)
	}
	expanded, err := snappy.Decode(nil, block)
	if len(to) == 0 {
		return expanded, err
	}
	return append(to, expanded...), err
}
