package formats

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// container is the state kept between object container files.
type container struct {
	text string // of the last schema
	plan *avroPlan
	zstd *zstd.Decoder
	out  []byte // of decompressed blocks, reused
}

const (
	syncBytes = 16
	// schemaCost is what parsing charges for each byte of a schema.
	schemaCost = 64
	// windowBytes is the largest zstd window that is accepted. It is charged once.
	windowBytes = 8 << 20
)

// readContainer reads an object container file.
func (r *avroReader) readContainer(t *table, value []byte) error {
	r.table, r.rest, r.steps = t, value[len(containerMagic):], int64(len(value))+extraSteps
	defer r.end()
	text, codec, err := r.header()
	if err != nil {
		return err
	}
	if len(text) > maxSchemaBytes {
		return wrap(ErrBadSchema, "%d bytes, at most %d", len(text), maxSchemaBytes)
	}
	if err := t.budget.take(schemaCost * int64(len(text))); err != nil {
		return err
	}
	if codec == "zstandard" {
		if err := t.budget.take(windowBytes); err != nil {
			return err
		}
	}
	if r.container.plan != nil && r.container.text == string(text) {
		if err := t.budget.take(r.container.plan.cost); err != nil { // even if an earlier message has paid
			return err
		}
	} else {
		plan, err := r.compile(&t.budget, &Schema{Format: Avro, Text: string(text)})
		if err != nil {
			return err
		}
		if plan.root.kind != avroRecord {
			return wrap(ErrBadSchema, "a container of arrays")
		}
		r.container.text, r.container.plan = string(text), plan
	}
	if err := t.bind(r.container.plan, r.container.plan.columns); err != nil {
		return err
	}
	return r.blocks(codec)
}

// header reads the metadata of a container.
func (r *avroReader) header() (schema []byte, codec string, err error) {
	codec = "null"
	err = r.items(func() error {
		key, err := r.sized()
		if err != nil {
			return err
		}
		value, err := r.sized()
		switch string(key) {
		case "avro.schema":
			schema = value
		case "avro.codec":
			codec = string(value[:min(len(value), maxName)])
		}
		return err
	})
	if err == nil && schema == nil {
		err = wrap(ErrAvro, "a container without a schema")
	}
	return schema, codec, err
}

// sized reads bytes that follow their length.
func (r *avroReader) sized() ([]byte, error) {
	n, err := r.long()
	if err != nil {
		return nil, err
	}
	return r.take(n)
}

// blocks reads the rows of a container, after its header.
func (r *avroReader) blocks(codec string) error {
	mark, err := r.take(syncBytes)
	if err != nil {
		return err
	}
	for len(r.rest) > 0 {
		rows, err := r.long()
		if err != nil {
			return err
		}
		packed, err := r.sized()
		if err != nil {
			return err
		}
		end, err := r.take(syncBytes)
		if err != nil {
			return err
		}
		if !bytes.Equal(mark, end) {
			return wrap(ErrAvro, "a block that does not end with the container's mark")
		}
		if err := r.block(codec, packed, rows); err != nil {
			return err
		}
	}
	return nil
}

// block reads the rows of one block.
func (r *avroReader) block(codec string, packed []byte, rows int64) error {
	if rows < 0 {
		return wrap(ErrAvro, "a block of %d rows", rows)
	}
	plain, err := r.unpack(codec, packed)
	if err != nil {
		return err
	}
	rest := r.rest
	r.rest = plain
	for range rows {
		if err := r.row(r.container.plan, r.container.plan.root); err != nil {
			return err
		}
	}
	if len(r.rest) > 0 {
		return wrap(ErrAvro, "%d bytes behind the rows of a block", len(r.rest))
	}
	r.rest = rest
	return nil
}

// unpack decompresses a block.
func (r *avroReader) unpack(codec string, packed []byte) ([]byte, error) {
	switch codec {
	case "null":
		return packed, nil
	case "deflate":
		return r.drain(flate.NewReader(bytes.NewReader(packed)))
	case "snappy":
		return r.unsnap(packed)
	case "zstandard":
		if r.container.zstd == nil {
			var err error
			if r.container.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(windowBytes)); err != nil {
				return nil, wrap(ErrAvro, "zstandard: %v", err)
			}
		}
		if err := r.container.zstd.Reset(bytes.NewReader(packed)); err != nil {
			return nil, wrap(ErrAvro, "zstandard: %v", err)
		}
		return r.drain(r.container.zstd)
	}
	return nil, wrap(ErrAvro, "compressed by %s, which is none of null, deflate, snappy, zstandard", quote(codec))
}

// drain reads a stream to its end within the budget.
func (r *avroReader) drain(from io.Reader) ([]byte, error) {
	const step = 4 << 10
	out, charged := r.container.out[:0], room(0)
	for {
		var err error
		if out, err = grow(&r.table.budget, &charged, out, step, 1); err != nil {
			return nil, err
		}
		n, err := from.Read(out[len(out) : len(out)+step])
		out = out[:len(out)+n]
		if errors.Is(err, io.EOF) {
			r.container.out = emptied(out)
			return out, nil
		}
		if err != nil {
			return nil, wrap(ErrAvro, "a compressed block: %v", err)
		}
	}
}

// unsnap decompresses a snappy block, which ends with a checksum.
func (r *avroReader) unsnap(packed []byte) ([]byte, error) {
	if len(packed) < crc32.Size {
		return nil, wrap(ErrAvro, "a block of snappy of %d bytes", len(packed))
	}
	body, sum := packed[:len(packed)-crc32.Size], packed[len(packed)-crc32.Size:]
	n, err := snappy.DecodedLen(body)
	if err != nil {
		return nil, wrap(ErrAvro, "a block of snappy: %v", err)
	}
	if err := r.table.budget.take(int64(n)); err != nil {
		return nil, err
	}
	out, err := snappy.Decode(r.container.out[:cap(r.container.out)], body)
	if err != nil {
		return nil, wrap(ErrAvro, "a block of snappy: %v", err)
	}
	if crc32.ChecksumIEEE(out) != binary.BigEndian.Uint32(sum) {
		return nil, wrap(ErrAvro, "a block of snappy whose checksum is another")
	}
	r.container.out = emptied(out)
	return out, nil
}
