package kafka

import (
	"fmt"
	"strings"
)

// Idempotence says whether the batches of writers are numbered, so that brokers can recognise repeats and earlier
// owners.
type Idempotence uint8

// The choices.
const (
	IdempotenceAuto Idempotence = iota // as far as brokers and rights allow
	IdempotenceOff
)

var idempotences = []string{"auto", "off"}

func idempotenceNames() string { return strings.Join(idempotences, ", ") }

func (i Idempotence) valid() bool { return int(i) < len(idempotences) }

// String returns the word used in the configuration.
func (i Idempotence) String() string {
	if !i.valid() {
		return fmt.Sprintf("idempotence(%d)", uint8(i))
	}
	return idempotences[i]
}

// ParseIdempotence returns the choice of that name; the empty name is auto.
func ParseIdempotence(name string) (Idempotence, error) {
	for i, known := range idempotences {
		if name == known || name == "" {
			return Idempotence(i), nil
		}
	}
	return 0, fmt.Errorf("idempotence %q is not one of %s", name, idempotenceNames())
}

// MarshalText implements encoding.TextMarshaler.
func (i Idempotence) MarshalText() ([]byte, error) {
	if !i.valid() {
		return nil, fmt.Errorf("idempotence %d is not one of %s", uint8(i), idempotenceNames())
	}
	return []byte(i.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (i *Idempotence) UnmarshalText(text []byte) (err error) {
	*i, err = ParseIdempotence(string(text))
	return err
}
