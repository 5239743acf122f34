package kafka

import (
	"fmt"
	"strings"

	kafkago "github.com/segmentio/kafka-go"
)

// Compression is the codec of produced batches; the numbers are those of the protocol.
type Compression uint8

// The codecs.
const (
	CompressionNone Compression = iota
	CompressionGzip
	CompressionSnappy
	CompressionLZ4
	CompressionZstd
)

var compressions = []string{"none", "gzip", "snappy", "lz4", "zstd"}

func compressionNames() string { return strings.Join(compressions, ", ") }

func (c Compression) valid() bool { return int(c) < len(compressions) }

// String is the name of the codec.
func (c Compression) String() string {
	if !c.valid() {
		return fmt.Sprintf("compression(%d)", uint8(c))
	}
	return compressions[c]
}

// ParseCompression returns the codec of that name; the empty name is none.
func ParseCompression(name string) (Compression, error) {
	for i, known := range compressions {
		if name == known || name == "" {
			return Compression(i), nil
		}
	}
	return 0, fmt.Errorf("compression %q is not one of %s", name, compressionNames())
}

// MarshalText implements encoding.TextMarshaler.
func (c Compression) MarshalText() ([]byte, error) {
	if !c.valid() {
		return nil, fmt.Errorf("compression %d is not one of %s", uint8(c), compressionNames())
	}
	return []byte(c.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Compression) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCompression(string(text))
	return err
}

func (c Compression) codec() kafkago.Compression { return kafkago.Compression(c) }
