package arrowio

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// codecs decompresses into memory of a known size. The claims of a frame about itself are ignored:
// more output than fits is an error.
type codecs struct{ zstd *zstd.Decoder }

// decompress fills dst from one frame; less or more output than dst holds is an error.
func (c *codecs) decompress(kind codec, dst, src []byte) error {
	if kind == codecLZ4 {
		return lz4Frame(dst, src)
	}
	if c.zstd == nil {
		dec, err := zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1), // no goroutines
			zstd.WithDecoderLowmem(true),
			zstd.WithDecodeAllCapLimit(true), // never beyond dst
		)
		if err != nil {
			return corrupt("zstd: %v", err)
		}
		c.zstd = dec
	}
	out, err := c.zstd.DecodeAll(src, dst[:0:len(dst)])
	if err != nil {
		return corrupt("zstd: %v", err)
	}
	if len(out) != len(dst) {
		return corrupt("zstd: %d bytes, %d claimed", len(out), len(dst))
	}
	return nil
}

// The parts of an LZ4 frame, named as in its format description:
// https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md
const (
	lz4Magic           = 0x184d2204
	lz4Version         = 1 << 6
	lz4VersionMask     = 3 << 6
	lz4BlocksAlone     = 1 << 5 // blocks do not refer to earlier ones
	lz4BlockChecksum   = 1 << 4
	lz4ContentSize     = 1 << 3
	lz4ContentChecksum = 1 << 2
	lz4Dictionary      = 1
	lz4BlockRaw        = 1 << 31
	lz4History         = 64 << 10
)

// lz4Frame decodes one LZ4 frame straight into dst. The library's own reader would buffer blocks of
// up to 8 MiB if the frame asks for it. Checksums are ignored: Kafka's own covers the message.
func lz4Frame(dst, src []byte) error {
	flags, src, err := lz4Header(src)
	if err != nil {
		return err
	}
	done := 0
	for {
		if len(src) < 4 {
			return corrupt("lz4: frame ends within a block header")
		}
		head := binary.LittleEndian.Uint32(src)
		src = src[4:]
		if head == 0 {
			break
		}
		size := int(head &^ lz4BlockRaw)
		if size > len(src) {
			return corrupt("lz4: block of %d bytes, %d left", size, len(src))
		}
		n, err := lz4Block(dst, done, src[:size], head&lz4BlockRaw != 0, flags)
		if err != nil {
			return err
		}
		done, src = done+n, src[size:]
		if flags&lz4BlockChecksum != 0 {
			src = src[min(4, len(src)):]
		}
	}
	if done != len(dst) {
		return corrupt("lz4: %d bytes, %d claimed", done, len(dst))
	}
	return nil
}

// lz4Header checks a frame's header and returns its flags and the rest of the frame.
func lz4Header(src []byte) (flags byte, rest []byte, err error) {
	const fixed = 4 + 1 + 1 + 1 // magic, flags, block size, header checksum
	if len(src) < fixed || binary.LittleEndian.Uint32(src) != lz4Magic {
		return 0, nil, corrupt("lz4: no frame")
	}
	flags = src[4]
	if flags&lz4VersionMask != lz4Version || flags&lz4Dictionary != 0 {
		return 0, nil, corrupt("lz4: frame of unknown kind %#x", flags)
	}
	size := fixed
	if flags&lz4ContentSize != 0 {
		size += 8
	}
	if len(src) < size {
		return 0, nil, corrupt("lz4: frame ends within its header")
	}
	return flags, src[size:], nil
}

// lz4Block decodes one block to dst, after the done bytes already there.
func lz4Block(dst []byte, done int, block []byte, raw bool, flags byte) (int, error) {
	out := dst[done:]
	if raw {
		if len(block) > len(out) {
			return 0, corrupt("lz4: more than the %d bytes claimed", len(dst))
		}
		return copy(out, block), nil
	}
	var history []byte
	if flags&lz4BlocksAlone == 0 {
		history = dst[max(0, done-lz4History):done]
	}
	n, err := lz4.UncompressBlockWithDict(block, out, history)
	if err != nil {
		return 0, corrupt("lz4: %v", err)
	}
	return n, nil
}
