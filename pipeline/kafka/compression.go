package kafka

import (
	"slices"

	kafkago "github.com/segmentio/kafka-go"
)

// Compression is the codec of produced batches.
type Compression string

// The codecs.
const (
	CompressionNone   Compression = "none"
	CompressionGzip   Compression = "gzip"
	CompressionSnappy Compression = "snappy"
	CompressionLZ4    Compression = "lz4"
	CompressionZstd   Compression = "zstd"
)

// compressions are the codecs by their numbers in the protocol.
var compressions = []Compression{CompressionNone, CompressionGzip, CompressionSnappy, CompressionLZ4, CompressionZstd}

// number is the codec's number in the protocol; -1 for an unknown codec.
func (c Compression) number() int { return slices.Index(compressions, c) }

func (c Compression) codec() kafkago.Compression { return kafkago.Compression(c.number()) }

// compressionOf is the codec with a number; empty for an unknown number.
func compressionOf(number uint16) Compression {
	if int(number) >= len(compressions) {
		return ""
	}
	return compressions[number]
}

// Idempotence selects whether the batches of writers are numbered, so that brokers can recognise
// repetitions and earlier owners.
type Idempotence string

// The choices.
const (
	IdempotenceAuto Idempotence = "auto" // as far as brokers and rights allow
	IdempotenceOff  Idempotence = "off"
)

var idempotences = []Idempotence{IdempotenceAuto, IdempotenceOff}
